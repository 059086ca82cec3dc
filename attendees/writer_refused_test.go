package attendees_test

import (
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/demo/sim/control"
)

// Google refused the patch, so who is there now was invited by a person, and is not taken back.
func TestInvitation_AfterARefusedPatch_IsAPersons(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(s *stage){
		"the event changed": func(s *stage) {
			s.calls.before = func() { s.invite(ana, "ev00001", ben2) }
			s.run(2 * time.Minute)
		},
		"changing is forbidden": func(s *stage) {
			s.plant(control.Rule{Match: "events.patch", Calendar: ana, Event: "ev00001", Status: 403, Reason: "forbidden"})
			s.run(30 * time.Minute)
			if record := s.record("ev00001"); len(record.Entries)+len(record.History) > 0 || record.Error == "" {
				s.Errorf("after refusals alone: %+v", record)
			}
			s.google.Control().Clear()
			s.invite(ana, "ev00001", ben2)
			s.run(2 * time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, ana)
			s.insert(ana, meeting("ev00001", "05", ben))
			refuse(s)
			s.state("ev00001", ben2, attendees.Theirs)
			s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
			s.run(2 * time.Minute)
			s.guests(ana, "ev00001", ben, ben2)
		})
	}
}

// Google refused to take an addition back, so who is gone now was removed by a person, and is
// not invited again.
func TestRemoval_BeforeOursWasMade_IsAPersons(t *testing.T) {
	t.Parallel()
	s := newStage(t, ana)
	s.insert(ana, meeting("ev00001", "05", ben))
	s.run(2 * time.Minute)
	s.calls.before = func() { s.uninvite(ana, "ev00001", ben2) }
	s.mapped(mappings.Mapping{Primary: ana, Secondaries: []string{ana2}})
	s.run(2 * time.Minute)
	s.state("ev00001", ben2, attendees.Removed)
	s.mapped(mappings.Mapping{Primary: ben, Secondaries: []string{ben2}})
	s.relist(ana)
	s.run(2 * time.Minute)
	s.guests(ana, "ev00001", ben)
}
