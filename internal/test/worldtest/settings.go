package worldtest

import (
	"cmp"
	"time"
)

// Settings are those of the program, and of Google, that a world may differ
// in. What is zero is as in every other world.
type Settings struct {
	// MinGap, HoldShare and HoldMin are the Syncer's.
	MinGap    time.Duration
	HoldShare float64
	HoldMin   int
	// Settle is how long a transition rests before it is announced.
	Settle time.Duration
	// AppNoticeDelay is how long the web app's own functions have to tell people.
	AppNoticeDelay time.Duration
	// NoticesPerHour is the Announcer's.
	NoticesPerHour int
	// TTL and RenewBefore are the Watcher's.
	TTL, RenewBefore time.Duration
	// LongestGrant is the longest that Google grants a watch channel for; 0: for
	// as long as is asked.
	LongestGrant time.Duration
	// SnapshotKeep is how long a snapshot is kept.
	SnapshotKeep time.Duration
	// Discord has the announcer post to the simulator's channels.
	Discord bool
}

// filled gives what is zero its usual value.
func (s Settings) filled() Settings {
	s.MinGap = cmp.Or(s.MinGap, MinGap)
	s.HoldShare, s.HoldMin = cmp.Or(s.HoldShare, 0.5), cmp.Or(s.HoldMin, 5)
	s.Settle = cmp.Or(s.Settle, Settle)
	s.NoticesPerHour = cmp.Or(s.NoticesPerHour, 20)
	s.TTL, s.RenewBefore = cmp.Or(s.TTL, 7*24*time.Hour), cmp.Or(s.RenewBefore, 48*time.Hour)
	s.SnapshotKeep = cmp.Or(s.SnapshotKeep, 90*24*time.Hour)
	return s
}
