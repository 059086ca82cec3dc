package calendarsync_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
)

// second is the document of another channel of gm's calendar than the one that Google granted.
var second = store.Doc("calendarWatches", "00000000-0000-4000-8000-00000000beef")

// beside writes that other channel: one that was requested an hour ago for a week and is due now,
// unless more says otherwise.
func beside(w *worldtest.World, status calendarsync.Status, more ...store.Update) {
	now := w.Clock.Now()
	w.Write(second,
		poll.Set("calendarId", "gm@example.com"), poll.Set("accountId", w.Account("gm")), poll.Set("calendarKey", w.CalendarKey("gm")),
		poll.Set("address", "https://quests.example/webhooks/google/calendar"), poll.Set("status", string(status)),
		poll.Set("createdAt", now.Add(-time.Hour)), poll.Set("expiration", now.Add(7*24*time.Hour-time.Hour)), poll.Set("nextTry", now))
	if len(more) > 0 {
		w.Write(second, more...)
	}
}

// stored is a channel's status with its next try, counted from now; "" where no document is left.
func stored(w *worldtest.World, path store.Path) string {
	document := w.Document(path)
	if !document.Exists() {
		return ""
	}
	f := store.Fields(document.Data)
	if next := f.Time("nextTry"); !next.IsZero() {
		return f.String("status") + " " + next.Sub(w.Clock.Now()).String()
	}
	return f.String("status")
}

// try has the outbox's work on the other channel done.
func try(t *testing.T, w *worldtest.World) outbox.Result {
	t.Helper()
	return w.Watcher.Channels().Handle(t.Context(), outbox.Item{Kind: calendarsync.WatchKind, ID: second.ID()})
}

// A try of a channel beside one that lives asks Google for none, and leaves none that is due.
func TestTry_BesideAChannelThatLives_LeavesNothingDue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status calendarsync.Status
		more   func(now time.Time) []store.Update
		want   string
		kept   time.Duration // until it is tried again; 0: it is not
	}{
		"one that was refused goes": {calendarsync.Failed, func(time.Time) []store.Update {
			return []store.Update{poll.Set("reason", fault.Provider.String())}
		}, "", 0},
		"one that may be open stays, for its push": {calendarsync.Failed, func(time.Time) []store.Update {
			return []store.Update{unheard}
		}, "error", 0},
		"one that nobody heard of stays, for its push": {calendarsync.Pending, nil, "pending", 0},
		"one that lasts is renewed in time": {calendarsync.Active, func(time.Time) []store.Update {
			return []store.Update{poll.Set("resourceId", "resource")}
		}, "active 119h0m0s", 0},
		"one that ended is kept for the record": {calendarsync.Active, func(now time.Time) []store.Update {
			return []store.Update{poll.Set("resourceId", "resource"), poll.Set("expiration", now)}
		}, "expired", 0},
		"one that is replaced is stopped": {calendarsync.Retiring, func(time.Time) []store.Update {
			return []store.Update{poll.Set("resourceId", "resource")}
		}, "", 0},
		"one that was tried with another is due no more": {calendarsync.Failed, func(time.Time) []store.Update {
			return []store.Update{poll.Set("nextTry", nil)}
		}, "error", 0},
		"one that is due later waits": {calendarsync.Failed, func(now time.Time) []store.Update {
			return []store.Update{poll.Set("nextTry", now.Add(time.Minute))}
		}, "error 1m0s", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			lives := w.Watches()[0].Path
			var more []store.Update
			if c.more != nil {
				more = c.more(w.Clock.Now())
			}
			beside(w, c.status, more...)
			want := outbox.Kept(time.Time{})
			if c.kept > 0 {
				want = outbox.Kept(w.Clock.Now().Add(c.kept))
			}
			if got := try(t, w); !reflect.DeepEqual(got, want) {
				t.Errorf("the work ended as %+v, want %+v", got, want)
			}
			equal(t, "the channel", stored(w, second), c.want)
			equal(t, "the one that lives", stored(w, lives), "active 119h59m0s")
			equal(t, "events.watch calls", w.Calls("events.watch"), 1)
		})
	}
}

