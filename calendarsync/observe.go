package calendarsync

import (
	"context"
	"time"

	"questscheduler/internal/calendars"
)

// SilentOwners replaces Owners and LinkOwners and notifies no user (QS_SYNC=observe).
type SilentOwners struct{}

// NotifySyncError does nothing.
func (SilentOwners) NotifySyncError(context.Context, string, string) error { return nil }

// NotifyLost implements Owners.
func (SilentOwners) NotifyLost(context.Context, string, string, time.Time) error { return nil }

// NotifyHeld does nothing.
func (SilentOwners) NotifyHeld(context.Context, string, string, []string) error { return nil }

// NotifyUnlinked does nothing.
func (SilentOwners) NotifyUnlinked(context.Context, string, string) error { return nil }

// observedOnly reports whether the last run only observed a calendar.
func observedOnly(calendar calendars.Calendar) bool { return calendar.MaskVersion < 0 }
