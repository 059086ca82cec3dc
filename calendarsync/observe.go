package calendarsync

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
)

// NobodyTold stands in the place of Owners and LinkOwners where nothing is to be
// changed and nobody told (QS_SYNC=observe).
type NobodyTold struct{}

// TellSyncError tells nobody.
func (NobodyTold) TellSyncError(context.Context, string, string) error { return nil }

// TellHeld tells nobody.
func (NobodyTold) TellHeld(context.Context, string, string, []string) error { return nil }

// TellUnlinked tells nobody.
func (NobodyTold) TellUnlinked(context.Context, string, string) error { return nil }

// mask is the version under which this looker stores sync tokens. What a look
// that only observes has seen is applied nowhere, so its token is none for a
// look that applies: that one lists everything and asks for what it is not
// shown, as after a 410. The other way round it is the same.
func (l *Looker) mask() int64 {
	if l.Observing {
		return -gcal.MaskVersion
	}
	return gcal.MaskVersion
}

// observedOnly tells whether the last look at a calendar only observed it.
func observedOnly(calendar calendars.Calendar) bool { return calendar.MaskVersion < 0 }
