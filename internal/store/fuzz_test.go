package store_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// FuzzPath: a path that is valid is made of its own parts, and no path makes
// any of them fail.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"", "/", "a", "a/b", "a/b/c", "a/b/c/d", "a//b", "a/..", "a/__b__", "a/\xff", "schedulers/7f/slots/s-1", "a/b/",
		strings.Repeat("a/b/", 1000) + "a/b",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := store.Path(text)
		parent, collection, id := path.Parent(), path.Collection(), path.ID()
		if err := path.Valid(); err != nil {
			if !fault.Is(err, fault.Invalid) || len(text) > 3 && strings.Contains(err.Error(), text) {
				t.Fatalf("%q is refused with %v", text, err)
			}
			return
		}
		made := store.Doc(collection, id)
		if parent != "" {
			made = parent.Doc(collection, id)
			if err := parent.Valid(); err != nil || !path.Below(parent) {
				t.Fatalf("%q is valid, its parent %q is not: %v", path, parent, err)
			}
		}
		if made != path {
			t.Fatalf("%q is taken apart and put together as %q", path, made)
		}
		if below := path.Doc("c", "d"); below.Parent() != path || !below.Below(path) || path.Below(below) {
			t.Fatalf("%q does not lie below %q alone", below, path)
		}
	})
}

// FuzzNormalize: what is taken is in the stored types, stays as it is when it is
// normalised again, and shares nothing with what was given; an update of any
// field of it gives that field and leaves the others.
func FuzzNormalize(f *testing.F) {
	f.Add(`{"a":1,"b":[1,{"c":null}],"d":{"e":"x"}}`, "d", "e")
	f.Add(`{"__a__":1}`, "a", "b")
	f.Add(`{"":1}`, "", "b")
	f.Add(`{"a":[[1]]}`, "a", "b")
	f.Add("{\"a\":\"\\ud800\"}", "a.b", "a-b")
	f.Fuzz(func(t *testing.T, text, first, second string) {
		var given map[string]any
		if json.Unmarshal([]byte(text), &given) != nil {
			return
		}
		data, err := store.Normalize(given)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		twice, err := store.Normalize(data)
		if err != nil || !reflect.DeepEqual(twice, data) {
			t.Fatalf("%v is normalised again as %v, %v", data, twice, err)
		}
		update := store.Update{Path: store.Field(first, second), Value: time.Unix(1, 1)}
		other := store.Update{Path: store.Field(first), Value: 1}
		if store.CheckUpdates([]store.Update{update, other}) == nil {
			t.Fatal("two updates of which one lies below the other are taken")
		}
		if store.CheckUpdates([]store.Update{update}) != nil {
			return
		}
		if err := store.ApplyUpdates(data, []store.Update{update}); err != nil {
			t.Fatal(err)
		}
		if value, ok := update.Path.Lookup(data); !ok || value != store.Instant(time.Unix(1, 1)) {
			t.Fatalf("%v was written and %v is there", update.Value, value)
		}
		for name, value := range twice {
			if name != first && !reflect.DeepEqual(data[name], value) {
				t.Fatalf("writing %s changed %s", update.Path, name)
			}
		}
		if err := store.ApplyUpdates(data, []store.Update{{Path: update.Path, Value: store.Delete}}); err != nil {
			t.Fatal(err)
		}
		if _, ok := update.Path.Lookup(data); ok {
			t.Fatalf("%s was deleted and is there", update.Path)
		}
	})
}
