package memorystore_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
)

// contents has a value of every type.
func contents() map[string]any {
	return map[string]any{
		"nil": nil, "bool": true, "int": int64(1), "float": 1.5, "text": "a", "time": time.UnixMicro(1).UTC(),
		"list": []any{"a", "b", map[string]any{"in": int64(1)}}, "map": map[string]any{"a": "b", "b": "a", "c": map[string]any{}},
	}
}

func openShared(t *testing.T) *memorystore.Store {
	t.Helper()
	s, err := memorystore.OpenShared(nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, func(tx store.Tx) error { return tx.Create("notes/a", contents()) })
	return s
}

func write(t *testing.T, s store.Store, do func(store.Tx) error) {
	t.Helper()
	if err := s.Run(context.Background(), func(_ context.Context, tx store.Tx) error { return do(tx) }); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s store.Reader) map[string]any {
	t.Helper()
	doc, err := s.Get(context.Background(), "notes/a")
	if err != nil {
		t.Fatal(err)
	}
	return doc.Data
}

func TestShared_DataRead_IsUnchangedByLaterWrites(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	before := read(t, s)
	write(t, s, func(tx store.Tx) error {
		return tx.Update("notes/a", store.Update{Path: store.Field("map", "c", "d"), Value: 1}, store.Update{
			Path: store.Field("int"), Value: store.Delete,
		})
	})
	if !reflect.DeepEqual(before, contents()) {
		t.Errorf("what was read became %v", before)
	}
	write(t, s, func(tx store.Tx) error { return tx.Delete("notes/a") })
	write(t, s, func(tx store.Tx) error { return tx.Set("notes/a", contents()) })
	if touched := s.Changed(); len(touched) > 0 {
		t.Errorf("nobody changed what they read, and %v is said to be touched", touched)
	}
}

func TestShared_CallerChangesDataRead_IsDetected(t *testing.T) {
	t.Parallel()
	for name, touch := range map[string]func(map[string]any){
		"a field more":         func(data map[string]any) { data["new"] = nil },
		"a field less":         func(data map[string]any) { delete(data, "nil") },
		"another name":         func(data map[string]any) { data["none"] = data["nil"]; delete(data, "nil") },
		"no":                   func(data map[string]any) { data["bool"] = false },
		"another integer":      func(data map[string]any) { data["int"] = int64(-1) },
		"a double of its bits": func(data map[string]any) { data["int"] = 1.0 },
		"another double":       func(data map[string]any) { data["float"] = -1.5 },
		"another text":         func(data map[string]any) { data["text"] = "" },
		"another time":         func(data map[string]any) { data["time"] = time.UnixMicro(2).UTC() },
		"a list in reverse":    func(data map[string]any) { slices.Reverse(data["list"].([]any)) },
		"a map in a list":      func(data map[string]any) { data["list"].([]any)[2].(map[string]any)["in"] = int64(2) },
		"two that swap":        func(data map[string]any) { m := data["map"].(map[string]any); m["a"], m["b"] = m["b"], m["a"] },
		"a map deep down":      func(data map[string]any) { data["map"].(map[string]any)["c"].(map[string]any)["d"] = nil },
	} {
		for then, after := range map[string]func(store.Tx) error{
			"is written":    func(tx store.Tx) error { return tx.Set("notes/a", contents()) },
			"is deleted":    func(tx store.Tx) error { return tx.Delete("notes/a") },
			"is left alone": func(store.Tx) error { return nil },
		} {
			s := openShared(t)
			touch(read(t, s))
			write(t, s, after)
			if touched := s.Changed(); !slices.Equal(touched, []store.Path{"notes/a"}) {
				t.Errorf("%s, and then it %s: touched are %v", name, then, touched)
			}
		}
	}
}

func TestShared_InATransactionToo(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	err := storetest.Rerun(s).Run(context.Background(), func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, "notes/a")
		doc.Data["int"] = int64(2)
		return err
	})
	if touched := s.Changed(); err != nil || !slices.Equal(touched, []store.Path{"notes/a"}) {
		t.Errorf("touched are %v, %v", touched, err)
	}
}
