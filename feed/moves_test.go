package feed_test

import (
	"strconv"
	"testing"
	"time"

	ical "github.com/emersion/go-ical"

	"questscheduler/feed"
	"questscheduler/internal/test/worldtest"
)

// followed is the feed of ana, who takes part in the one session of a world.
type followed struct {
	t        *testing.T
	world    *worldtest.World
	secret   string
	uid      string
	sequence int
}

// next gives the session, which must have the UID of before and a greater sequence.
func (f *followed) next(step string) ical.Event {
	f.t.Helper()
	events := readFeed(f.t, serviceOf(f.world), f.secret)
	if len(events) != 1 {
		f.t.Fatalf("%s: %d sessions", step, len(events))
	}
	uid := value(f.t, events[0], "UID")
	sequence, err := strconv.Atoi(value(f.t, events[0], "SEQUENCE"))
	if err != nil || sequence <= f.sequence || f.uid != "" && uid != f.uid {
		f.t.Errorf("%s: UID %s, SEQUENCE %d (%v) after %s, %d", step, uid, sequence, err, f.uid, f.sequence)
	}
	f.uid, f.sequence = uid, sequence
	return events[0]
}

func follow(t *testing.T, w *worldtest.World) *followed {
	t.Helper()
	return &followed{t: t, world: w, secret: renewed(t, serviceOf(w), "ana")}
}

// serviceOf is that of a process that has not read a feed yet.
func serviceOf(w *worldtest.World) *feed.Service {
	return &feed.Service{Store: w.Documents, Now: w.Clock.Now, URL: "https://api.party.example", AppURL: "https://party.example"}
}

func (f *followed) want(event ical.Event, status string, at worldtest.Slot) {
	f.t.Helper()
	start, err := event.DateTimeStart(time.UTC)
	if got := value(f.t, event, "STATUS"); err != nil || got != status || !start.Equal(at.Start) {
		f.t.Errorf("%s at %v (%v), want %s at %v", got, start, err, status, at.Start)
	}
}

func TestFeed_SessionMoves_KeepsUIDAndGrowsSequence(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, event := w.Finalised()
	f := follow(t, w)
	f.want(f.next("finalised"), "CONFIRMED", worldtest.Ten)
	if f.uid != pollID+"@questscheduler.app" {
		t.Errorf("UID %s", f.uid)
	}
	w.MoveEvent("gm", event, worldtest.Noon)
	w.Run(time.Minute)
	f.want(f.next("moved"), "CONFIRMED", worldtest.Noon)
	w.MoveEvent("gm", event, worldtest.Three)
	w.Run(time.Minute)
	f.want(f.next("moved again"), "CONFIRMED", worldtest.Three)
	if _, err := w.Scheduler.RestoreOriginal(t.Context(), worldtest.Person("gm"), pollID, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	f.want(f.next("restored"), "CONFIRMED", worldtest.Ten)
}

func TestFeed_SessionCancelled_StaysFor30Days(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, slots, _ := w.Finalised()
	f := follow(t, w)
	f.next("finalised")
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	f.want(f.next("cancelled"), "CANCELLED", worldtest.Ten)
	if _, err := w.Finalise(pollID, slots[1]); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	f.want(f.next("finalised again"), "CONFIRMED", worldtest.Three)
	if _, err := w.Cancel(pollID); err != nil {
		t.Fatal(err)
	}
	f.want(f.next("cancelled again"), "CANCELLED", worldtest.Three)
	w.Skip(30*24*time.Hour + time.Minute)
	if events := readFeed(t, serviceOf(w), f.secret); len(events) != 0 {
		t.Errorf("after 30 days there are %d sessions", len(events))
	}
}

func TestFeed_EventDeletedAndUndone_IsCancelledAndBack(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	_, _, event := w.Finalised()
	f := follow(t, w)
	f.next("finalised")
	w.DeleteEvent("gm", event)
	w.Run(time.Minute)
	f.want(f.next("deleted"), "CANCELLED", worldtest.Ten)
	if !w.UndeleteEvent("gm", event) {
		t.Fatal("the event is not in the bin")
	}
	w.Run(time.Minute)
	f.want(f.next("undone"), "CONFIRMED", worldtest.Ten)
}
