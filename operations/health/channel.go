package health

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
)

// ChannelStatus is the state of a calendar's watch channel.
type ChannelStatus string

// The statuses of a channel, from the least to the most reliable. A channel that is
// being stopped, or pushes to another address, is none.
const (
	ChannelNone    ChannelStatus = "none"
	ChannelFailed  ChannelStatus = "error" // Google granted none
	ChannelExpired ChannelStatus = "expired"
	ChannelPending ChannelStatus = "pending" // Google has not answered yet
	ChannelActive  ChannelStatus = "active"
)

var channelStatuses = []ChannelStatus{ChannelNone, ChannelFailed, ChannelExpired, ChannelPending, ChannelActive}

// channelOf is the most reliable channel of a calendar, among equals the one that
// lasts longest, and its status.
func channelOf(watches []calendarsync.Watch, terms Terms) (best calendarsync.Watch, stands ChannelStatus) {
	stands = ChannelNone
	for _, watch := range watches {
		status := channelStatus(watch, terms)
		by := slices.Index(channelStatuses, status) - slices.Index(channelStatuses, stands)
		if status != ChannelNone && (by > 0 || by == 0 && watch.Expiration.After(best.Expiration)) {
			best, stands = watch, status
		}
	}
	if stands == ChannelFailed || stands == ChannelPending {
		best.Expiration = time.Time{} // such a channel has no expiry
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

// watchedBy reads the channel that watches each of some calendars: the zero Watch
// where no living channel does. It leaves out calendars that need none: nothing
// follows them, or only their owners can help: by linking the account or sharing the
// calendar again.
func (r *Reader) watchedBy(ctx context.Context, keys []string) (map[string]calendarsync.Watch, error) {
	found, err := calendars.LoadKeys(ctx, r.Store, keys)
	if err != nil {
		return nil, err
	}
	var needed []string
	for _, calendar := range found {
		if calendar.Wanted() && !calendar.Revoked() && !calendar.Lost() {
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

// Channel is a watch channel with its trouble. Level is the severity for its calendar.
type Channel struct {
	calendarsync.Watch
	Level Level
	// State describes the channel in a word or two. Why explains the trouble; "" if
	// there is none.
	State, Why string
}

// Shade is the level that the channel's state is shown in: Mind for one that retires,
// which goes soon although nothing is wrong with it.
func (c Channel) Shade() Level {
	if c.Status == calendarsync.Retiring && c.Level == Fine {
		return Mind
	}
	return c.Level
}

// channels reads the refused channels that are tried again, and the living ones that
// end first.
func (r *Reader) channels(ctx context.Context, o *Overview) error {
	refused, more, err := calendarsync.Ungranted(ctx, r.Store, store.Paging{Limit: maxRefused})
	if err != nil {
		return err
	}
	ending, err := calendarsync.ByStatus(ctx, r.Store, maxEnding, calendarsync.Pending, calendarsync.Active, calendarsync.Retiring)
	if err != nil {
		return err
	}
	o.MoreRefused = more != nil
	o.MoreChannels = o.MoreRefused || len(ending) == maxEnding
	var keys []string
	watches := slices.Concat(refused, ending)
	for _, watch := range watches {
		if !slices.Contains(keys, watch.CalendarKey) {
			keys = append(keys, watch.CalendarKey)
		}
	}
	watched, err := r.watchedBy(ctx, keys)
	if err != nil {
		return err
	}
	for _, watch := range watches {
		best, needed := watched[watch.CalendarKey]
		o.Channels = append(o.Channels, judgeChannel(watch, o.Now, r.ending(), best, needed))
	}
	slices.SortStableFunc(o.Channels, func(a, b Channel) int {
		return cmp.Or(b.Level.rank()-a.Level.rank(), a.Expiration.Compare(b.Expiration), cmp.Compare(a.ChannelID, b.ChannelID))
	})
	return nil
}

// answerLate is how long Google is given to answer a watch request.
const answerLate = time.Minute

// judgeChannel judges a channel whose calendar, where it needs one, the best
// channel watches (the zero Watch: none does). One that ends within ending, or
// sooner where Google granted it for a shorter time, should have been renewed.
func judgeChannel(w calendarsync.Watch, now time.Time, ending time.Duration, best calendarsync.Watch, needed bool) Channel {
	channel := Channel{Watch: w, Level: Fine, State: string(w.Status)}
	lives := w.Expiration.After(now)
	if w.Status == calendarsync.Active && lives {
		channel.NextTry = time.Time{} // that of its renewal, which replaces nothing
	}
	level := Fine
	switch {
	case w.Status == calendarsync.Failed:
		level, channel.Why = Bad, cmp.Or(refusals[w.Reason], "Google made none ("+w.Reason+").")
	case !lives && w.Brief():
		level, channel.State = Bad, "ended"
		channel.Why = fmt.Sprintf("Google granted it for %s; the sweep reads the calendar until the next.", w.Lifetime())
	case !lives:
		level, channel.State, channel.Why = Bad, "ended", "It was not renewed in time."
	case w.Status == calendarsync.Pending && w.CreatedAt.Before(now.Add(-answerLate)):
		level, channel.State, channel.Why = Mind, "no answer", "Google has not answered; another is tried."
	case w.Status == calendarsync.Active && w.EndsSoon(now, ending):
		level, channel.State, channel.Why = Mind, "ends soon", "Its renewal is overdue; see the timer drain."
	}
	switch {
	case level == Fine || needed && !best.Expiration.After(now):
		channel.Level = level
	case needed && best.EndsSoon(now, ending):
		channel.Level = Mind // another one lives, but not for long
	default:
		channel.Why = "Nothing is missed: its calendar has another one that lives, or needs none."
	}
	return channel
}

// refusals say why Google made no channel, and what helps.
var refusals = map[string]string{
	fault.Revoked.String():     "Google refuses the account's grant; its owner links it again.",
	fault.Forbidden.String():   "Google does not let the account watch this calendar, or push to our address.",
	fault.NotFound.String():    "Google does not find the calendar.",
	fault.RateLimited.String(): "Google asks for fewer calls; it is retried.",
	fault.Exhausted.String():   "Google's quota is used up; it is retried.",
	fault.Unavailable.String(): "Google did not answer; it is retried.",
	fault.Provider.String():    "Google refused it; check that QS_PUBLIC_URL is reached by HTTPS with a good certificate.",
}
