package points_test

import (
	"fmt"
	"testing"

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
