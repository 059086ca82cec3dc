package groupevents

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

// A run of work may last longer than until the next change that calls for the same work.
func TestWork_OfALaterChange_OutlivesEarlierRun(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(ctx context.Context, s *Service, w work) error{
		"done":   func(ctx context.Context, s *Service, w work) error { return s.finish(ctx, w, nil) },
		"failed": func(ctx context.Context, s *Service, w work) error { return s.finish(ctx, w, errors.New("refused")) },
		"under way": func(ctx context.Context, s *Service, w work) error {
			same, err := s.advance(ctx, &w, "a later event")
			if same {
				return errors.New("the run goes on with the work of an earlier change")
			}
			return err
		},
	} {
		for _, byPlanning := range []bool{false, true} {
			t.Run(fmt.Sprint(name, byPlanning), func(t *testing.T) {
				t.Parallel()
				workOfALaterChange(t, end, byPlanning)
			})
		}
	}
}

// workOfALaterChange has work recorded during a run of it, by the change of a connection or by
// planning.
func workOfALaterChange(t *testing.T, end func(ctx context.Context, s *Service, w work) error, byPlanning bool) {
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
	write := func(w work) {
		if err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			if byPlanning {
				return tx.Merge(poll.GroupWorkPath(w.ID), poll.MemberWorkUpdates(w.GroupID, w.OwnerID, w.Ref, w.Trace, now)...)
			}
			return record(tx, w)
		}); err != nil {
			t.Fatal(err)
		}
	}
	write(s.memberWork("party", "ana", ""))
	run, ok, err := s.take(t.Context(), s.memberWork("party", "ana", "").ID)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if same, err := s.advance(t.Context(), &run, "an event"); err != nil || !same {
		t.Fatal(same, err)
	}
	later := s.memberWork("party", "ana", "")
	write(later)
	if err := end(t.Context(), s, run); err != nil {
		t.Error(err)
	}
	doc, err := documents.Get(t.Context(), poll.GroupWorkPath(later.ID))
	if left := decodeWork(doc); err != nil || left != later {
		t.Errorf("left is %+v, %v; want %+v", left, err, later)
	}
	if err := s.finish(t.Context(), later, nil); err != nil {
		t.Fatal(err)
	}
	if doc, err := documents.Get(t.Context(), poll.GroupWorkPath(later.ID)); err != nil || doc.Exists() {
		t.Errorf("work that is done stays: %v", err)
	}
}
