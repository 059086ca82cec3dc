package groupevents

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

// A run of work may last longer than until the next change that calls for the same work, which
// then begins at its beginning.
func TestWork_OfALaterChange_OutlivesEarlierRun(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	documents, err := memorystore.Open(Queries)
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	s := &Service{
		Store: documents, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		NewID: func(prefix string) string { made++; return fmt.Sprint(prefix, made) },
	}
	s.Outbox = &outbox.Outbox{Store: documents, Now: s.Now, Log: s.Log}
	write := func(w poll.GroupWork) {
		if err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return w.Record(tx) }); err != nil {
			t.Fatal(err)
		}
	}
	later := poll.SessionsWork("party", s.NewID("wrk"), "", now)
	kind := s.Work()
	kind.Handle = func(ctx context.Context, item outbox.Item) outbox.Result {
		if same, err := s.advance(ctx, item, "page 2"); err != nil || !same {
			t.Errorf("progress of the only change is not kept: %v", err)
		}
		later = poll.SessionsWork("party", s.NewID("wrk"), "", now)
		write(later)
		if same, err := s.advance(ctx, item, "page 3"); err != nil || same {
			t.Errorf("the run goes on with the work of an earlier change: %v", err)
		}
		return outbox.Done()
	}
	s.Outbox.Add(kind)
	write(later)
	if _, err := s.Outbox.Run(t.Context(), poll.GroupWorkKind, later.ID); err != nil {
		t.Fatal(err)
	}
	doc, err := documents.Get(t.Context(), poll.GroupWorkPath(later.ID))
	if left := poll.DecodeGroupWork(doc); err != nil || left.Ref != later.Ref || !left.Due.Equal(later.Due) || left.At != "" {
		t.Errorf("left is %+v, %v; want %+v", left, err, later)
	}
}
