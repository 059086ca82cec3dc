package poll_test

import (
	"testing"

	"questscheduler/internal/poll"
)

func TestZone_IsOneThatEverybodyKnows(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Europe/Berlin": "Europe/Berlin", "UTC": "UTC", "": "UTC", "Local": "", "Middle/Earth": "",
		"Europe//Berlin": "", "./UTC": "", "Europe/./Berlin": ""} {
		for range 2 { // read, and then known
			zone, err := poll.Zone(name)
			switch {
			case want == "" && err == nil:
				t.Errorf("%q is the zone %v", name, zone)
			case want != "" && (err != nil || zone.String() != want):
				t.Errorf("%q is the zone %v, %v", name, zone, err)
			}
		}
	}
}
