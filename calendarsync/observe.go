package calendarsync

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
)

// SilentOwners replaces Owners and LinkOwners and notifies no user (QS_SYNC=observe).
type SilentOwners struct{}

// NotifySyncError does nothing.
func (SilentOwners) NotifySyncError(context.Context, string, string) error { return nil }

// NotifyHeld does nothing.
func (SilentOwners) NotifyHeld(context.Context, string, string, []string) error { return nil }

// NotifyUnlinked does nothing.
func (SilentOwners) NotifyUnlinked(context.Context, string, string) error { return nil }

// mask is the version stored with sync tokens. A token from observing is invalid for
// applying, as nothing it covers was applied, and vice versa: the next run is a full
// sync.
func (l *Syncer) mask() int64 {
	if l.Observing {
		return -gcal.MaskVersion
	}
	return gcal.MaskVersion
}

// observedOnly reports whether the last run only observed a calendar.
func observedOnly(calendar calendars.Calendar) bool { return calendar.MaskVersion < 0 }
