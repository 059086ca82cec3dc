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
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
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
			if err := documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return record(tx, w) }); err != nil {
				t.Fatal(err)
			}
		}
		write(s.sessionsWork("party", ""))
		run, ok, err := s.take(t.Context(), s.sessionsWork("party", "").ID)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		later := s.sessionsWork("party", "")
		write(later)
		if err := end(t.Context(), s, run); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		doc, err := documents.Get(t.Context(), poll.GroupWorkPath(later.ID))
		if left := decodeWork(doc); err != nil || left.Ref != later.Ref || !left.Due.Equal(later.Due) || left.At != "" {
			t.Errorf("%s: left is %+v, %v; want %+v", name, left, err, later)
		}
		if err := s.finish(t.Context(), later, nil); err != nil {
			t.Fatal(err)
		}
		if doc, err := documents.Get(t.Context(), poll.GroupWorkPath(later.ID)); err != nil || doc.Exists() {
			t.Errorf("%s: work that is done stays: %v", name, err)
		}
	}
}
