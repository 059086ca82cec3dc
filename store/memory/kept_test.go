package memory_test

import (
	"context"
	"reflect"
	"testing"

	"questscheduler/fault"
	"questscheduler/store"
	"questscheduler/store/memory"
)

func TestKept_ReadsWhatTheStoreReads(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	all := &store.Query{Name: "all", Collection: "notes"}
	s, err := memory.Open([]*store.Query{all})
	if err != nil {
		t.Fatal(err)
	}
	write := func(n int) {
		t.Helper()
		err := s.Run(ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Merge("notes/a", store.Update{Path: store.Field("m", "n"), Value: n})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(1)
	before, err := memory.Kept{Store: s}.Get(ctx, "notes/a")
	if err != nil {
		t.Fatal(err)
	}
	write(2)
	if want := map[string]any{"m": map[string]any{"n": int64(1)}}; !reflect.DeepEqual(before.Data, want) {
		t.Errorf("what was read became %v by a later write", before.Data)
	}
	for name, read := range map[string]func(store.Reader) ([]store.Document, error){
		"documents": func(r store.Reader) ([]store.Document, error) {
			return r.GetAll(ctx, []store.Path{"notes/a", "notes/none"})
		},
		"a query":    func(r store.Reader) ([]store.Document, error) { return r.Query(ctx, all.With()) },
		"a bad path": func(r store.Reader) ([]store.Document, error) { return r.GetAll(ctx, []store.Path{"notes"}) },
	} {
		want, wantErr := read(s)
		got, err := read(memory.Kept{Store: s})
		if !reflect.DeepEqual(got, want) || fault.KindOf(err) != fault.KindOf(wantErr) {
			t.Errorf("%s: got %v, %v, and the store gives %v, %v", name, got, err, want, wantErr)
		}
	}
}
