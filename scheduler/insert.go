package scheduler

import (
	"context"
	"fmt"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// An insert goes in three steps, each of which may be the last one before a
// crash:
//
//	transaction 1   generation bumped, intent written
//	events.insert   under the id that poll and generation give
//	transaction 2   poll finalised, index entry written, intent removed
//
// The request that wrote the intent does the rest, or its repetition, or the drain:
// the id is the same every time, so a second insert meets the first.

var errSuperseded = fault.New(fault.Conflict, "Something newer happened to this poll. Reload it to see its present state.")

// carryOutInsert does steps two and three of an intent.
func (s *Service) carryOutInsert(ctx context.Context, intent poll.Intent, cause Cause) error {
	event, made, err := s.insert(ctx, intent)
	if err != nil {
		return s.insertFailed(ctx, intent, made, err)
	}
	if event.EventState == rules.Gone {
		return s.insertAgain(ctx, intent, cause)
	}
	if err := s.completeInsert(ctx, intent, event, made == byUs, cause); err != nil {
		return pollError(intent.PollID, "finalise", err)
	}
	s.watchSoon(ctx, intent.PollID, event.at(intent), cause)
	return nil
}

// whoMade says which call inserted an event, as far as that is known.
type whoMade uint8

const (
	perhaps  whoMade = iota // the answer leaves it open
	byUs                    // this very call made it
	byBefore                // an earlier attempt made it
	byNobody                // there is none
)

// insert makes the event of an intent, or finds it made. After an error the event may exist,
// unless the first attempt of all was refused, or the calendar lacks it, or is lost for good.
func (s *Service) insert(ctx context.Context, intent poll.Intent) (event Event, made whoMade, err error) {
	if !s.Now().Before(intent.Due.Add(-insertTime)) {
		// Held up since the intent was taken up: a command that supersedes it counts on
		// it that no event is made any more.
		return Event{}, perhaps, fault.New(fault.Unavailable, "the finalisation was held up")
	}
	event, err = s.Calendar.Insert(ctx, intent)
	switch {
	case err == nil:
		return event, byUs, nil
	case fault.CodeOf(err) == CodeTaken:
		event, err = s.adoptInserted(ctx, intent)
		if err == nil {
			return event, byBefore, nil
		}
		if fault.CodeOf(err) == codeNotOurs {
			return Event{}, byNobody, err
		}
	case !refused(err):
	case intent.Attempts == 0:
		return Event{}, byNobody, err
	case fault.Is(err, fault.Provider), fault.Is(err, fault.NotFound): // for good, so it has to be known
		found, getErr := s.adoptInserted(ctx, intent)
		switch {
		case getErr == nil:
			return found, byBefore, nil
		case fault.Is(getErr, fault.NotFound) && (fault.Is(err, fault.Provider) || !s.mayComeBack(ctx, intent)):
			return Event{}, byNobody, err
		}
	}
	return Event{}, perhaps, err
}

// refused reports whether the calendar answered with a refusal, so that the call had no effect.
func refused(err error) bool {
	switch fault.KindOf(err) {
	case fault.Provider, fault.Revoked, fault.NotFound, fault.Exhausted, fault.RateLimited:
		return true
	default:
		return false
	}
}

// codeNotOurs is the code of an insert whose event id is another event's. A
// calendar that refuses to show the event says nothing of whose it is.
const codeNotOurs = "event_not_ours"

// adoptInserted reads the event under the intent's id: ours from an insert whose answer was
// lost, or refused. It is taken as it was made; the next sync fetches it and finds a move.
func (s *Service) adoptInserted(ctx context.Context, intent poll.Intent) (Event, error) {
	event, err := s.Calendar.Get(ctx, intent.AccountID, intent.CalendarID, intent.EventID)
	switch {
	case err != nil:
		return Event{}, err
	case event.EventState == rules.Gone:
		return s.insertedElsewhere(ctx, intent, event)
	case event.Poll != intent.PollID || event.Generation != intent.Generation:
		taken := fault.Newf(fault.Provider, "the event id of poll %s is taken by an event that is not ours", intent.PollID)
		taken.Code = codeNotOurs
		return Event{}, taken
	default:
		event.Fingerprint = intent.Session.Fingerprint()
		return event, nil
	}
}

// insertedElsewhere is the event of an intent that is gone from the intent's calendar: it may
// have been moved before the poll could follow it. A deleted id stays taken, so the next
// generation has another.
func (s *Service) insertedElsewhere(ctx context.Context, intent poll.Intent, gone Event) (Event, error) {
	found, err := s.Calendar.Find(ctx, Missing{intent.Place(), intent.EventID, intent.PollID})
	if err != nil || found == nil {
		return gone, err
	}
	event := found.Event
	event.Fingerprint, event.MovedTo = intent.Session.Fingerprint(), found.Place
	return event, nil
}

// insertFailed decides what a failed insert leaves. The intent goes where there is certainly
// no event and nobody else works on it; else it stays to find out.
func (s *Service) insertFailed(ctx context.Context, intent poll.Intent, made whoMade, cause error) error {
	err := s.transact(ctx, s.Store.Run, Cause{Trace: intent.Trace}, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		current, p, err := loadInsert(ctx, tx, intent)
		if err != nil || current == nil || current.Kind != poll.IntentInsert {
			return nil, err
		}
		st := transition.State{Poll: p}
		if made != byNobody || current.Attempts != intent.Attempts {
			step := s.step(st, Cause{Trace: intent.Trace})
			step.Writes.Update(intent.Path(), poll.Set("error", fault.KindOf(cause).String()))
			return step, nil
		}
		announcement := poll.Announcement{}
		if p.ID != "" {
			if err := loadEntry(ctx, tx, &st); err != nil {
				return nil, err
			}
		}
		if st.Entry != nil {
			announcement, err = poll.LoadAnnouncement(ctx, tx, p.ID)
			if err != nil {
				return nil, err
			}
		}
		step := s.step(st, Cause{Trace: intent.Trace})
		// That the event is not found is no proof after an earlier attempt.
		step.GiveUp(intent, announcement, intent.Attempts > 0 && fault.Is(cause, fault.Provider) && fault.CodeOf(cause) != codeNotOurs)
		return step, nil
	})
	if err != nil {
		s.Log.ErrorContext(ctx, "a failed insert could not be recorded", "poll", intent.PollID, "trace", intent.Trace, "error", err)
	}
	if !refused(cause) {
		return &fault.Error{
			Kind:       fault.Unavailable,
			Message:    "The calendar did not answer in time. The poll will be finalised as soon as it does; ask again in a moment to see.",
			RetryAfter: max(fault.RetryAfter(cause), 5*time.Second), Err: pollError(intent.PollID, "finalise: insert event", cause),
		}
	}
	return pollError(intent.PollID, "finalise: insert event", cause)
}

