package calendarsync

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
)

// A channel whose answer was lost counts from its first push, which names what it is stopped by.
func TestConfirmByPush_OfAnUnansweredChannel_CountsIt(t *testing.T) {
	t.Parallel()
	week := 7 * 24 * time.Hour
	unanswered := func(watch Watch) Watch {
		watch.GrantedAt, watch.Reason = time.Time{}, fault.Unavailable.String()
		return watch
	}
	known := grant("a", Failed, time.Hour, week)
	known.ResourceID = "known"
	failed, asked := unanswered(grant("a", Failed, time.Hour, week)), unanswered(grant("a", Pending, time.Minute, week))
	soon, end := unanswered(grant("a", Failed, time.Second, week)), failed.Expiration
	for name, c := range map[string]struct {
		watch Watch
		push  Push
		ends  time.Time // zero: the push says nothing
	}{
		"one that was not answered":              {failed, Push{ResourceID: "r"}, end},
		"one whose answer is overdue":            {asked, Push{ResourceID: "r"}, asked.Expiration},
		"one that was refused just now":          {soon, Push{ResourceID: "r"}, soon.Expiration},
		"one that ends sooner":                   {failed, Push{ResourceID: "r", Expiration: end.Add(-time.Hour)}, end.Add(-time.Hour)},
		"one that is said to end later":          {failed, Push{ResourceID: "r", Expiration: end.Add(time.Hour)}, end},
		"one whose answer may come":              {unanswered(grant("a", Pending, 59*time.Second, week)), Push{ResourceID: "r"}, time.Time{}},
		"one that is known":                      {known, Push{ResourceID: "r"}, time.Time{}},
		"a push that does not name its resource": {failed, Push{}, time.Time{}},
	} {
		w, _ := keeping(t, true, c.watch)
		w.confirmByPush(t.Context(), c.watch, c.push)
		watches, err := Watches(t.Context(), w.Store, "gm", "c")
		if err != nil {
			t.Fatal(err)
		}
		got := watches[0]
		if c.ends.IsZero() {
			if got.Status != c.watch.Status || got.ResourceID != c.watch.ResourceID {
				t.Errorf("%s: it is %s with the resource %q", name, got.Status, got.ResourceID)
			}
			continue
		}
		if got.Status != Active || got.ResourceID != "r" || got.Reason != "" || !got.GrantedAt.Equal(c.watch.CreatedAt) {
			t.Errorf("%s: it is %+v", name, got)
		}
		if !got.Expiration.Equal(c.ends) || !got.NextTry.Equal(c.ends.Add(-48*time.Hour)) {
			t.Errorf("%s: it ends at %v and is renewed at %v, want %v", name, got.Expiration, got.NextTry, c.ends)
		}
	}
}

// A push that cannot be recorded is logged, and is no failure: the next one confirms the channel.
func TestConfirmByPush_ThatCannotBeRecorded_IsLogged(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 1: 1} {
		watch := grant("a", Failed, time.Hour, time.Hour*24)
		w, p := keeping(t, true, watch)
		var lines bytes.Buffer
		w.Log = slog.New(slog.NewTextHandler(&lines, nil))
		p.FailAt(n)
		w.confirmByPush(t.Context(), watch, Push{ResourceID: "r", Trace: "trc"})
		if got := strings.Count(lines.String(), "not updated by its push"); got != want {
			t.Errorf("with %d failing reads there are %d lines: %s", n, got, lines.String())
		}
	}
}
