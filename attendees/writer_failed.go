package attendees

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/store"
)

const (
	// mostFailures is how many failures in a row are an error for people to see.
	mostFailures = 5
	// firstWait is the wait after the first failure; each further one waits four times as long.
	firstWait = 5 * time.Second
	// waitForQuota is the least wait for an account's quota.
	waitForQuota = time.Minute
	// outageWait is the longest wait for a service that does not answer.
	outageWait = time.Hour
)

// callError is a failed call of Google, as against a failure of the store.
type callError struct{ error }

func (e callError) Unwrap() error { return e.error }

func called(err error) error { return callError{err} }

func isCall(err error) bool { _, ok := errors.AsType[callError](err); return ok }

// isMissing reports whether an answer shows that a copy is gone. One 404 proves nothing: it
// counts once there were as many in a row as is an error. What failed for another reason before
// says nothing about it.
func (a *attempt) isMissing(err error) bool {
	return fault.Is(err, fault.NotFound) && (fault.CodeOf(err) == gcal.CodeGone || a.record.Missing+1 >= mostFailures)
}

// isRefusal reports whether a call failed for its copy alone, so that another copy may do.
func isRefusal(err error) bool {
	if !isCall(err) {
		return false
	}
	switch fault.KindOf(err) {
	case fault.Revoked, fault.Forbidden, fault.NotFound, fault.Provider, fault.Invalid:
		return true
	default:
		return false
	}
}

// notPatched is the outcome of a patch that failed; before is the record before begin.
func (s *Service) notPatched(
	ctx context.Context, a *attempt, before EventRecord, decision Decision, cause error,
) (outcome, error) {
	stale := fault.CodeOf(cause) == gcal.CodeStale
	if stale {
		s.Meter.Count(Stale{})
	}
	if isAnswer(cause) {
		if held, err := s.revert(ctx, a, before, slices.Concat(decision.Add, decision.Remove)); err != nil || !held {
			return again, err
		}
	}
	if stale {
		return again, nil
	}
	return nextCopy, called(cause)
}

// isAnswer reports whether Google answered that it did not make a change. If not, the
// change may have been made.
func isAnswer(err error) bool {
	kind := fault.KindOf(err)
	return kind != fault.Unavailable && kind != fault.Internal
}

// revert records that a patch was not made: an address that is a guest now was invited by a
// person, and one that is gone was removed by one.
func (s *Service) revert(ctx context.Context, a *attempt, before EventRecord, asked []string) (held bool, err error) {
	return s.record(ctx, a, func(next *EventRecord) {
		next.Entries = maps.Clone(next.Entries)
		for _, address := range asked {
			if entry, had := before.Entries[address]; had {
				next.Entries[address] = entry
			} else {
				delete(next.Entries, address)
			}
		}
		noted := slices.Clone(next.History)
		next.History = slices.DeleteFunc(noted, func(change Change) bool {
			return change.Trace == a.cause.Trace && change.Before == before.Entries[change.Address].State && slices.Contains(asked, change.Address)
		})
	})
}

// failed records a failed call. The error is the store's.
func (s *Service) failed(ctx context.Context, a *attempt, cause error) error {
	var next EventRecord
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		now, found, err := Load(ctx, tx, a.record.ID)
		next = now
		if err != nil || !found || now.Version != a.record.Version {
			return err // what changed it made it due
		}
		next = afterFailure(a.updated(now, s.now()), cause, s.now())
		if hasEnded(next.EndsAt, s.now()) {
			succeeded(&next) // there is nothing left to change
			next.Due = time.Time{}
		}
		return tx.Set(EventPath(next.ID), EncodeEvent(next))
	})
	if err != nil {
		return err
	}
	s.Meter.Count(Failed{Kind: fault.KindOf(cause)})
	s.Log.WarnContext(ctx, "guests of an event not changed", "event", a.record.ID, "failures", next.Failures, "due", next.Due,
		"trace", a.cause.Trace, "error", cause)
	a.record = next
	return nil
}

// afterFailure is a record after a failed call. A used-up quota waits and is no failure; the
// fifth failure in a row is an error, which is tried again a day later, or an hour where
// nothing answered. An event that is not found is tried as often anew.
func afterFailure(record EventRecord, cause error, now time.Time) EventRecord {
	wait := fault.RetryAfter(cause)
	switch kind := fault.KindOf(cause); kind {
	case fault.RateLimited, fault.Exhausted:
		record.Due = store.Instant(now.Add(max(wait, waitForQuota)))
		return record
	default:
		record.Failures++
		row := record.Failures
		if kind == fault.NotFound {
			record.Missing++
			row = record.Missing
		} else {
			record.Missing = 0
		}
		if record.FailedSince.IsZero() {
			record.FailedSince = now
		}
		wait = max(wait, firstWait<<(2*(min(row, mostFailures)-1)))
		if row >= mostFailures {
			record.Error = fault.MessageOf(cause, "Google Calendar refused this.")
			wait = max(wait, day)
			if kind == fault.Unavailable {
				wait = outageWait
			}
		}
	}
	record.Due = store.Instant(now.Add(wait))
	return record
}
