package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/transition"
)

// An intent waits for a calendar that is found no more, or for the search for a moved event,
// until its attempts have failed for lostFor, and lostAfter times: neither a day in which the program
// did not run nor one in which the account was unlinked is a day of failures.
const (
	lostFor   = 24 * time.Hour
	lostAfter = 50 // some eight hours of attempts (outbox.Retry)
)

// failsForLong reports whether to wait no longer.
func (s *Service) failsForLong(intent poll.Intent) bool {
	return intent.Failures >= lostAfter && s.Now().Sub(intent.FailingSince) >= lostFor
}

// mayComeBack reports whether to wait for a calendar that is not found, which proves no
// deletion: one that was read before may be shared with us again. A store error means to wait.
func (s *Service) mayComeBack(ctx context.Context, intent poll.Intent) bool {
	calendar, _, err := calendars.Load(ctx, s.Store, intent.AccountID, intent.CalendarID)
	return err != nil || !calendar.SuccessAt.IsZero() && !s.failsForLong(intent)
}

// Intents is the kind of the outbox that makes and deletes calendar events. An attempt is
// counted before it is made, since a run that dies may have made the event; a claim lasts
// for transition.InsertGrace, by which a command that supersedes an insert knows how long that
// may still make its event.
func (s *Service) Intents() outbox.Kind {
	return outbox.Kind{
		Name: KindIntent, Does: "calendar events to make or delete", Path: poll.IntentPath, Due: outbox.Query(poll.IntentsDue),
		Codec: intentFields, Handle: s.handleIntent, Workers: 20, Lease: transition.InsertGrace, Remove: true, CountFirst: true,
		Account: func(doc store.Document) string { return poll.DecodeIntent(doc).AccountID },
	}
}

// intentFields has outbox.Fields, but for the Ref: an intent is for another change once an
// insert became a deletion, once the deletion is asked for again (poll.Intent.Asked), and where
// it was written anew after it was done.
var intentFields = outbox.Codec{
	Decode: func(doc store.Document) outbox.State {
		state, i := outbox.Fields.Decode(doc), poll.DecodeIntent(doc)
		state.Ref = fmt.Sprintf("%s/%d/%d/%d/%d", i.Kind, i.Generation, i.Asked, i.CreatedAt.UnixMicro(), i.Until.UnixMicro())
		return state
	},
	Encode: outbox.Fields.Encode,
}

// handleIntent carries out an intent.
func (s *Service) handleIntent(ctx context.Context, item outbox.Item) outbox.Result {
	intent := poll.DecodeIntent(item.Document)
	intent.Due, intent.Attempts = item.State.Due, item.State.Attempts
	cause := Cause{Trigger: "intent", Trace: intent.Trace}
	var err error
	switch intent.Kind {
	case poll.IntentDelete:
		return s.carryOutDelete(ctx, intent)
	case poll.IntentPurge:
		err = s.carryOutPurge(ctx, intent)
	default:
		err = s.carryOutInsert(ctx, intent, cause)
		if err == nil { // what its request would have logged
			s.Log.InfoContext(ctx, "poll finalise", "poll", intent.PollID, "event", intent.EventID, "user_id", intent.Session.Actor,
				"hint", cause.Trigger, "trace", cause.Trace)
		}
	}
	if err == nil || errors.Is(err, errSuperseded) {
		return outbox.Kept(time.Time{})
	}
	return s.intentFailed(intent, err)
}

// intentFailed is a failure of an intent, counted unless its account waits to be linked again. A
// calendar that is not found may be shared again, so waiting for it is like waiting for a service.
func (s *Service) intentFailed(intent poll.Intent, err error) outbox.Result {
	failures, since := intent.Failures+1, intent.FailingSince
	switch {
	case fault.Is(err, fault.Revoked):
		failures, since = 0, time.Time{}
	case since.IsZero():
		since = store.Instant(s.Now())
	}
	if fault.Is(err, fault.NotFound) {
		err = fault.Wrap(fault.Unavailable, err, "The calendar is not found; it may be shared again.")
	}
	return outbox.Failed(err).Writing(poll.FailingUpdates(failures, since)...)
}

// carryOutDelete deletes an event, wherever its owner moved it. A
// missing event counts as deleted; while an insert may still make it, the intent stays
// (Intent.Until). Where the calendar refuses for good, or stays lost, the event is released
// and logged.
func (s *Service) carryOutDelete(ctx context.Context, intent poll.Intent) outbox.Result {
	err := s.deleteWhereItIs(ctx, intent)
	if fault.Is(err, fault.Provider) || fault.Is(err, fault.NotFound) && !s.mayComeBack(ctx, intent) {
		s.Log.ErrorContext(ctx, "the calendar refuses to delete an event; it stays there", "poll", intent.PollID,
			"event", intent.EventID, "calendar", intent.CalendarID, "trace", intent.Trace, "error", err)
		err = nil
	}
	if err != nil {
		return s.intentFailed(intent, pollError(intent.PollID, "delete event", err))
	}
	if now := s.Now(); now.Before(intent.Until) { // soon once more, then later, and at the end
		due := now.Add(transition.InsertGrace << min(intent.Attempts-1, 10))
		if due.After(intent.Until) {
			due = intent.Until
		}
		return outbox.Again(due)
	}
	return outbox.Done()
}
