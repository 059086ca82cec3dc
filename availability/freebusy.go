package availability

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
)

const (
	// mostAsked is the longest range of one call: Google refuses ranges of over three
	// months.
	mostAsked = 60 * 24 * time.Hour
	// mostAccounts is how many accounts Google is asked about for one answer; others are
	// unknown.
	mostAccounts = 100
	// leastKept is how many intervals of Google's answer about an account are kept at least
	// until the answer is worked out.
	leastKept = 1000
	// concurrent is how many calls wait for Google at a time.
	concurrent = 8
	// patience is how long Google may take for all of an answer's calls.
	patience = 20 * time.Second
)

// ask asks Google about each account whose source is FromFreeBusy. A failure makes that
// account's times unknown; the error is ctx's alone.
func (s *Service) ask(ctx context.Context, readings []*reading, within Interval) error {
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	group, asking := errgroup.WithContext(asking)
	group.SetLimit(concurrent)
	var asked []*reading
	for _, r := range readings {
		switch {
		case r.Source == FromNothing:
			r.fail(within, r.Unknown.Reason)
		case r.Source == FromFreeBusy && len(asked) == mostAccounts:
			r.fail(within, ReasonFailing)
		case r.Source == FromFreeBusy:
			asked = append(asked, r)
		}
	}
	for _, r := range asked {
		most := max(mostIntervals/len(asked), leastKept)
		group.Go(func() error { s.askOne(asking, r, within, most); return nil })
	}
	return errors.Join(group.Wait(), ctx.Err())
}

// askOne reads the busy times of an account's primary calendar from Google.
func (s *Service) askOne(ctx context.Context, r *reading, within Interval, most int) {
	busy := union{most: most}
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
			busy.add(Interval(i))
		}
	}
	r.AsOf, r.asked = asOf, busy.join()
	r.askedAll = !busy.full
}

// fromFreeBusy takes the account's times from what Google answered. That does not say which
// event they are of, so what overlaps the session is unknown.
func (a *answering) fromFreeBusy(r *reading, left *bound) {
	room := max(0, min(len(r.asked), left.intervals))
	r.times.Busy, r.times.Unknown = split(r.asked[:room], a.own.at())
	left.intervals -= len(r.asked)
	if room < len(r.asked) || !r.askedAll {
		r.times.Unknown, r.Unknown = []Interval{a.within}, unknownFor(ReasonTooMany)
	}
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
