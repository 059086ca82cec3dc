package calendarsync

import "time"

// Meter is told what the figures of this package are made of. An implementation
// holds nothing up, and does nothing that could fail.
type Meter interface {
	// Looked: a look that a hint caused came to its end. A look that was
	// overtaken by a later one, which does its work, has ErrFenced.
	Looked(hint string, err error, took time.Duration)
	// WatchAsked: Google was asked for a watch channel. renewal tells that one
	// watches the calendar already, which ends soon.
	WatchAsked(renewal bool, err error)
	// WatchStopped: a watch channel was stopped at Google.
	WatchStopped()
	// PushRefused: a push came that is not Google's, or of no channel of ours.
	PushRefused()
}

// unmetered is the Meter of who counts nothing.
type unmetered struct{}

func (unmetered) Looked(string, error, time.Duration) {}
func (unmetered) WatchAsked(bool, error)              {}
func (unmetered) WatchStopped()                       {}
func (unmetered) PushRefused()                        {}

func (l *Syncer) meter() Meter { return orUnmetered(l.Meter) }

func (w *Watcher) meter() Meter { return orUnmetered(w.Meter) }

func orUnmetered(meter Meter) Meter {
	if meter == nil {
		return unmetered{}
	}
	return meter
}
