package attendees_test

import (
	"testing"
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
)

// open is a meeting whose guests may change it, as its organizer makes it.
func open(id string, guests ...string) *calendar.Event {
	event := meeting(id, "05", guests...)
	event.GuestsCanModify = true
	return event
}

func TestOutsider_WhoInvitesAMappedPerson_LearnsNothing(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]*calendar.Event{
		"an event": open("ev00001", ben, guest),
		"a series": func() *calendar.Event {
			event := weekly("ev00001", ben, guest)
			event.GuestsCanModify = true
			return event
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.insert(eve, event)
			s.run(10 * time.Minute)
			s.invite(eve, "ev00001", ana)
			s.run(10 * time.Minute)
			s.guests(eve, "ev00001", ben, guest, ana)
			if s.counts[ben2]+s.counts[ana2] > 0 {
				t.Errorf("changes %v", s.counts)
			}
		})
	}
}

func TestColleagues_WhoOrganize_GetSecondAddresses(t *testing.T) {
	t.Parallel()
	for _, organizer := range []string{zoe, ana2} { // in the domain without a mapping, and a mapped second address
		s := newStage(t)
		s.insert(organizer, open("ev00001", ben))
		s.run(5 * time.Minute)
		s.guests(organizer, "ev00001", ben, ben2)
		s.state("ev00001", ben2, attendees.Added)
	}
}

// What an earlier version added at events of outsiders is taken back, but not what a person
// invited there.
func TestOutsiders_EarlierAdditions_AreTakenBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mappings.Domains = []string{"one.test", "sub.one.test"}
	s.insert(eve, open("ev00001", ben, ana, ana2))
	s.run(5 * time.Minute)
	s.guests(eve, "ev00001", ben, ana, ana2, ben2)
	s.mappings.Domains = []string{"one.test"}
	s.run(5 * time.Minute)
	s.guests(eve, "ev00001", ben, ana, ana2, ben2) // it was not observed since
	s.patch(eve, "ev00001", &calendar.Event{Summary: "Another"})
	s.run(5 * time.Minute)
	s.guests(eve, "ev00001", ben, ana, ana2)
	s.state("ev00001", ben2, "")
	s.state("ev00001", ana2, attendees.Theirs)
}

func TestOptionalGuest_SecondAddress_IsOptional(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	const shared = "team@two.test"
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2, shared}}, mappings.Mapping{
		Primary: ben, Secondaries: []string{ben2, shared},
	})
	event := meeting("ev00001", "05", ana, ben)
	event.Attendees[1].Optional = true
	s.insert(zoe, event)
	s.patch(zoe, "ev00001", &calendar.Event{GuestsCanModify: true})
	s.run(5 * time.Minute)
	s.guests(zoe, "ev00001", ana, ben, ana2, ben2, shared)
	for _, guest := range s.event(zoe, "ev00001").Attendees {
		if want := guest.Email == ben || guest.Email == ben2; guest.Optional != want {
			t.Errorf("%s is optional: %t", guest.Email, guest.Optional)
		}
	}
}
