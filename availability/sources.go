package availability

import (
	"context"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
)

// reading is an account whose times are being read.
type reading struct {
	account accounts.Account
	stored  calendars.Calendar // of the primary calendar; without a key's document, empty
	Account
	// asked is Google's answer, joined; askedAll is false if it was too long to keep.
	asked    []Interval
	askedAll bool
	times    Times
}

// answering is an answer that is being worked out.
type answering struct {
	within   Interval
	own      *session
	readings []*reading
	found    events
	// shared are primary calendars as other accounts reach them (Service.sharedWith).
	shared map[place]calendars.Calendar
}

// read returns the answers of the accounts' owners. own, if set, is a session that counts
// for nobody. The number of its reads of the store does not depend on the number of accounts,
// up to 30, unless they have more events than may be kept; Google is asked about each account
// that is not synced.
func (s *Service) read(ctx context.Context, linked []accounts.Account, within Interval, own *session) (map[string]Answer, error) {
	a := &answering{within: within, own: own}
	var err error
	a.readings, err = s.open(ctx, linked)
	if err != nil {
		return nil, err
	}
	a.found, err = s.eventsOf(ctx, a.readings, within)
	if err != nil {
		return nil, err
	}
	own.learn(a.found)
	if err := s.ask(ctx, a.readings, within); err != nil {
		return nil, err
	}
	a.shared, err = s.sharedWith(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := a.workOut(); err != nil {
		return nil, err
	}
	answers := map[string]Answer{}
	for _, r := range a.readings {
		answer := answers[r.account.OwnerID]
		answer.Times = Join(answer.Times, r.times)
		answer.Accounts = append(answer.Accounts, r.Account)
		answers[r.account.OwnerID] = answer
	}
	return answers, nil
}

// workOut fills in the times of each account, those of the smallest first.
func (a *answering) workOut() error {
	size := func(r *reading) int { return a.found.count(r) + len(r.asked) }
	return inTurn(a.readings, size, func(r *reading, left *bound) error {
		switch r.Source {
		case FromEvents:
			return a.fromEvents(r, left)
		case FromFreeBusy:
			a.fromFreeBusy(r, left)
			return nil
		default:
			return a.fromShared(r, left)
		}
	})
}

// open decides the source of each account.
func (s *Service) open(ctx context.Context, linked []accounts.Account) ([]*reading, error) {
	keys := make([]string, len(linked))
	for i, account := range linked {
		keys[i] = poll.CalendarKey(account.ID, account.Primary())
	}
	stored, err := calendars.LoadKeys(ctx, s.Store, keys)
	if err != nil {
		return nil, err
	}
	readings := make([]*reading, len(linked))
	for i, account := range linked {
		r := &reading{account: account, stored: stored[i], Account: Account{ID: account.ID, Source: FromFreeBusy}}
		switch {
		case account.Usable() != nil:
			r.Source, r.Unknown = FromNothing, unknownFor(ReasonRevoked)
		case s.current(stored[i]):
			r.Source, r.AsOf = FromEvents, stored[i].SuccessAt
		case account.UsableFor(accounts.Availability) != nil:
			r.Source, r.Unknown = FromNothing, unknownFor(ReasonScopeMissing)
		}
		readings[i] = r
	}
	return readings, nil
}

// current reports whether the canonical events of a calendar are all there and recent.
// Before a sync with the wide mask there are none, and nobody knows when deferred ones are.
func (s *Service) current(c calendars.Calendar) bool {
	backlog := c.Backlogs[mirror.Consumer]
	return c.Interests[mirror.Consumer] > 0 && c.MaskVersion >= gcal.WithDetails.Version() &&
		len(backlog.Deferred) == 0 && backlog.Relist.IsZero() &&
		!c.SuccessAt.IsZero() && s.Now().Sub(c.SuccessAt) < s.Recent
}

// fail makes all times of the account unknown.
func (r *reading) fail(within Interval, reason string) {
	r.Source, r.AsOf, r.Unknown = FromNothing, time.Time{}, unknownFor(reason)
	r.times = Times{Unknown: []Interval{within}}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
