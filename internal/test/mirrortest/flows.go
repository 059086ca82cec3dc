package mirrortest

import (
	"fmt"
	"strings"
	"time"

	"questscheduler/availability"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/worldtest"
)

// Flow is something whose store operations and calls to Google are counted.
type Flow struct {
	// Name is how `make bench` calls it, and What says it to people.
	Name, What string
	do         func(w *World)
	before     func(w *World)
}

// Counted is what a flow cost.
type Counted struct {
	Cost storetest.Cost
	// Calls are those to Google.
	Calls int
}

// Count does a flow in a world of its own, with everything that is due because of it.
func (f Flow) Count(t worldtest.TB) Counted {
	t.Helper()
	w := New(t, Options{})
	if f.before != nil {
		f.before(w)
		w.Settle()
	}
	w.ResetCalls()
	f.do(w)
	counted := Counted{Cost: w.Documents.Total()}
	for _, count := range w.Calls() {
		counted.Calls += count
	}
	if len(w.Failed) > 0 {
		t.Errorf("%s: a task failed: %v", f.Name, w.Failed[0])
	}
	return counted
}

// The names of flows that others ask for.
const (
	MirroredChange = "mirrored_change"
	EchoOfChange   = "mirror_observed"
	FirstListing   = "first_listing_of_1000"
	Relisting      = "relisting_of_1000"
	Availability   = "availability_of_8_people"
)

// Flows is the table.
var Flows = []Flow{
	{Name: MirroredChange, What: "an event with one mirror changes: push, sync, planning, the write to Google",
		before: mirrored(1), do: func(w *World) {
			w.Retitle("work", "meeting0", "Moved")
			w.ResetCalls()
			w.Push("work", false)
			w.RunDue()
		}},
	{Name: EchoOfChange, What: "the calendar with the mirror reports that write: push, sync, no change", before: mirrored(1),
		do: func(w *World) {
			w.Retitle("work", "meeting0", "Moved")
			w.Push("work", false)
			w.RunDue()
			w.ResetCalls()
			w.Push("home", false)
			w.RunDue()
		}},
	{Name: FirstListing,
		What: "the first listing of a calendar of 1,000 events is stored, and the events of the next 400 days are mirrored into " +
			"one calendar", before: func(w *World) {
			w.Link("gm", "work")
			w.Link("gm", "home")
			w.Insert("work", "meeting", 1000)
		}, do: func(w *World) {
			w.Mirror("gm", mirror.Edge{FromAccountID: "work", ToAccountID: "home", Detail: mirror.Busy, Target: mirror.PrimaryTarget})
			w.Listed()
		}},
	{Name: Relisting, What: "the same calendar is listed again, since its sync token expired",
		before: mirrored(1000), do: func(w *World) {
			w.Push("work", true)
			w.RunDue()
		}},
	{Name: Availability, What: "who of 8 people is free at the slots of a poll within 4 weeks, with 10 events of each",
		before: sharing(8), do: func(w *World) {
			slots, err := w.Free.ForPoll(w.ctx, "p1", "person0")
			w.must(err)
			for _, slot := range slots {
				for _, person := range slot.People {
					if person.State == availability.StateUnknown {
						w.t.Errorf("it is unknown whether %s is free at %s", person.ID, slot.ID)
					}
				}
			}
		}},
}

// mirrored has a calendar of so many events mirrored into another.
func mirrored(count int) func(w *World) {
	return func(w *World) {
		w.Link("gm", "work")
		w.Link("gm", "home")
		w.Insert("work", "meeting", count)
		w.Mirror("gm", mirror.Edge{FromAccountID: "work", ToAccountID: "home", Detail: mirror.Full, Target: mirror.PrimaryTarget})
		w.Listed()
		w.Push("home", false)
		w.Settle()
	}
}

// Listed settles first listings, whose mirrors wait for other calendars of the person.
func (w *World) Listed() {
	w.Settle()
	w.must(w.Clock.Advance(10 * time.Second))
	w.Settle()
}

// sharing has people share when they are free, with ten events each and a poll of four weeks.
func sharing(count int) func(w *World) {
	return func(w *World) {
		var people []string
		var participants []any
		for i := range count {
			person := fmt.Sprint("person", i)
			people, participants = append(people, person), append(participants, person)
			w.Link(person, person)
			w.Insert(person, "meeting"+strings.Repeat("m", i+1), 10)
			w.must(w.Free.Share(w.ctx, person, true))
		}
		w.Set(poll.Path("p1"), store.Set("creatorId", people[0]), store.Set("participantIds", participants),
			store.Set("joinedIds", participants), store.Set("status", "OPEN"), store.Set("timezone", "Europe/Zurich"))
		w.Gather("party", people...)
		for week := range 4 {
			start := Start.AddDate(0, 0, 1+9*week)
			slot := poll.Slot{ID: fmt.Sprint("s", week), Start: start, End: start.Add(3 * time.Hour)}
			w.must(w.stored.Run(w.ctx, setSlot(slot)))
		}
		for _, person := range people {
			w.Connect("party", person)
		}
		w.Settle()
	}
}
