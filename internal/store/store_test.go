package store_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

func TestPath_Parts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		path           store.Path
		id, collection string
		parent         store.Path
	}{
		{store.Doc("schedulers", "7f"), "7f", "schedulers", ""},
		{store.Doc("schedulers", "7f").Doc("slots", "s-1"), "s-1", "slots", "schedulers/7f"},
		{store.Doc("a", "b", "c", "d", "e", "f"), "f", "e", "a/b/c/d"},
	} {
		if row.path.ID() != row.id || row.path.Collection() != row.collection || row.path.Parent() != row.parent {
			t.Errorf("%s has id %q, collection %q, parent %q", row.path, row.path.ID(), row.path.Collection(), row.path.Parent())
		}
		if err := row.path.Valid(); err != nil {
			t.Errorf("%s: %v", row.path, err)
		}
	}
}

func TestPath_Below(t *testing.T) {
	t.Parallel()
	for path, below := range map[store.Path]bool{
		"polls/a/slots/1": true, "polls/a/slots/1/votes/v": true,
		"polls/a": false, "polls/a-b/slots/1": false, "polls/aa": false, "polls": false,
	} {
		if got := path.Below("polls/a"); got != below {
			t.Errorf("%s is below polls/a: %t", path, got)
		}
	}
}

func TestFieldPath_Lookup(t *testing.T) {
	t.Parallel()
	data := map[string]any{"a": map[string]any{"b.c": 1, "null": nil}, "l": []any{1}}
	for _, row := range []struct {
		path  store.FieldPath
		value any
		there bool
	}{
		{store.Field("a", "b.c"), 1, true},
		{store.Field("a", "null"), nil, true},
		{store.Field("a", "absent"), nil, false},
		{store.Field("a.b", "c"), nil, false},
		{store.Field("l", "0"), nil, false},
		{store.Field("a", "null", "deeper"), nil, false},
		{store.Field(), nil, false},
	} {
		value, there := row.path.Lookup(data)
		if there != row.there || (there && value != row.value) {
			t.Errorf("%s is %v, %t", row.path, value, there)
		}
	}
}

func TestNormalize_GivesTheStoredTypesInACopy(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 3600)
	given := map[string]any{"n": 1, "list": []string{"a"}, "at": time.Date(2026, 1, 1, 1, 0, 0, 1999, zone)}
	got, err := store.Normalize(given)
	want := map[string]any{"n": int64(1), "list": []any{"a"}, "at": time.Date(2026, 1, 1, 0, 0, 0, 1000, time.UTC)}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, %v", got, err)
	}
	given["list"].([]string)[0] = "b"
	if got["list"].([]any)[0] != "a" {
		t.Fatal("the list is shared")
	}
}

func TestApplyUpdates_OrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	updates := []store.Update{
		{Path: store.Field("a", "b"), Value: 1},
		{Path: store.Field("a", "c"), Value: store.Delete},
		{Path: store.Field("d"), Value: map[string]any{"e": 2}},
	}
	if err := store.CheckUpdates(updates); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"a": map[string]any{"b": int64(1)}, "d": map[string]any{"e": int64(2)}, "kept": true}
	for range updates {
		updates = append(updates[1:], updates[0])
		data := map[string]any{"a": map[string]any{"c": 1}, "kept": true}
		if err := store.ApplyUpdates(data, updates); err != nil || !reflect.DeepEqual(data, want) {
			t.Errorf("got %v, %v", data, err)
		}
	}
}

func TestApplyUpdates_ShallowCopy_LeavesOriginalUnchanged(t *testing.T) {
	t.Parallel()
	original := func() map[string]any {
		return map[string]any{"a": map[string]any{"b": map[string]any{"c": int64(1), "d": int64(2)}}, "kept": true}
	}
	given := original()
	data := maps.Clone(given)
	err := store.ApplyUpdates(data, []store.Update{
		{Path: store.Field("a", "b", "c"), Value: 3},
		{Path: store.Field("a", "b", "d"), Value: store.Delete},
		{Path: store.Field("a", "e", "f"), Value: 4},
	})
	want := map[string]any{"a": map[string]any{"b": map[string]any{"c": int64(3)}, "e": map[string]any{"f": int64(4)}}, "kept": true}
	if err != nil || !reflect.DeepEqual(data, want) {
		t.Errorf("got %v, %v", data, err)
	}
	if !reflect.DeepEqual(given, original()) {
		t.Errorf("what was copied became %v", given)
	}
}

func TestApplyUpdates_BadValue_IsRefused(t *testing.T) {
	t.Parallel()
	err := store.ApplyUpdates(map[string]any{}, []store.Update{{Path: store.Field("a"), Value: struct{}{}}})
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("got %v", err)
	}
}

func TestCheckSize_IsFirestoresCount(t *testing.T) {
	t.Parallel()
	// Firestore's documentation counts this example: 147 bytes.
	task := map[string]any{"type": "Personal", "done": false, "priority": int64(1), "description": "Learn Cloud Firestore"}
	const example, path = 147, store.Path("users/jeff/tasks/my_task_id")
	fill := func(bytes int) map[string]any {
		data := maps.Clone(task)
		data["x"] = strings.Repeat("x", bytes-len("x")-1-1)
		return data
	}
	if err := store.CheckSize(path, fill(store.MaxDocument-example)); err != nil {
		t.Errorf("a document of just the size: %v", err)
	}
	if err := store.CheckSize(path, fill(store.MaxDocument-example+1)); !fault.Is(err, fault.TooLarge) {
		t.Errorf("a document of a byte more: %v", err)
	}
	if err := store.CheckSize(path, nil); err != nil {
		t.Errorf("no document: %v", err)
	}
}

func TestBound_IsAValue(t *testing.T) {
	t.Parallel()
	query := &store.Query{Name: "q", Collection: "notes", Order: []store.Order{{Path: store.Field("at")}}}
	base := query.With().Below("books/b")
	page := base.First(5).From(query.CursorAt(store.Document{Path: "books/b/notes/n", Data: map[string]any{"at": int64(1)}}))
	if base.Limit != 0 || base.After != nil {
		t.Error("a binding was changed by the next")
	}
	if page.Limit != 5 || page.Parent != "books/b" || !slices.Equal(page.After.Values, []any{int64(1)}) {
		t.Errorf("got %+v", page)
	}
}
