package calendarsync_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// fallible is a world in which reads of the program fail at the points that it returns. No
// transaction is run again for another reason: that would hide the failure.
func fallible(t *testing.T) (*worldtest.World, *points.Points) {
	t.Helper()
	p := &points.Points{}
	wrap := func(documents store.Store) store.Store { return &points.Reads{Store: documents, Points: p} }
	return worldtest.New(t, worldtest.Options{Wrap: wrap}), p
}

// unwritable is fallible for writes.
func unwritable(t *testing.T) (*worldtest.World, *points.Points) {
	t.Helper()
	p := &points.Points{}
	wrap := func(documents store.Store) store.Store { return &points.Writes{Store: documents, Points: p} }
	return worldtest.New(t, worldtest.Options{Wrap: wrap}), p
}

// Whichever read fails while a change of a calendar is synced, it is followed in the end.
func TestReads_FailAnywhere_ChangesAreFollowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(w *worldtest.World, eventID string)
		want func(t *testing.T, w *worldtest.World, pollID string)
	}{
		"a move": {
			func(w *worldtest.World, eventID string) { w.MoveEvent("gm", eventID, noon) },
			func(t *testing.T, w *worldtest.World, pollID string) {
				stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			},
		},
		"a deletion": {
			func(w *worldtest.World, eventID string) { w.DeleteEvent("gm", eventID) },
			func(t *testing.T, w *worldtest.World, pollID string) {
				equal(t, "status", w.View(pollID).Poll.Status, rules.Cancelled)
				same(t, "ana's notices", w.Notices("ana"), []string{"SESSION_CANCELLED"})
			},
		},
		"a move, after the sync token": {
			func(w *worldtest.World, eventID string) {
				if err := w.Google.ExpireSyncTokens(); err != nil {
					panic(err)
				}
				w.MoveEvent("gm", eventID, noon)
			},
			func(t *testing.T, w *worldtest.World, pollID string) {
				stands(t, w, pollID, rules.StateRescheduled, noon.Start)
			},
		},
		"an account unlinked": {
			func(w *worldtest.World, _ string) { w.Unlink("gm") },
			func(t *testing.T, w *worldtest.World, pollID string) {
				lost(t, w, pollID, rules.CalendarUnlinked)
				gone(t, w, w.Account("gm"))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, reached := 1, true
			for ; reached && n <= worldtest.MostPoints; n++ {
				t.Run(fmt.Sprintf("at read %d", n), func(t *testing.T) {
					w, p := fallible(t)
					pollID, _, eventID := w.Finalised()
					c.act(w, eventID)
					p.FailAt(n)
					w.Run(time.Minute)
					reached = p.Reached()
					p.FailAt(0)
					w.Run(time.Hour)
					c.want(t, w, pollID)
					atRest(t, w)
				})
			}
			points.Struck(t, n-2, 10)
		})
	}
}

// calls are what other parts of the program ask for, of a calendar that is followed.
func calls() map[string]func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
	return map[string]func(t *testing.T, w *worldtest.World, c calendars.Calendar) error{
		"ensure": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			return w.Watcher.Ensure(t.Context(), c.AccountID, c.CalendarID)
		},
		"follow": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			return w.Watcher.Follow(t.Context(), c.AccountID, c.CalendarID, worldtest.Cause)
		},
		"watched": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			_, err := w.Watcher.Watched(t.Context(), c.AccountID, c.CalendarID)
			return err
		},
		"confirm": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			_, err := w.Watcher.Confirm(t.Context(), worldtest.Person("gm"), c.Key, nil, worldtest.Cause)
			return err
		},
		"stop all": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			return w.Watcher.StopAll(t.Context())
		},
		"links": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			return w.Links.Follow(t.Context(), c.AccountID, worldtest.Cause)
		},
		"find": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			return w.Lookup.Find(t.Context(), "gm", c.AccountID, c.CalendarID)
		},
		"search": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			_, err := w.Scheduler.Calendar.Find(t.Context(), missing(c))
			return err
		},
		"walk": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			_, err := calendarsync.WalkByExpiration(t.Context(), w.Scheduler.Store, store.Paging{Limit: 9},
				func(calendarsync.Watch) (bool, error) { return true, nil })
			return err
		},
		"channels of calendars": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			_, err := calendarsync.WatchesOf(t.Context(), w.Scheduler.Store, []string{c.Key})
			return err
		},
		"plan of sweeps": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			did, err := sweptBy(t, w, worldtest.FallbackEvery)
			return counted(err, did.Failed)
		},
		"upcoming": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			_, _, err := w.Watcher.PlanUpcoming(t.Context(), worldtest.Cause, "", 0)
			return err
		},
		"dead channels": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			_, _, err := calendarsync.RemoveDead(t.Context(), w.Scheduler.Store, w.Clock.Now().AddDate(1, 0, 0), 10)
			return err
		},
	}
}

// A call that took a document that could not be read for one that is not there would have
// channels and calendars forgotten.
func TestCalls_DocumentUnread_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	for name, call := range calls() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := fallible(t)
			w.Finalised()
			calendar := w.Calendar("gm")
			p.NoneUnread(t, 1, func() error { return call(t, w, calendar) })
		})
	}
}

func TestCalls_DocumentUnwritten_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	for name, call := range calls() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := unwritable(t)
			w.Finalised()
			calendar := w.Calendar("gm")
			p.NoneUnread(t, 0, func() error { return call(t, w, calendar) })
		})
	}
}

