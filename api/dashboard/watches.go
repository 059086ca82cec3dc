package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/fault"
	"questscheduler/internal/health"
)

// answerLate is how long Google is given for its answer to a watch request.
const answerLate = time.Minute

// Watch is a watch channel as the page shows it.
type Watch struct {
	Level      Level
	ChannelID  string
	CalendarID string
	UserID     string
	// State says how it stands, in a word or two; Why what is behind that, "" where
	// nothing is.
	State, Why string
	Expiration time.Time
	NextTry    time.Time
}

// watches reads those that were refused and are to be tried again, and of those
// that may live the ones that end first.
func (r *Reader) watches(ctx context.Context, view *View) error {
	failed, more, err := calendarsync.Ungranted(ctx, r.Store, maxFailed, nil)
	if err != nil {
		return err
	}
	ending, err := calendarsync.ByStatus(ctx, r.Store, maxEnding, calendarsync.Pending, calendarsync.Active, calendarsync.Retiring)
	if err != nil {
		return err
	}
	view.MoreFailed = more != nil
	view.MoreWatches = view.MoreFailed || len(ending) == maxEnding
	watches := slices.Concat(failed, ending)
	watched, err := r.Accounts.WatchedBy(ctx, calendarsOf(watches))
	if err != nil {
		return err
	}
	for _, watch := range watches {
		best, needed := watched[watch.CalendarKey]
		view.Watches = append(view.Watches, showWatch(watch, view.Now, cmp.Or(r.Ending, health.EndingWithin), best, needed))
	}
	slices.SortStableFunc(view.Watches, func(a, b Watch) int {
		return cmp.Or(cmp.Compare(a.Level.rank(), b.Level.rank()), a.Expiration.Compare(b.Expiration), cmp.Compare(a.ChannelID, b.ChannelID))
	})
	return nil
}

// calendarsOf are the keys of the calendars of some channels, each once.
func calendarsOf(watches []calendarsync.Watch) (keys []string) {
	for _, watch := range watches {
		if !slices.Contains(keys, watch.CalendarKey) {
			keys = append(keys, watch.CalendarKey)
		}
	}
	return keys
}

// notMissed is said of a channel that is not as it should be where nothing is
// missed by that.
const notMissed = "Nothing is missed: its calendar has another one that lives, or needs none."

// showWatch shows a channel of a calendar that the best channel watches (the zero
// Watch: none does), where it needs one; one that ends within late, or sooner where
// Google granted it for a shorter time, should have been renewed. How bad it is
// with a channel is how bad that is for its calendar.
func showWatch(w calendarsync.Watch, now time.Time, late time.Duration, best calendarsync.Watch, needed bool) Watch {
	shown := Watch{
		Level: Fine, ChannelID: w.ChannelID, CalendarID: w.CalendarID, UserID: w.UserID, State: string(w.Status),
		Expiration: w.Expiration, NextTry: w.NextTry,
	}
	if w.Status == calendarsync.Active && w.Expiration.After(now) {
		shown.NextTry = time.Time{} // that of its renewal is no try in its place
	}
	missing := needed && !best.Expiration.After(now)
	soon := needed && best.EndsSoon(now, late)
	level := Fine
	switch {
	case w.Status == calendarsync.Failed:
		level, shown.Why = Bad, cmp.Or(reasons[w.Reason], "Google made none ("+w.Reason+").")
	case !w.Expiration.After(now) && w.Brief():
		level, shown.State = Bad, "ended"
		shown.Why = fmt.Sprintf("Google granted it for %s; the sweep reads the calendar until the next.", w.Lifetime())
	case !w.Expiration.After(now):
		level, shown.State, shown.Why = Bad, "ended", "It was not renewed in time."
	case w.Status == calendarsync.Pending && w.CreatedAt.Before(now.Add(-answerLate)):
		level, shown.State, shown.Why = Mind, "no answer", "Google has not answered; another is tried."
	case w.Status == calendarsync.Active && w.EndsSoon(now, late):
		level, shown.State, shown.Why = Mind, "ends soon", "Its renewal is overdue; see the timer drain."
	}
	switch {
	case level == Fine || missing:
		shown.Level = level
	case soon:
		shown.Level = Mind // another lives, and not for long
	default:
		shown.Why = notMissed
	}
	return shown
}

// reasons say why Google made no channel, and what helps.
var reasons = map[string]string{
	fault.Revoked.String():     "Google refuses the account's grant; its owner links it again.",
	fault.Forbidden.String():   "Google does not let the account watch this calendar, or push to our address.",
	fault.NotFound.String():    "Google does not find the calendar.",
	fault.RateLimited.String(): "Google asks for fewer calls; it is tried again by itself.",
	fault.Exhausted.String():   "Google's quota is used up; it is tried again by itself.",
	fault.Unavailable.String(): "Google did not answer; it is tried again by itself.",
	fault.Provider.String():    "Google refused it; check that QS_PUBLIC_URL is reached by HTTPS with a good certificate.",
}
