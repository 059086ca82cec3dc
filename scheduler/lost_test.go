package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// freshInAKnownCalendar is a fresh poll in whose calendar another poll has an event
// already.
func freshInAKnownCalendar(w *worldtest.World) fixture {
	finalised(w)
	return fresh(w)
}

// A calendar that is not found says of no event that it is not there.
func TestFinalise_AnswerAndCalendarLost_EndsInOneEvent(t *testing.T) {
	t.Parallel()
	for name, goOn := range map[string]act{"the drain": drain, "the same finalise again": finaliseFirst} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := freshInAKnownCalendar(w)
			w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
			_, err := w.Finalise(s.poll, s.slots[0])
			kind(t, err, fault.Unavailable)
			w.Refuse("events.*", 404, "notFound", 0)
			w.Skip(time.Minute)
			goOn.do(w, s)
			w.Run(time.Hour)
			equal(t, "status while it is lost", w.View(s.poll).Poll.Status, rules.Open)
			w.Check()
			w.Heal()
			w.Run(15 * time.Minute)
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
			equal(t, "events", len(w.Events("gm")), 2)
			atRest(t, w)
		})
	}
	t.Run("and is given up at once where it was never found", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Options{})
		s := fresh(w)
		ask := worldtest.Ask{SlotID: s.slots[0], CreateEvent: true, CalendarID: "nobodys@group.calendar.google.com"}
		w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
		_, err := w.FinaliseAs(s.poll, ask)
		kind(t, err, fault.Unavailable)
		_, err = w.FinaliseAs(s.poll, ask)
		kind(t, err, fault.NotFound)
		equal(t, "intents", len(w.Intents()), 0)
		atRest(t, w)
	})
	t.Run("and is given up where it stays lost", func(t *testing.T) {
		t.Parallel()
		w := worldtest.New(t, worldtest.Options{})
		s := freshInAKnownCalendar(w)
		w.Refuse("events.insert", 503, "backendError", 1)
		_, err := w.Finalise(s.poll, s.slots[0])
		kind(t, err, fault.Unavailable)
		w.Refuse("events.*", 404, "notFound", 0)
		w.Run(25 * time.Hour)
		equal(t, "intents", len(w.Intents()), 0)
		equal(t, "status", w.View(s.poll).Poll.Status, rules.Open)
		w.Heal()
		atRest(t, w)
	})
}

// The answer of an insert is lost, the next attempt is refused, and Google does
// not find what is there: no event is left behind.
func TestFinalise_AnswerLostThenRefused_LeavesNoEvent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	_, err := w.Finalise(s.poll, s.slots[0])
	kind(t, err, fault.Unavailable)
	w.Refuse("events.insert", 403, "forbidden", 1)
	w.Refuse("events.get", 404, "notFound", 1)
	w.Run(time.Hour)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Open)
	equal(t, "events", len(w.Events("gm")), 0)
	equal(t, "intents", len(w.Intents()), 0)
	atRest(t, w)
}

func TestFinalise_AnswerLostThenAllDeleted_LeavesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Plant("events.insert", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	_, err := w.Finalise(s.poll, s.slots[0])
	kind(t, err, fault.Unavailable)
	w.DeleteEvent("gm", w.Events("gm")[0].ID)
	w.Remove(poll.Path(s.poll))
	w.Run(time.Hour)
	equal(t, "intents", len(w.Intents()), 0)
	atRest(t, w)
}

func TestCancel_WhereTheCalendarIsLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost    time.Duration
		deletes bool
		refused string // of listing what is lost; "": it is not found
	}{
		"for a while, deletes the event afterwards":                      {time.Hour, true, ""},
		"for a while, and refuses to be read, deletes it afterwards too": {time.Hour, true, "forbidden"},
		"for good, leaves the event to it":                               {25 * time.Hour, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			view, err := w.FinaliseAs(s.poll, worldtest.Ask{SlotID: s.slots[0], CreateEvent: true, CalendarID: worldtest.ClubCalendar})
			if err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			share := func(role worldtest.Role) {
				if err := w.Google.Share(worldtest.ClubCalendar, "gm", role); err != nil {
					t.Fatal(err)
				}
			}
			share(worldtest.NoAccess)
			if c.refused != "" {
				w.Refuse("events.list", 403, c.refused, 3)
			}
			if _, err := w.Cancel(s.poll); err != nil {
				t.Fatal(err)
			}
			w.Run(c.lost)
			share(worldtest.Owner)
			if !c.deletes {
				w.Released(view.Poll.GoogleEventID)
			}
			w.Check()
			w.Run(15 * time.Minute)
			equal(t, "the event is there", w.EventOf(worldtest.Club, view.Poll.GoogleEventID).Live(), !c.deletes)
			equal(t, "intents", len(w.Intents()), 0)
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
			atRest(t, w)
		})
	}
}
