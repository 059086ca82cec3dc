package main

import (
	"slices"
	"testing"

	"questscheduler/web-hooks/timers"
)

// QS_SYNC decides about work that changes calendars. What became of an account is carried on
// whatever it says, since a person waits for their grant to be given back.
func TestDrain_LeavesOutWhatQSSyncForbids(t *testing.T) {
	t.Parallel()
	for sync, works := range map[string]bool{"on": true, "observe": false, "off": false} {
		p := openTestServer(t, "QS_PUBLIC_URL=https://quests.example.org", "QS_SYNC="+sync, "QS_ATTENDEES_CSV=users.csv",
			"QS_ATTENDEES_DOMAINS=north.example")
		drained := counted(t, p, timers.Drain)
		if !slices.Contains(drained, "linked accounts") || slices.Contains(drained, "events with second addresses") != works {
			t.Errorf("QS_SYNC=%s: %q", sync, drained)
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
}
