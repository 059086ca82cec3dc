package attendees_test

import (
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
)

// A guest who does not see the others shows that there is something to do in the calendar of
// the organizer, which sees them all.
func TestHiddenGuests_OfAGuestWhoIsMappedNow_AreChangedThroughTheOrganizer(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	event, no := meeting("ev00001", "05", ben, guest), false
	event.GuestsCanSeeOtherGuests = &no
	s.insert(ana, event)
	s.run(2 * time.Minute)
	if shown := s.event(ben, "ev00001"); !shown.AttendeesOmitted || len(shown.Attendees) != 1 {
		t.Fatalf("ben is shown %+v", shown)
	}
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}}, mappings.Mapping{Primary: ben, Secondaries: []string{ben2}})
	s.relist(ben)
	s.run(3 * time.Minute)
	s.guests(ana, "ev00001", ben, guest, ben2)
	s.state("ev00001", ben2, attendees.Added)
	_, calls := s.costs(func() { s.relist(ben); s.run(3 * time.Minute) })
	if s.counts[ben2] != 1 || calls["events.get"]+calls["events.patch"] > 0 {
		t.Errorf("%v; the second listing cost %v", s.counts, calls)
	}
}

func TestHiddenGuests_OfAnotherOrganizer_AreLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	event, no := meeting("ev00001", "05", ben, guest), false
	event.GuestsCanSeeOtherGuests = &no
	s.insert(zoe, event)
	_, calls := s.costs(func() { s.run(3 * time.Minute) })
	s.guests(zoe, "ev00001", ben, guest)
	if s.record("ev00001").Version != 0 || calls["events.get"]+calls["events.patch"] > 0 {
		t.Errorf("%+v, %v", s.record("ev00001"), calls)
	}
}
