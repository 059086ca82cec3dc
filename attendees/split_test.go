package attendees_test

import (
	"testing"
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
)

// later is the id under which Google's calendar continues the series ev00001 when a person
// changes an occurrence and those that follow.
const later = "ev00001_R20260312T090000"

// split changes the series from the second occurrence on.
func (s *stage) split(guests ...string) {
	s.Helper()
	s.patch(ana, "ev00001", &calendar.Event{Recurrence: []string{"RRULE:FREQ=WEEKLY;UNTIL=20260311T225959Z"}})
	rest := meeting("ev00002", "12", guests...)
	rest.ICalUID, rest.Summary, rest.Recurrence = later+"@google.com", "Late", []string{"RRULE:FREQ=WEEKLY;COUNT=3"}
	s.insert(ana, rest)
	s.run(2 * time.Minute)
}

func TestSplitSeries_WithOurAddition_LosesItInBothParts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, weekly("ev00001", ben))
	s.run(2 * time.Minute)
	s.split(ben, ben2)
	s.state(later, ben2, attendees.Added)
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben)
	s.guests(ana, "ev00002", ben)
}

func TestSplitSeries_FromWhichAPersonRemovedAnAddress_StaysWithoutIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, weekly("ev00001", ben))
	s.run(2 * time.Minute)
	s.uninvite(ana, "ev00001", ben2)
	s.run(2 * time.Minute)
	s.split(ben)
	s.guests(ana, "ev00002", ben)
	s.state(later, ben2, attendees.Removed) // which the first part's record is removed too early to say
	_, calls := s.costs(func() { s.relist(ana); s.run(3 * time.Minute) })
	s.guests(ana, "ev00002", ben)
	if calls["events.get"]+calls["events.patch"] > 0 {
		t.Errorf("the second listing cost %v", calls)
	}
}

func TestSplitSeries_WithAPersonsInvitation_KeepsIt(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(ana, weekly("ev00001", ben, ben2))
	s.run(2 * time.Minute)
	s.split(ben, ben2)
	s.state(later, ben2, attendees.Theirs)
	s.mapped()
	s.run(2 * time.Minute)
	s.guests(ana, "ev00002", ben, ben2)
}
