package backfill

import (
	"context"
	"errors"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
)

// Watches is the part of calendarsync.Watcher that WatchCalendars needs.
type Watches interface {
	Watched(ctx context.Context, accountID, calendarID string) (bool, error)
	Ensure(ctx context.Context, accountID, calendarID string) error
}

// Outcomes of WatchCalendars.
const (
	Watched        Outcome = "watched from now on"
	WatchedAlready Outcome = "watched already"
)

// WatchCalendars opens watch channels for all followed calendars without one. A refused
// channel is a problem and stops no other; a store that does not answer ends the job.
func WatchCalendars(ctx context.Context, documents store.Store, watches Watches, options Options) (Done, error) {
	list := func(ctx context.Context, after *store.Cursor) ([]string, *store.Cursor, error) {
		found, next, err := calendars.Followed(ctx, documents, store.Paging{Limit: page, After: after})
		var keys []string
		for _, calendar := range found {
			keys = append(keys, calendar.Key)
		}
		return keys, next, err
	}
	do := func(ctx context.Context, key string, dryRun bool) (Outcome, *Problem, error) {
		calendar, _, err := calendars.LoadKey(ctx, documents, key)
		if err != nil {
			return "", nil, err
		}
		watched, err := watches.Watched(ctx, calendar.AccountID, calendar.CalendarID)
		if err != nil || watched {
			return WatchedAlready, nil, err
		}
		if dryRun {
			return Watched, nil, nil
		}
		problem := func(fix string) *Problem {
			return &Problem{What: "calendar " + calendar.CalendarID + " of account " + calendar.AccountID, Fix: fix}
		}
		err = watches.Ensure(ctx, calendar.AccountID, calendar.CalendarID)
		if err == nil {
			watched, err = watches.Watched(ctx, calendar.AccountID, calendar.CalendarID)
			if err == nil && !watched { // requested less than a minute ago and not answered
				return "", problem("Another watch channel is on its way, perhaps of a run that was killed. Run this again in a minute; " +
					"a server tries it too"), nil
			}
			return Watched, nil, err
		}
		if ctx.Err() != nil {
			return "", nil, errors.Join(err, ctx.Err())
		}
		return "", problem(watchFix(err)), nil
	}
	return run(ctx, documents, job{"watches", list, do}, options)
}

// watchFixes say what to do about a refused channel, by kind.
var watchFixes = map[fault.Kind]string{
	fault.Revoked:     "Google refuses the access to the account. Have its owner link it again in Settings",
	fault.NotFound:    "Google does not find the calendar. Finalise its sessions again in another one",
	fault.Forbidden:   "Google does not let the account watch the calendar. Have its owner check that it can change events there",
	fault.Provider:    "Google refuses the watch channel. QS_PUBLIC_URL has to be an https address that Google reaches: \"doctor\" checks it",
	fault.RateLimited: "Google asks for fewer calls. Run this again in a moment",
	fault.Conflict:    "Google grants the calendar's watch channels for minutes only. No action is needed: the sweep reads it",
	fault.Exhausted:   "the account's quota is used up. Run this again in some hours; until then the sweep reads the calendar",
}

func watchFix(err error) string {
	if fix, known := watchFixes[fault.KindOf(err)]; known {
		return fix
	}
	return "Google did not answer. Run this again; the sweep retries too"
}
