package health

import (
	"context"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
)

// ChannelStatus is where the watch channel of a calendar stands.
type ChannelStatus string

// The statuses of a channel, from the least to the most to be counted on. One
// that is being stopped, or pushes to another address, is none.
const (
	ChannelNone    ChannelStatus = "none"
	ChannelFailed  ChannelStatus = "error" // Google made none
	ChannelExpired ChannelStatus = "expired"
	ChannelPending ChannelStatus = "pending" // asked for, and not answered yet
	ChannelActive  ChannelStatus = "active"
)

var channels = []ChannelStatus{ChannelNone, ChannelFailed, ChannelExpired, ChannelPending, ChannelActive}

// channelOf is the channel of a calendar that is the most to be counted on, the
// one that lasts the longest among equals, and where that stands.
func channelOf(watches []calendarsync.Watch, terms Terms) (best calendarsync.Watch, stands ChannelStatus) {
	stands = ChannelNone
	for _, watch := range watches {
		status := channelStatus(watch, terms)
		by := slices.Index(channels, status) - slices.Index(channels, stands)
		if status != ChannelNone && (by > 0 || by == 0 && watch.Expiration.After(best.Expiration)) {
			best, stands = watch, status
		}
	}
	if stands == ChannelFailed || stands == ChannelPending {
		best.Expiration = time.Time{} // what it would have been is no expiry
	}
	return best, stands
}

func channelStatus(watch calendarsync.Watch, terms Terms) ChannelStatus {
	switch {
	case watch.Status == calendarsync.Failed:
		return ChannelFailed
	case watch.Address != terms.Address, watch.Status == calendarsync.Retiring:
		return ChannelNone
	case !watch.Expiration.After(terms.Now), watch.Status == calendarsync.Expired:
		return ChannelExpired
	case watch.Status == calendarsync.Active:
		return ChannelActive
	case watch.Status == calendarsync.Pending:
		return ChannelPending
	default:
		return ChannelNone
	}
}

// WatchedBy gives the channel that watches each of the calendars of some keys: the
// zero Watch for one that no living channel watches. Those that need none are not
// in it: nothing follows them, or their grant is refused, of which their owners
// are told.
func (r *Reader) WatchedBy(ctx context.Context, keys []string) (map[string]calendarsync.Watch, error) {
	found, err := calendars.LoadKeys(ctx, r.Store, keys)
	if err != nil {
		return nil, err
	}
	var needed []string
	for _, calendar := range found {
		if calendar.Wanted() && !calendar.Revoked() {
			needed = append(needed, calendar.Key)
		}
	}
	watches, err := calendarsync.WatchesOf(ctx, r.Store, needed)
	if err != nil {
		return nil, err
	}
	watched, terms := map[string]calendarsync.Watch{}, r.terms()
	for _, key := range needed {
		channel, stands := channelOf(watches[key], terms)
		if stands != ChannelActive {
			channel = calendarsync.Watch{}
		}
		watched[key] = channel
	}
	return watched, nil
}
