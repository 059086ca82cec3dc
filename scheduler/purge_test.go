package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
)

// readings counts how often transactions read each document below a poll, and of how many in one.
type readings struct {
	store.Store
	of   map[store.Path]int
	most int
}

func (r *readings) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return r.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		counted := &readingsTx{Tx: tx, to: r}
		err := fn(ctx, counted)
		r.most = max(r.most, counted.documents)
		return err
	})
}

type readingsTx struct {
	store.Tx
	to        *readings
	documents int
}

func (tx *readingsTx) Query(ctx context.Context, asked store.Bound) ([]store.Document, error) {
	docs, err := tx.Tx.Query(ctx, asked)
	for _, doc := range docs {
		tx.to.of[doc.Path]++
	}
	tx.documents += len(docs)
	return docs, err
}

// A creator deleted the poll's document alone, above more slots and votes than a transaction should
// read, and made another poll of its id.
func TestPurge_RecreatedPollWithManySlots_ReadsEachOnce(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	cancelIt.do(w, s)
	w.Run(20 * time.Minute)
	fill := func(count int, name func(i int) store.Path, data func(i int) map[string]any) {
		t.Helper()
		for first := 0; first < count; first += 100 {
			if err := w.Documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
				for i := first; i < first+100; i++ {
					if err := tx.Create(name(i), data(i)); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	slot := func(int) map[string]any {
		return poll.EncodeSlot(poll.Slot{Start: worldtest.Ten.Start, End: worldtest.Ten.End})
	}
	vote := func(of string) func(i int) map[string]any {
		return func(i int) map[string]any {
			return map[string]any{"voterId": fmt.Sprint(i), "votes": map[string]any{fmt.Sprintf("%s-%d", of, i): poll.Feasible}}
		}
	}
	named := func(collection, of string) func(i int) store.Path {
		return func(i int) store.Path { return poll.Path(s.poll).Doc(collection, fmt.Sprintf("%s-%d", of, i)) }
	}
	fill(1500, named("slots", "old"), slot)
	fill(300, named("votes", "by"), vote("old"))
	fill(100, named("votes", "over"), vote("own")) // as if each were cast anew
	w.Remove(poll.Path(s.poll))
	own := w.Recreate(s.poll, "gm")
	fill(300, named("slots", "own"), slot)

	counted := &readings{Store: w.Scheduler.Store, of: map[store.Path]int{}}
	w.Scheduler.Store = counted
	if _, err := w.Scheduler.Reconcile(t.Context(), s.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	if left := len(w.Below(s.poll)); left < 1000 || len(w.Intents()) != 1 {
		t.Errorf("a command's purge leaves %d documents and %d intents to the outbox", left, len(w.Intents()))
	}
	w.Run(20 * time.Minute)
	equal(t, "documents left: slots, votes, and what the outbox journaled", len(w.Below(s.poll)), 300+len(own)+100)
	equal(t, "intents", len(w.Intents()), 0)
	for path, times := range counted.of {
		if times > 4 { // the command's purge and the outbox's each begin, and two readers ask for the first ones
			t.Errorf("%s is read %d times", path, times)
		}
	}
	if counted.most > 250 {
		t.Errorf("a transaction reads %d documents", counted.most)
	}
	w.Check()
}
