package mirrors_test

import (
	"net/http"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/rules"
)

// takesTime reports whether a calendar shows time as taken at the start of an occurrence.
func (w *world) takesTime(account, start string) bool {
	w.Helper()
	for _, event := range w.shown(account, refTo(account).Calendar) {
		if event.EventState == rules.Series {
			one, err := w.full.Instance(w.ctx, refTo(account), event.ID, at(start))
			w.must(err)
			event = one
		}
		if event.EventState != rules.Gone && event.Details.Start.Time.Equal(at(start).Time) && event.Details.Transparency != "transparent" {
			return true
		}
	}
	return false
}

// One of a person's accounts gives up an occurrence of a meeting, and another one has it still: its copy
// stays. Once no account has it, the copy goes.
func TestSync_OccurrenceGivenUpInOneAccount_TakesTimeForTheOther(t *testing.T) {
	t.Parallel()
	const second, third = "2026-03-12T15:00:00Z", "2026-03-19T15:00:00Z"
	const instance = "/invited1_20260312T150000Z"
	toHome := func(from string) mirror.Edge {
		return mirror.Edge{FromAccountID: from, ToAccountID: home, Detail: mirror.Busy, Target: mirror.PrimaryTarget}
	}
	free := func(w *world, account string) {
		w.post(account, http.MethodPatch, instance, `{"transparency":"transparent"}`)
	}
	remove := func(w *world, account string) {
		_, err := w.full.DeleteQuietly(w.ctx, refTo(account), instance[1:], "")
		w.must(err)
	}
	for name, row := range map[string]struct {
		guest        string // beside work, of a meeting of ana's
		edges        []mirror.Edge
		giveUp, then func(w *world)
	}{
		"removed at home, held at work": {
			home, []mirror.Edge{toHome(work)},
			func(w *world) { remove(w, home) }, func(w *world) { remove(w, work) },
		},
		"free at work, held in the club": {
			club, []mirror.Edge{toHome(work), toHome(club)},
			func(w *world) { free(w, work) }, func(w *world) { free(w, club) },
		},
		"free in the club, held at work": {
			club, []mirror.Edge{toHome(work), toHome(club)},
			func(w *world) { free(w, club) }, func(w *world) { free(w, work) },
		},
		"removed at work, held in the club": {
			club, []mirror.Edge{toHome(work), toHome(club)},
			func(w *world) { remove(w, work) }, func(w *world) { remove(w, club) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mirrorWork(row.edges...)
			w.settle()
			w.post(annes, http.MethodPost, "", `{"id":"invited1","summary":"Stand-up","recurrence":["RRULE:FREQ=WEEKLY;COUNT=4"],
				"attendees":[{"email":"`+workMail+`"},{"email":"`+refTo(row.guest).Calendar+`"}],
				"start":{"dateTime":"2026-03-05T15:00:00Z","timeZone":"UTC"},"end":{"dateTime":"2026-03-05T16:00:00Z","timeZone":"UTC"}}`)
			syncAll := func() {
				w.sync(work)
				w.sync(row.guest)
				w.run(20 * time.Minute)
			}
			want := func(when string, busy bool) {
				if got := w.takesTime(home, second); got != busy || !w.takesTime(home, third) {
					t.Fatalf("%s the time at home is taken: %t\n%+v\n%s", when, got, w.mirrors(), w.log.String())
				}
			}
			syncAll()
			want("at first", true)
			row.giveUp(w)
			syncAll()
			want("given up in one account", true)
			row.then(w)
			syncAll()
			want("given up in both", false)
		})
	}
}

// The account that was invited too removed an occurrence, which the calendar of the other one has by
// the rule alone. Its copy changes with the series, and goes with it.
func TestWriter_OccurrenceRemovedInTheTarget_ShowsAsTheOtherHasIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	at4 := func(e *mirror.Event) { e.Description, e.Location = "Figures", "Room 4" }
	native := func(e *mirror.Event) {
		e.AccountID, e.CalendarID, e.EventID, e.ICalUID = home, homeMail, "e1", "e1@google.com"
	}
	second := at("2026-03-12T09:00:00Z")
	s.stored("n", "Mine", weekly, native)
	s.stored("nx", "Mine", exception("e1", second), func(e *mirror.Event) {
		e.AccountID, e.CalendarID, e.Status, e.Start, e.End = home, homeMail, "cancelled", second, second
	})
	s.event("e1", "Stand-up", weekly, at4)
	s.run(time.Minute)
	shown := s.atHome()
	if d := shown.Details; !d.Start.Time.Equal(second.Time) || !d.End.Time.Equal(second.Time.Add(time.Hour)) ||
		d.Summary != "Stand-up" || d.Location != "Room 4" || d.Transparency == "transparent" {
		t.Errorf("home shows %+v", d)
	}
	s.event("e1", "Retrospective", weekly, at4)
	s.run(time.Minute)
	if now := s.atHome(); now.ID != shown.ID || now.Details.Summary != "Retrospective" {
		t.Errorf("home shows %+v", now.Details)
	}
	s.event("e1", "Retrospective", weekly, func(e *mirror.Event) { e.Status = "cancelled" })
	s.run(time.Minute)
	if left := s.shown(home, homeMail); len(left) > 0 {
		t.Errorf("left are %+v\n%s", left, s.log.String())
	}
}