// A run whose end is not recorded did not succeed, and says so where its failure is not recorded either.
func TestSync_NotWritten_IsNoSuccess(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		begin func(w *worldtest.World)
		down  bool
	}{
		"nothing is new":  {func(*worldtest.World) {}, false},
		"a token expired": {func(w *worldtest.World) { _ = w.Google.ExpireSyncTokens() }, false},
		"Google is down":  {func(w *worldtest.World) { w.Refuse("events.*", 503, "backendError", 0) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := unwritable(t)
			w.Finalised()
			w.Run(time.Hour)
			key := w.CalendarKey("gm")
			for n := 1; ; n++ {
				p.FailAt(0)
				w.Skip(calendars.Lease)
				w.Write(calendars.Path(key), calendars.RequestSync(calendars.Request{At: w.Clock.Now(), Trigger: "person"})...)
				row.begin(w)
				p.FailAt(n)
				_, err := w.Outbox.Run(t.Context(), calendars.SyncKind, key)
				if !p.Reached() {
					points.Struck(t, n-1, 2)
					equal(t, "the last one succeeded", w.Calendar("gm").SuccessAt.Equal(w.Clock.Now()), !row.down)
					return
				}
				if row.down && !fault.Is(err, fault.Unavailable) {
					t.Errorf("write %d failed, and the run gave %v", n, err)
				}
				equal(t, "one that could not write succeeded", w.Calendar("gm").SuccessAt.Equal(w.Clock.Now()), false)
			}
		})
	}
}

// Whatever Google refuses of a calendar may be allowed again.
func TestSync_Refused_IsTriedAgain(t *testing.T) {
	t.Parallel()
	for reason, status := range map[string]int{"forbidden": 403, "notFound": 404, "invalid": 400, "backendError": 503} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			w.Run(time.Minute)
			w.Refuse("events.list", status, reason, 0)
			key := w.CalendarKey("gm")
			w.Write(calendars.Path(key), calendars.RequestSync(calendars.Request{At: w.Clock.Now(), Trigger: "person"})...)
			if _, err := w.Outbox.Run(t.Context(), calendars.SyncKind, key); err != nil {
				t.Fatal(err)
			}
			calendar := w.Calendar("gm")
			equal(t, "it failed", calendar.FailedSince.IsZero(), false)
			equal(t, "it is due later", calendar.SyncAt.After(w.Clock.Now()), true)
		})
	}
}

// sweptBy goes through all pages of a sweep, up to an error of the store.
func sweptBy(t *testing.T, w *worldtest.World, spread time.Duration) (all calendarsync.Swept, err error) {
	t.Helper()
	for at, more := "", true; more; more = at != "" {
		var did calendarsync.Swept
		did, at, err = w.Watcher.SweepPage(t.Context(), worldtest.Cause, at, spread)
		if err != nil {
			return all, err
		}
		all.Calendars, all.HandedOver, all.Syncs = all.Calendars+did.Calendars, all.HandedOver+did.HandedOver, all.Syncs+did.Syncs
		all.Fresh, all.Repaired, all.Failed = all.Fresh+did.Fresh, all.Repaired+did.Repaired, all.Failed+did.Failed
	}
	return all, nil
}

// counted is the error of a call that counts what it left to the next one.
func counted(err error, failed int) error {
	if err == nil && failed > 0 {
		return fault.Newf(fault.Unavailable, "%d failed", failed)
	}
	return err
}

// What is done for a calendar without a channel fails, or is counted as failed, whichever
// document cannot be read; it is done once all can.
func TestCalls_OfAnUnwatchedCalendar_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(t *testing.T, w *worldtest.World, c calendars.Calendar) error{
		"ensure": func(t *testing.T, w *worldtest.World, c calendars.Calendar) error {
			return w.Watcher.Ensure(t.Context(), c.AccountID, c.CalendarID)
		},
		"renew": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			did, _, err := w.Watcher.RenewPage(t.Context(), worldtest.Cause, "")
			return counted(err, did.Failed)
		},
		"sweep": func(t *testing.T, w *worldtest.World, _ calendars.Calendar) error {
			did, err := sweptBy(t, w, 0)
			return counted(err, did.Failed)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := fallible(t)
			w.Finalised()
			calendar := w.Calendar("gm")
			for _, watch := range w.Watches() {
				w.Remove(watch.Path)
			}
			p.NoneUnread(t, 3, func() error { return call(t, w, calendar) })
			w.Run(time.Hour)
			equal(t, "channels", live(w), 1)
		})
	}
}

// A push that is not recorded comes again, whichever read failed.
func TestPush_DocumentUnread_SaysThatItFailed(t *testing.T) {
	t.Parallel()
	w, p := fallible(t)
	w.Finalised()
	w.Run(time.Minute)
	push := genuine(t, w)
	p.NoneUnread(t, 2, func() error { return w.Watcher.Push(t.Context(), push) })
	equal(t, "a sync is asked for", w.Calendar("gm").Asked(), true)
}

// missing is an event that is gone from a calendar.
func missing(c calendars.Calendar) scheduler.Missing {
	place := poll.Place{AccountID: c.AccountID, CalendarID: c.CalendarID}
	return scheduler.Missing{Place: place, EventID: poll.EventID("poll", 1), PollID: "poll"}
}
