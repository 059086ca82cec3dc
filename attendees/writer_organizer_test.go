package attendees_test

import (
	"testing"
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/demo/sim/control"
)

// ana's mapping, and so her calendar's listing, stays as it is; only ben's calendar is listed
// again, and it may not change ana's event.
func TestMapping_ThatBeginsLater_ReachesEventsOfOtherOrganizers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	s.insert(ana, meeting("ev00001", "25", ben))
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben)
	s.followed = []string{ben}
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}}, mappings.Mapping{Primary: ben, Secondaries: []string{ben2}})
	s.relist(ben)
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
	_, calls := s.costs(func() { s.relist(ben); s.run(2 * time.Minute) })
	if calls["events.get"]+calls["events.patch"] != 0 {
		t.Errorf("what was right cost %v", calls)
	}
}

// The organizer's copy is read through a guest's, which one answer does not prove gone.
func TestMapping_OrganizersCopyNotFoundOnce_IsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	s.insert(ana, meeting("ev00001", "25", ben))
	s.run(2 * time.Minute)
	s.followed = []string{ben}
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}}, mappings.Mapping{Primary: ben, Secondaries: []string{ben2}})
	s.plant(control.Rule{Match: "events.get", Status: 404, Times: 1})
	s.relist(ben)
	s.run(3 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
}

func TestMapping_OfAGuestOfAStranger_ChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.insert(zoe, meeting("ev00001", "25", ben))
	_, calls := s.costs(func() { s.run(2 * time.Minute) })
	s.guests(zoe, "ev00001", ben)
	if calls["events.get"]+calls["events.patch"] != 0 {
		t.Errorf("%v", calls)
	}
}

func TestEvent_NotFoundOnce_IsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.must(s.google.Control().Plant(control.Rule{Match: "events.get", Status: 404, Times: 1}))
	s.insert(ana, meeting("ev00001", "25", ben))
	s.run(3 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
	s.state("ev00001", ben2, attendees.Added)
}

func TestEvent_NotFoundForLong_IsLeft(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.must(s.google.Control().Plant(control.Rule{Match: "events.get", Status: 404}))
	s.insert(ana, meeting("ev00001", "25", ben))
	s.run(20 * time.Minute)
	if record := s.record("ev00001"); !record.Due.IsZero() || record.Error != "" {
		t.Errorf("%+v", record)
	}
	s.google.Control().Clear()
	s.patch(ana, "ev00001", &calendar.Event{Summary: "Shown again"})
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben, ben2)
}
