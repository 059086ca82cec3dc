package attendees_test

import (
	"encoding/json"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/demo/sim/google"
)

// Guests that cannot be read are left as they are, and nothing is concluded about them; the
// event is decided about with its next change once they can be read.
func TestGuests_OfAnUnexpectedType_AreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]string{
		"no list":  `{"self": true}`,
		"no guest": `[{"email": "` + ben + `"}, 7]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.insert(ana, meeting("ev00001", "05", ben))
			s.run(2 * time.Minute)
			s.state("ev00001", ben2, attendees.Added)
			s.insert(ana, meeting("ev00002", "06", guest))
			s.invite(ana, "ev00002", ben)
			s.uninvite(ana, "ev00001", ben2)
			s.must(s.google.Malform(google.Malformed{
				Calendar: ana, Event: "ev00001", Fields: map[string]json.RawMessage{"attendees": json.RawMessage(fields)},
			}))
			s.must(s.google.Malform(google.Malformed{
				Calendar: ana, Event: "ev00002", Fields: map[string]json.RawMessage{"attendees": json.RawMessage(fields)},
			}))
			_, calls := s.costs(func() { s.run(10 * time.Minute) })
			if calls["events.patch"] > 0 {
				t.Errorf("calls %v", calls)
			}
			s.google.ClearMalformed()
			s.guests(ana, "ev00001", ben)
			s.guests(ana, "ev00002", guest, ben)
			s.state("ev00001", ben2, attendees.Added)

			s.invite(ana, "ev00001", guest)
			s.invite(ana, "ev00002", ana)
			s.run(10 * time.Minute)
			s.guests(ana, "ev00001", ben, guest)
			s.state("ev00001", ben2, attendees.Removed)
			s.guests(ana, "ev00002", guest, ben, ana, ana2, ben2)
		})
	}
}
