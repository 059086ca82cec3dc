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
	// WatchAsked says that Google was asked for a watch channel. Renewal tells that another
	// one, which ends soon, watches the calendar.
	WatchAsked struct {
		Renewal bool
		Err     error
	}
	// WatchStopped says that a watch channel was stopped at Google.
	WatchStopped struct{}
	// PushRefused says that a push was not Google's, or named no channel of ours.
	PushRefused struct{}
)
