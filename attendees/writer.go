package attendees

import (
	"context"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
)

const (
	// maxTurns bounds how often one run starts over for an event that keeps changing.
	maxTurns = 3
	// startOver is after how long the next run does so again.
	startOver = 5 * time.Second
)

// handle brings the guests of an event up to date. It counts failed calls in the record, so
// only what the store refused is repeated by the waker.
func (s *Service) handle(ctx context.Context, item outbox.Item) outbox.Result {
	due, err := s.write(ctx, item.ID, item.Observing)
	switch {
	case err != nil:
		return outbox.Broken(err)
	case item.Observing && !due.After(s.now()):
		return outbox.Done() // the record stays due, for when the server writes
	}
	return outbox.Kept(due)
}

// write takes turns at an event until nothing is due now, or it changed too often for that. due
// is when to go on; zero: nothing is pending. The error is the store's.
func (s *Service) write(ctx context.Context, id string, observing bool) (due time.Time, err error) {
	for range maxTurns {
		a, err := s.load(ctx, id)
		if err != nil || a.record.Due.IsZero() || a.record.Due.After(s.now()) {
			return a.record.Due, err
		}
		a.observing = observing
		if settled, err := s.turn(ctx, a); err != nil || settled {
			return a.record.Due, err
		}
	}
	return s.now().Add(startOver), nil
}

// turn is one turn at an event: the first of its copies that Google lets us change decides.
// settled is false if the record or the event changed since it was read; else a.record is as
// it is now stored.
func (s *Service) turn(ctx context.Context, a *attempt) (settled bool, err error) {
	var refused error
	for _, key := range a.candidates() {
		usable, later, err := s.usable(ctx, a.copies[key].AccountID)
		if err != nil {
			return false, err
		}
		if !usable {
			a.waiting = a.waiting || later
			continue
		}
		end, err := s.through(ctx, a, key)
		switch {
		case err != nil && isRefusal(err):
			refused = err
		case err != nil && isCall(err):
			return true, s.failed(ctx, a, err)
		case err != nil:
			return false, err
		case end != nextCopy:
			return end == done, nil
		}
	}
	switch found, err := s.findOrganizer(ctx, a); {
	case err != nil && isCall(err):
		refused = err
	case err != nil:
		return false, err
	case found:
		return false, nil // through that copy
	}
	if refused != nil {
		return true, s.failed(ctx, a, refused)
	}
	return s.withoutCopy(ctx, a)
}

// outcome is what came of a copy.
type outcome int

const (
	// done: the record is settled.
	done outcome = iota
	// again: the record or the event changed; start over.
	again
	// nextCopy: the event cannot be changed through this copy.
	nextCopy
)

// through brings the guests up to date through one copy. Its errors are those of calls (see
// isCall) and of the store.
func (s *Service) through(ctx context.Context, a *attempt, key string) (outcome, error) {
	list, err := s.Google.GuestList(ctx, a.ref(key), a.copies[key].EventID)
	if a.isMissing(err) {
		a.lose(key)
		return nextCopy, nil
	}
	if err != nil {
		return nextCopy, called(err)
	}
	shown := a.shown(key, list.Event)
	if !editable(shown.copied) {
		return nextCopy, nil
	}
	decision := a.judge(shown, s.now())
	if len(decision.Add)+len(decision.Remove) == 0 {
		return s.settle(ctx, a, decision)
	}
	if a.observing {
		return s.observeOnly(ctx, a, decision)
	}
	before := a.record
	if held, err := s.begin(ctx, a, decision); err != nil || !held {
		return again, err
	}
	answer, err := s.Google.PatchGuests(ctx, a.ref(key), list,
		gcal.GuestChange{Add: decision.Add, Remove: decision.Remove, Optional: decision.Optional}, s.Notify)
	if err != nil {
		return s.notPatched(ctx, a, before, decision, err)
	}
	s.Meter.Count(Patched{Added: len(decision.Add), Withdrawn: len(decision.Remove)})
	return s.confirm(ctx, a, decision, a.shown(key, answer))
}
