package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

const (
	clubCalendar = worldtest.ClubCalendar
	ownCalendar  = "gm@example.com"
)

// Who names no calendar means the one that the poll's event was in, as long as
// the account may write there.
func TestFinaliseAgain_WithoutCalendar_UsesPrevious(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(w *worldtest.World, s fixture)
		ask    scheduler.Finalise
		want   string
	}{
		"finalised":     {func(*worldtest.World, fixture) {}, scheduler.Finalise{}, clubCalendar},
		"cancelled":     {cancelIt.do, scheduler.Finalise{}, clubCalendar},
		"reopened":      {func(w *worldtest.World, s fixture) { w.Released(s.event); reopenIt.do(w, s) }, scheduler.Finalise{}, clubCalendar},
		"event deleted": {func(w *worldtest.World, s fixture) { w.DeleteEvent(worldtest.Club, s.event) }, scheduler.Finalise{}, clubCalendar},
		"event deleted by the app": {func(w *worldtest.World, s fixture) {
			_, _ = w.Scheduler.DeleteEvent(w.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause)
		}, scheduler.Finalise{}, clubCalendar},
		"another named": {func(*worldtest.World, fixture) {}, scheduler.Finalise{CalendarID: ownCalendar}, ownCalendar},
		"only read now": {
			func(w *worldtest.World, _ fixture) { w.ShareClub(worldtest.Reader) }, scheduler.Finalise{KeepOldEvent: true},
			ownCalendar,
		},
		"lost": {
			func(w *worldtest.World, _ fixture) { w.ShareClub(worldtest.NoAccess) }, scheduler.Finalise{KeepOldEvent: true},
			ownCalendar,
		},
		"Google does not answer": {
			func(w *worldtest.World, _ fixture) { w.Refuse("events.list", 503, "backendError", 1) }, scheduler.Finalise{},
			clubCalendar,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			view, err := w.FinaliseAs(s.poll, scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true, CalendarID: clubCalendar})
			if err != nil {
				t.Fatal(err)
			}
			s.event = view.Poll.GoogleEventID
			w.Run(time.Minute)
			if c.ask.KeepOldEvent {
				w.Released(s.event)
			}
			c.before(w, s)
			c.ask.SlotID, c.ask.CreateEvent = s.slots[1], true
			view, err = w.FinaliseAs(s.poll, c.ask)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "calendar", view.Poll.GoogleCalendarID, c.want)
			w.Heal()
			w.ShareClub(worldtest.Owner)
			w.Run(time.Minute)
			equal(t, "index entries", len(w.Index()), 1)
			atRest(t, w)
		})
	}
}

// The previous calendar is another account's than the one that is used where
// none is named.
func TestFinaliseAgain_PreviousAccount_DecidesCalendar(t *testing.T) {
	t.Parallel()
	const second = "ben@example.com"
	for name, c := range map[string]struct {
		before func(w *worldtest.World, secondID string)
		ask    func(w *worldtest.World) scheduler.Finalise
		want   string
		code   string
	}{
		"is linked": {want: second},
		"is unlinked": {
			before: func(w *worldtest.World, secondID string) {
				if _, err := w.Accounts.Unlink(w.Context(), "gm", secondID); err != nil {
					panic(err)
				}
			}, want: ownCalendar,
		},
		"has a dead grant": { // its owner is asked, and no event is made elsewhere
			before: func(w *worldtest.World, secondID string) {
				if _, err := w.Accounts.MarkRevoked(w.Context(), secondID, 1); err != nil {
					panic(err)
				}
			}, code: "token_expired",
		},
		"is not the one named": {
			ask: func(w *worldtest.World) scheduler.Finalise { return scheduler.Finalise{AccountID: w.Account("gm")} }, want: ownCalendar,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			account := w.LinkAs("gm", "ben")
			view, err := w.FinaliseAs(s.poll, scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true, AccountID: account.ID})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "calendar at first", view.Poll.GoogleCalendarID, second)
			w.Run(time.Minute)
			if c.before != nil {
				c.before(w, account.ID)
			}
			ask := scheduler.Finalise{}
			if c.ask != nil {
				ask = c.ask(w)
			}
			ask.SlotID, ask.CreateEvent = s.slots[1], true
			view, err = w.FinaliseAs(s.poll, ask)
			if c.code != "" {
				kind(t, err, fault.Revoked)
				equal(t, "code", fault.CodeOf(err), c.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "calendar", view.Poll.GoogleCalendarID, c.want)
		})
	}
}
