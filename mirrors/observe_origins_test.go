package mirrors_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// Both are of one meeting, so that its iCalUID alone says nothing.
func TestObserve_OneOfTwoOfAMeeting_ChangesThatAlone(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(e *mirror.Event){
		"in another calendar":          func(e *mirror.Event) { e.CalendarID = "shared@example.test" },
		"by another account":           func(e *mirror.Event) { e.AccountID = club },
		"another event of the meeting": func(e *mirror.Event) { e.EventID = "event0" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			made := w.insert(work, "Dentist", thursday)
			uid := made.Details.ICalUID
			for _, id := range []string{"0", "2"} { // before and behind it
				w.stored(id, "Other", func(e *mirror.Event) { e.EventID, e.ICalUID = made.ID, uid; change(e) })
			}
			w.stored("1", "Dentist", func(e *mirror.Event) { e.EventID, e.ICalUID = made.ID, uid })
			w.turn(made, "Doctor", thursday)
			shown, err := w.full.Get(w.ctx, refTo(work), made.ID)
			w.must(err)
			_, _, err = w.service.Observe(w.ctx, refTo(work), shown, false, cause)
			w.must(err)
			for id, want := range map[string]string{"evt_0": "Other", "evt_1": "Doctor", "evt_2": "Other"} {
				event, err := mirror.LoadEvent(w.ctx, w.memory, id)
				w.must(err)
				if event.Title != want {
					t.Errorf("%s is %q, want %q", id, event.Title, want)
				}
			}
		})
	}
}

// The calendar may report the end of the series alone, and that of some occurrences before it.
func TestObserve_TheEndOfASeries_IsThatOfItsExceptions(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
	w.sync(work)
	for id, status := range map[string]string{"live": "confirmed", "dead": "cancelled"} {
		w.stored(id, "Moved", func(e *mirror.Event) {
			e.ICalUID, e.SeriesID, e.OriginalStart, e.Status = series.Details.ICalUID, series.ID, at("2026-03-12T09:00:00Z"), status
		})
	}
	w.must(w.service.PlanUID(w.ctx, gm, series.Details.ICalUID, cause))
	w.run(2 * time.Minute)
	w.must(w.clock.Advance(time.Minute))
	_, _, err := w.service.Observe(w.ctx, refTo(work), gcal.Event{ID: series.ID, EventState: rules.Gone, Updated: w.clock.Now()}, false, cause)
	w.must(err)
	for id, version := range map[string]int64{"evt_live": 2, "evt_dead": 1} {
		event, err := mirror.LoadEvent(w.ctx, w.memory, id)
		w.must(err)
		if event.Status != "cancelled" || event.Version != version || event.UpdatedAt.Equal(w.clock.Now()) != (version == 2) {
			t.Errorf("%s is %+v", id, event)
		}
	}
}

// An absence that a reader of the calendar is shown is no proof: the event is looked for again.
func TestSync_DeletionShownToAReader_FailsToBeApplied(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(work, "Dentist", thursday)
	w.sync(work)
	page := `{"accessRole":"reader","nextSyncToken":"next","items":[{"id":"event1","status":"cancelled"}]}`
	w.must(w.google.Control().Plant(control.Rule{Match: "events.list", Calendar: workMail, Body: []byte(page), Times: 1}))
	w.sync(work)
	w.wantTitles(home, "Dentist")
	w.wantLog("so an absence proves nothing", 1)
}

// Exceptions of a series with an id like a mirror's may have been dropped before it was known.
func TestObserve_OriginWithTheIDOfAMirror_IsListedAnewIfASeries(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{"single": nil, "series": {"RRULE:FREQ=WEEKLY;COUNT=4"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			event, err := w.full.InsertContent(w.ctx, refTo(work), mirror.EventPrefix+"a", gcal.Content{
				Summary: name, Start: at(thursday), End: at("2026-03-05T10:00:00Z"), Recurrence: lines,
			}, nil)
			w.must(err)
			before, _, err := calendars.LoadKey(w.ctx, w.memory, w.key(work))
			w.must(err)
			_, known, err := w.service.Observe(w.ctx, refTo(work), event, false, cause)
			w.must(err)
			after, _, err := calendars.LoadKey(w.ctx, w.memory, w.key(work))
			w.must(err)
			if asked := after.Asked() && !before.Asked(); !known || asked != (lines != nil) {
				t.Errorf("known %t, listed anew %t", known, asked)
			}
		})
	}
}

// An occurrence of a series that is not known is a person's as long as it is held.
func TestObserve_OccurrenceBeforeItsSeries_IsKnown(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	gone := w.goneOccurrence(mirror.EventPrefix + "a")
	for _, held := range []bool{false, true} {
		event := gone
		if held {
			details := *gone.Details
			details.Status, details.Summary, details.Start, details.End = "confirmed", "Moved", at(friday), at("2026-03-06T10:00:00Z")
			event.EventState, event.Details = rules.Present, &details
		}
		_, known, err := w.service.Observe(w.ctx, refTo(work), event, false, cause)
		w.must(err)
		if known != held {
			t.Errorf("held %t, known %t", held, known)
		}
	}
}

// A person who makes an event that nobody mirrors any more another one has it mirrored.
func TestSync_EndlessCopyThatBecomesAnotherEvent_IsNobodysCopy(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	event := w.insert(work, "Interview", thursday)
	w.sync(work)
	stored := w.canonical(work)[0]
	for n := range 100 {
		stored.CopyOf = append(stored.CopyOf, fmt.Sprint("evt_gone", n))
	}
	if !plan.IsEndless(stored) {
		t.Fatal("it is a copy of too few")
	}
	w.put(stored)
	w.turn(event, "Surgery", thursday)
	w.sync(work)
	if now := w.canonical(work)[0]; now.Title != "Surgery" || len(now.CopyOf) > 0 {
		t.Errorf("it is %+v", now)
	}
	w.wantTitles(home, "Surgery")
}

// Google guarantees the id of a deleted event alone.
func TestObserve_DeletionWithoutDetails_IsOne(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insert(work, "Dentist", thursday)
	series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
	w.sync(work)
	occurrence := w.goneOccurrence(series.ID)
	occurrence.Details = nil
	for _, event := range []gcal.Event{occurrence, {ID: "event1", EventState: rules.Gone, Updated: w.clock.Now()}} {
		_, _, err := w.service.Observe(w.ctx, refTo(work), event, false, cause)
		w.must(err)
	}
	w.settle()
	w.wantTitles(home, "Weekly")
}
