package storetest

import (
	"context"
	"fmt"
	"testing"

	"questscheduler/internal/store"
)

// Place is where a driver keeps what it acknowledged: a file, a server.
type Place interface {
	// Open opens the store on what the place holds, and closes it when the test
	// ends.
	Open(t *testing.T, queries []*store.Query) store.Store
	// Crash gives the place as it is found when the process that has it open
	// dies at this moment: nothing is closed, flushed or finished for it. The
	// store that is open goes on with the place of before.
	Crash(t *testing.T) Place
}

// RunDurable holds a driver that promises it to this: what was acknowledged
// survives the death of the process at once, whole, and nothing else does.
// place gives a new, empty place.
func RunDurable(t *testing.T, place func(t *testing.T) Place) {
	t.Helper()
	for _, p := range durability {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.check(t, place(t))
		})
	}
}

var durability = []struct {
	name  string
	check func(t *testing.T, place Place)
}{
	{"an acknowledged write survives the death of the process", checkAcknowledged},
	{"of a transaction that the process dies in, nothing is left", checkUnfinished},
	{"what many wrote at once is there when each has heard so", checkAcknowledgedTogether},
	{"what was closed is there when it is opened again", func(t *testing.T, place Place) {
		s := place.Open(t, declared)
		note(t, s, "n", map[string]any{"rank": 1})
		must(t, s.Close())
		again := place.Open(t, declared)
		wantIDs(t, again, byRank.With().Below(book), "n")
		note(t, again, "m", map[string]any{"rank": 0})
		wantIDs(t, again, byRank.With().Below(book), "m", "n")
	}},
}

// checkAcknowledged lets the process die after each of some writes.
func checkAcknowledged(t *testing.T, place Place) {
	s := place.Open(t, declared)
	at := book.Doc("notes", "n")
	for _, step := range []struct {
		name  string
		write func(store.Tx) error
		after map[string]any
	}{
		{"created", func(tx store.Tx) error { return tx.Create(at, map[string]any{"rank": 1, "m": map[string]any{"a": 1}}) },
			map[string]any{"rank": int64(1), "m": map[string]any{"a": int64(1)}}},
		{"updated", func(tx store.Tx) error { return tx.Update(at, field(2, "rank"), field(2, "m", "b")) },
			map[string]any{"rank": int64(2), "m": map[string]any{"a": int64(1), "b": int64(2)}}},
		{"set", func(tx store.Tx) error { return tx.Set(at, map[string]any{"rank": 3}) }, map[string]any{"rank": int64(3)}},
		{"merged", func(tx store.Tx) error { return tx.Merge(at, field(store.Delete, "rank"), field("k", "kind")) },
			map[string]any{"kind": "k"}},
		{"deleted", func(tx store.Tx) error { return tx.Delete(at) }, nil},
	} {
		run(t, s, step.write)
		found := place.Crash(t).Open(t, declared)
		if got := read(t, found, at); !same(got, step.after) {
			t.Fatalf("it was %s, and after the death of the process it holds %v, want %v", step.name, got, step.after)
		}
		var ranked, kinds []string
		if step.after["rank"] != nil {
			ranked = []string{"n"}
		}
		if step.after["kind"] != nil {
			kinds = []string{"n"}
		}
		wantIDs(t, found, byRank.With().Below(book), ranked...)
		wantIDs(t, found, ofKind.With("k").Below(book), kinds...)
	}
	note(t, s, "n", nil)
	must(t, s.DeleteTree(t.Context(), book))
	wantFields(t, place.Crash(t).Open(t, declared), at, nil)
}

func checkUnfinished(t *testing.T, place Place) {
	s := place.Open(t, declared)
	set(t, s, doc, map[string]any{"n": 1})
	must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		if err := tx.Update(doc, field(2, "n")); err != nil {
			return err
		}
		if err := tx.Create("books/two", nil); err != nil {
			return err
		}
		found := place.Crash(t).Open(t, declared)
		wantFields(t, found, doc, map[string]any{"n": int64(1)})
		wantFields(t, found, "books/two", nil)
		set(t, found, "books/three", nil) // and the store that is found goes on
		return nil
	}))
	found := place.Crash(t).Open(t, declared)
	wantFields(t, found, doc, map[string]any{"n": int64(2)})
	wantFields(t, found, "books/two", map[string]any{})
}

// checkAcknowledgedTogether lets the process die for each contender, while the
// others go on, right after its write was acknowledged.
func checkAcknowledgedTogether(t *testing.T, place Place) {
	s := place.Open(t, declared)
	contend(t, func(contender int) error {
		for round := range rounds {
			parent := store.Doc("books", fmt.Sprintf("%d-%d", contender, round))
			err := persist(t.Context(), s, func(_ context.Context, tx store.Tx) error {
				if err := tx.Set(parent, nil); err != nil {
					return err
				}
				return tx.Set(parent.Doc("notes", "n"), nil)
			})
			if err != nil {
				return err
			}
			got, err := place.Crash(t).Open(t, declared).GetAll(t.Context(), []store.Path{parent, parent.Doc("notes", "n")})
			if err != nil {
				return err
			}
			if !got[0].Exists() || !got[1].Exists() {
				return fmt.Errorf("after the death of the process %v is left of what was acknowledged", got)
			}
		}
		return nil
	})
}