// Where none lives the try opens one. Whatever comes of it, one try is planned and not several.
func TestTry_WhereNoChannelLives_PlansOneTry(t *testing.T) {
	t.Parallel()
	refused := poll.Set("reason", fault.Provider.String())
	refuses := func(w *worldtest.World) { w.Refuse("events.watch", 403, "push.webhookUrlUnauthorized", 1) }
	overdue := poll.Set("expiration", worldtest.Start.Add(10*time.Minute)) // so that it should have been renewed
	ended := poll.Set("expiration", worldtest.Start)
	for name, c := range map[string]struct {
		status calendarsync.Status
		set    store.Update
		before func(w *worldtest.World)
		want   string // of the channel that was due
		all    []string
		fails  bool
	}{
		"it is granted": {calendarsync.Failed, refused, nil, "", []string{"active"}, false},
		"it is granted, beside one that may be open": {calendarsync.Failed, unheard, nil, "error", []string{"active", "error"}, false},
		"it is refused": {calendarsync.Failed, refused, refuses, "", []string{"error"}, true},
		"it is refused, beside one that may be open": {calendarsync.Failed, unheard, refuses, "error", []string{"error", "error"}, true},
		"it is refused, and one is overdue":          {calendarsync.Active, overdue, refuses, "active", []string{"error", "active"}, true},
		"it is refused, and one ended":               {calendarsync.Active, ended, refuses, "expired", []string{"error", "expired"}, true},
		"it is due no more":                          {calendarsync.Failed, poll.Set("nextTry", nil), nil, "error", []string{"error"}, false},
		"none can be written": {calendarsync.Failed, refused, func(w *worldtest.World) {
			w.Fail("before store.run", fault.New(fault.Unavailable, "the store does not answer"))
		}, "error 1m0s", []string{"error"}, true},
		"nothing follows the calendar": {calendarsync.Failed, refused, func(w *worldtest.World) {
			w.Write(calendars.Path(w.CalendarKey("gm")), poll.Set("interests", map[string]any{poll.ConsumerPoll: 0}))
		}, "", nil, false},
		"the account is revoked":                     {calendarsync.Failed, refused, revoked, "", nil, false},
		"the account is revoked, and one is overdue": {calendarsync.Active, overdue, revoked, "active", []string{"active"}, false},
		"there is no address any more": {calendarsync.Active, overdue, func(w *worldtest.World) {
			w.Watcher.Address = ""
		}, "active", []string{"active"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			w.Remove(w.Watches()[0].Path)
			beside(w, c.status, c.set)
			if c.before != nil {
				c.before(w)
			}
			equal(t, "it went well", reflect.DeepEqual(try(t, w), outbox.Kept(time.Time{})), !c.fails)
			equal(t, "the channel", stored(w, second), c.want)
			same(t, "all channels", statuses(w), c.all)
		})
	}
}

// unheard has a failed channel be one that Google may have opened.
var unheard = poll.Set("reason", fault.Internal.String())

func revoked(w *worldtest.World) {
	w.Write(calendars.Path(w.CalendarKey("gm")), poll.Set("lastError", calendars.ReasonRevoked))
}

// One try brings all channels of its calendar up to date, so that none of them is tried for itself.
func TestTry_OfOneOfSeveralChannels_IsThatOfAll(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	lives := w.Watches()[0].Path
	w.Write(lives, poll.Set("nextTry", w.Clock.Now()))
	beside(w, calendarsync.Failed, unheard)
	third := store.Doc("calendarWatches", "00000000-0000-4000-8000-00000000cafe")
	data := w.Document(second).Data
	w.Write(third, poll.Set("calendarKey", data["calendarKey"]), poll.Set("accountId", data["accountId"]),
		poll.Set("status", "error"), poll.Set("reason", fault.Provider.String()), poll.Set("expiration", data["expiration"]))
	if err := w.TryChannels(); err != nil {
		t.Fatal(err)
	}
	equal(t, "one that is not tried any more", stored(w, third), "error")
	equal(t, "the one that lives", stored(w, lives), "active 119h59m0s")
	equal(t, "the other one", stored(w, second), "error")
	equal(t, "events.watch calls", w.Calls("events.watch"), 1)
}

// A try that could not read something has done nothing for good: it fails, and is made again.
func TestTry_DocumentUnread_SaysThatItFailed(t *testing.T) {
	t.Parallel()
	w, p := fallible(t)
	w.Finalised()
	var ran outbox.Ran
	w.Outbox.Meter = func(event any) { ran, _ = event.(outbox.Ran) }
	beside(w, calendarsync.Failed, unheard)
	p.NoneUnread(t, 5, func() error {
		w.Write(second, poll.Set("nextTry", w.Clock.Now()))
		ran = outbox.Ran{}
		again, err := w.Outbox.Run(t.Context(), calendarsync.WatchKind, second.ID())
		if ran.Err != nil && strings.Contains(ran.Err.Error(), "watch calendar") != (err == nil) {
			t.Errorf("the work ended with %v, and is made again at %v, %v", ran.Err, again, err)
		}
		return ran.Err
	})
	equal(t, "the channel", stored(w, second), "error")
}

// A try fails in the words of its calendar.
func TestTry_Refused_NamesTheCalendar(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Refuse("events.watch", 403, "push.webhookUrlUnauthorized", 2)
	w.Finalised()
	w.Skip(2 * time.Minute)
	if err := w.TryChannels(); err != nil {
		t.Fatal(err)
	}
	if want := "watch calendar gm@example.com of account " + w.Account("gm"); !strings.Contains(w.Log(), want) {
		t.Errorf("no line says %q", want)
	}
}

// A channel that is opened late says nothing of what changed before.
func TestTry_ThatOpensAChannel_HasTheCalendarSynced(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.Run(time.Minute)
	w.Remove(w.Watches()[0].Path)
	beside(w, calendarsync.Failed, unheard)
	try(t, w)
	equal(t, "a sync is asked for", w.Calendar("gm").Asked(), true)
	equal(t, "by", w.Calendar("gm").SyncCause, "timer")
	equal(t, "for the channel", w.Calendar("gm").SyncTrace, second.ID())
}

// An operator sees what is due, and need not wait for what is not.
func TestTry_AskedForByAnOperator_IsDueNow(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	beside(w, calendarsync.Failed, poll.Set("nextTry", w.Clock.Now().Add(6*time.Hour)))
	due := func(want int) {
		t.Helper()
		for _, depth := range w.Depths() {
			if depth.Kind == calendarsync.WatchKind {
				equal(t, "channels that are due", depth.Due, want)
			}
		}
	}
	due(0)
	if err := w.Outbox.Retry(t.Context(), calendarsync.WatchKind+":"+second.ID()); err != nil {
		t.Fatal(err)
	}
	equal(t, "the channel", stored(w, second), "error 0s")
	due(1)
}