// insertAgain takes the next generation where the event was made and deleted before the poll
// could follow it. Nothing is left to do for a deleted poll.
func (s *Service) insertAgain(ctx context.Context, intent poll.Intent, cause Cause) error {
	next, removed := intent, false
	err := s.transact(ctx, s.Store.Run, cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		removed = false
		current, p, err := loadInsert(ctx, tx, intent)
		switch {
		case err != nil:
			return nil, err
		case current == nil || current.Kind != poll.IntentInsert:
			return nil, errSuperseded
		case p.ID == "" || p.ReplacesIntent(*current): // deleted by somebody who knows of no intents
			removed = true
			step := s.step(transition.State{Poll: p}, cause)
			step.Writes.Delete(intent.Path())
			return step, nil
		case p.Sync.Generation != intent.Generation:
			return nil, errSuperseded
		}
		step := s.step(transition.State{Poll: p}, cause)
		next = step.InsertAgain(*current)
		return step, nil
	})
	if err == nil && removed {
		err = errSuperseded
	}
	if err != nil {
		return pollError(intent.PollID, "finalise: insert again", err)
	}
	return s.carryOutInsert(ctx, next, cause)
}

// watchFailed shows on the poll that its calendar is not watched. The poll
// stays finalised; the sweep syncs without pushes and tries the watch again.
func (s *Service) watchFailed(ctx context.Context, pollID, calendarID string, cause Cause, failure error) {
	if fault.CodeOf(failure) == CodeStillWatched {
		return // the renewal tries again, and reports it
	}
	s.Log.WarnContext(ctx, "no watch channel yet", "poll", pollID, "calendar", calendarID,
		"trace", cause.Trace, "error", failure)
	if err := s.SetSyncError(ctx, pollID, rules.WatchFailed, cause, nil); err != nil {
		s.Log.ErrorContext(ctx, "the missing watch could not be shown", "poll", pollID, "trace", cause.Trace,
			"error", fmt.Errorf("set watch_failed: %w", err))
	}
}
