package points_test

import (
	"context"
	"fmt"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/points"
)

// said is a test that notes what it is told.
type said struct{ logged, failed string }

func (s *said) Helper()                           {}
func (s *said) Name() string                      { return "TestFlow" }
func (s *said) Logf(format string, args ...any)   { s.logged += fmt.Sprintf(format, args...) }
func (s *said) Errorf(format string, args ...any) { s.failed += fmt.Sprintf(format, args...) }

func TestStruck_FewerThanLeast_Fails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n     int
		fails string
	}{{24, "only 24 points were struck, want 25 at least"}, {25, ""}, {26, ""}} {
		s := &said{}
		points.Struck(s, c.n, 25)
		if want := fmt.Sprintf("points:   %d  TestFlow", c.n); s.logged != want || s.failed != c.fails {
			t.Errorf("%d points: logged %q and failed %q, want %q and %q", c.n, s.logged, s.failed, want, c.fails)
		}
	}
}

func TestNoneUnread_CallThatHidesAFailure_Fails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		hides bool
		least int
		fails string
	}{
		{"says", false, 2, ""},
		{"hides the second", true, 2, "its read 2 failed, and the call gave <nil>"},
		{"reads too little", false, 3, "after 2 failing reads, want 3 at least, the call gave <nil>"},
	} {
		documents, err := memorystore.Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		p, s := &points.Points{}, &said{}
		reads := &points.Reads{Store: documents, Points: p}
		p.NoneUnread(s, c.least, func() error {
			if _, err := reads.Get(t.Context(), "one/a"); err != nil {
				return err
			}
			err := reads.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
				_, err := tx.GetAll(ctx, []store.Path{"one/b"})
				return err
			})
			if c.hides {
				return nil
			}
			return err
		})
		if s.failed != c.fails {
			t.Errorf("%s: failed %q, want %q", c.name, s.failed, c.fails)
		}
	}
}
