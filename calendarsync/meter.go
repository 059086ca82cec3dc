package calendarsync

import "time"

// The events of this package, as its Meter counts them.
type (
	// Synced says that a sync run ended. Err is ErrFenced where a later run overtook it and
	// does its work.
	Synced struct {
		Trigger string
		Err     error
		Took    time.Duration
	}
	// WatchAsked counts a request for a watch channel. Renewal reports that another channel,
	// which ends soon, still watches the calendar.
	WatchAsked struct {
		Renewal bool
		Err     error
	}
	// WatchStopped counts a watch channel that was stopped at Google.
	WatchStopped struct{}
	// PushRefused says that a push was not Google's, or named no channel of ours.
	PushRefused struct{}
)
