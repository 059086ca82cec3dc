package availability

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
)

const (
	// mostAsked is the longest range of one call: Google refuses ranges of over three
	// months.
	mostAsked = 60 * 24 * time.Hour
	// mostAccounts is how many accounts Google is asked about for one answer; others are
	// unknown.
	mostAccounts = 100
	// concurrent is how many calls wait for Google at a time.
	concurrent = 8
	// patience is how long Google may take for all of an answer's calls.
	patience = 20 * time.Second
)

// reading is an account whose times are being read.
type reading struct {
	account accounts.Account
	stored  calendars.Calendar // of the primary calendar; without a key's document, empty
	Account
	times Times
}

// read returns the answers of the accounts' owners. own, if set, is a session that counts
// for nobody. The number of its
// reads of the store does not depend on the number of people, up to 30; Google is asked
// about each account that is not synced.
func (s *Service) read(ctx context.Context, linked []accounts.Account, within Interval, own *session) (map[string]Answer, error) {
	readings, err := s.open(ctx, linked)
	if err != nil {
		return nil, err
	}
	var owners []string
	for _, r := range readings {
		if r.Source == FromEvents {
			owners = append(owners, r.account.OwnerID)
		}
	}
	events, err := s.eventsOf(ctx, owners, within)
	if err != nil {
		return nil, err
	}
	own.learn(events)
	for _, r := range readings {
		if r.Source == FromEvents {
			if err := r.fromEvents(events[r.account.ID], within, own); err != nil {
				return nil, err
			}
		}
	}
	if err := s.ask(ctx, readings, within, own.at()); err != nil {
		return nil, err
	}
	answers := map[string]Answer{}
	for _, r := range readings {
		answer := answers[r.account.OwnerID]
		answer.Times = Join(answer.Times, r.times)
		answer.Accounts = append(answer.Accounts, r.Account)
		answers[r.account.OwnerID] = answer
	}
	return answers, nil
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
	return c.Interests[mirror.Consumer] > 0 && c.MaskVersion >= gcal.WithDetails.Version() && len(backlog.Deferred) == 0 && backlog.Relist.IsZero() &&
		!c.SuccessAt.IsZero() && s.Now().Sub(c.SuccessAt) < s.Recent
}

// ask asks Google about each account whose source is FromFreeBusy. A failure makes that
// account's times unknown; the error is ctx's alone.
func (s *Service) ask(ctx context.Context, readings []*reading, within Interval, session []Interval) error {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	group, asking := errgroup.WithContext(asking)
	group.SetLimit(concurrent)
	asked := 0
	for _, r := range readings {
		if r.Source == FromFreeBusy {
			if asked++; asked > mostAccounts {
				r.fail(within, ReasonFailing)
				continue
			}
			group.Go(func() error { s.askOne(asking, r, within, session); return nil })
		} else if r.Source == FromNothing {
			r.fail(within, r.Unknown.Reason)
		}
	}
	return errors.Join(group.Wait(), ctx.Err())
}

// askOne reads the busy times of an account's primary calendar from Google. Those do not
// say which event they are of, so what overlaps the session is unknown.
func (s *Service) askOne(ctx context.Context, r *reading, within Interval, session []Interval) {
	var busy []Interval
	asOf := s.Now()
	primary := r.account.Primary()
	for from := within.Start; from.Before(within.End); from = from.Add(mostAsked) {
		to := earlier(from.Add(mostAsked), within.End)
		answer, err := s.Google.FreeBusy(ctx, r.account.ID, []string{primary}, from, to)
		calendar, shown := answer[primary]
		switch {
		case err == nil && !shown:
			err = errNotShown
		case err == nil:
			err = calendar.Err
		}
		if err != nil {
			r.fail(within, reasonOf(err))
			return
		}
		for _, i := range calendar.Busy {
			busy = append(busy, Interval(i))
		}
	}
	known, hidden := split(Merge(busy), session)
	r.AsOf, r.times = asOf, Times{Busy: known, Unknown: hidden}
}

var errNotShown = errors.New("google's answer lacks the calendar")

// reasonOf is why Google did not say when an account is busy.
func reasonOf(err error) string {
	switch {
	case fault.CodeOf(err) == gcal.CodeScopeMissing:
		return ReasonScopeMissing
	case fault.Is(err, fault.Revoked):
		return ReasonRevoked
	default:
		return ReasonFailing
	}
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
