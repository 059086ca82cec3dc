package scheduler

import (
	"context"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// errorMessages are what the creator reads; each says what to do next (seed
// 002, "Error State UI").
var errorMessages = map[rules.ErrorCode]string{
	rules.TokenExpired:         "Calendar sync paused. Re-link your calendar in Settings to resume.",
	rules.CalendarUnlinked:     "The calendar of this session is no longer linked. Link it in Settings to resume the sync.",
	rules.WatchFailed:          "Changes in the calendar may show here with a delay of some hours. You need not do anything; it is tried again.",
	rules.SyncFailed:           "The calendar event could not be read. It is tried again; if this stays, open the event in your calendar and check it.",
	rules.MassCancellationHeld: "Many events of this calendar are gone at once. Confirm on the sync page that the sessions are cancelled, or restore the events.",
	rules.RecurringUnsupported: "The calendar event became a recurring one, which is not followed. Make it a single event again, or finalise the poll anew.",
	rules.UnreadableEvent:      "The calendar event has no time that can be read. Give it a start and an end again, or finalise the poll anew.",
}

func syncError(code rules.ErrorCode, at time.Time) *poll.SyncError {
	return &poll.SyncError{At: at, Code: code, Message: errorMessages[code]}
}

// While tells, in the transaction that is about to write, whether what the caller
// goes by still stands. Its error is the transaction's, and nothing is written.
// It only reads, and may be asked again.
type While func(ctx context.Context, now store.Reader) error

// SetSyncError shows on a linked poll that its sync fails. Its status stays
// what it is, and what stands of a reschedule too. Setting the code that stands
// changes nothing, nor does it for a poll that follows no event or is deleted. The
// errors of while are given back as they are.
func (s *Service) SetSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause Cause, while ...While) error {
	return s.afterEdits(ctx, cause, func() error { return s.setSyncError(ctx, pollID, code, cause, while) })
}

func (s *Service) setSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause Cause, while []While) error {
	var shown poll.Poll
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		shown = poll.Poll{}
		if err := stands(ctx, tx, while); err != nil {
			return err
		}
		p, err := showing(ctx, tx, pollID)
		if err != nil || !p.Linked() {
			return err
		}
		// A hold gives way to no other error: only a person's word ends it, and
		// without it a look could cancel what is held.
		if standing := p.Sync.Error; standing != nil && (standing.Code == code || standing.Code == rules.MassCancellationHeld) {
			return nil
		}
		winning, err := poll.LoadSlot(ctx, tx, pollID, p.WinningSlotID)
		if err != nil {
			return err
		}
		now := s.Now()
		p.Sync.State, p.Sync.Error, p.UpdatedAt = rules.StateError, syncError(code, now), now
		shown = p
		_, err = s.record(tx, poll.Entry{
			Trace: cause.Trace, Hint: cause.Hint, Decision: rules.Warn, Reason: string(code),
			EventID: p.GoogleEventID, CalendarID: p.GoogleCalendarID,
			Before: p.Sync.Applied, After: p.Sync.Applied,
		}, outcome{p, winning}, "", false)
		return err
	})
	if err == nil && shown.ID != "" {
		s.Meter.Count(SyncError{code})
		s.logSyncError(ctx, rules.Warn, shown, code, cause)
	}
	return err
}

// showing reads a poll that is to show an error or not. One that was deleted
// directly has nothing to show it on, nor has another one that has its id by now: it
// is the zero poll, and keeps no other poll of its calendar from showing the same.
func showing(ctx context.Context, tx store.Tx, pollID string) (poll.Poll, error) {
	p, err := poll.Load(ctx, tx, pollID)
	if fault.Is(err, fault.NotFound) {
		return poll.Poll{}, nil
	}
	st := state{poll: p}
	if err == nil {
		err = st.past(ctx, tx)
	}
	if err == nil && st.recreated() {
		return poll.Poll{}, nil
	}
	if err == nil {
		err = checkEdits(p)
	}
	return p, err
}

// logSyncError writes the one line that an error of the sync has in the log, and
// the one that it is over.
func (s *Service) logSyncError(ctx context.Context, action rules.Action, p poll.Poll, code rules.ErrorCode, cause Cause) {
	s.Log.InfoContext(ctx, "poll "+string(action), "poll", p.ID, "event", p.GoogleEventID, "userId", p.CreatorID,
		"state", string(p.Sync.State), "code", string(code), "hint", cause.Hint, "trace", cause.Trace)
}

// stands gives the first error of what a caller goes by.
func stands(ctx context.Context, now store.Reader, while []While) error {
	for _, so := range while {
		if err := so(ctx, now); err != nil {
			return err
		}
	}
	return nil
}

// ClearSyncError takes an error off a poll, where that is the one that stands:
// what it said is over. The state is again what the reschedule says. The errors
// of while are given back as they are.
func (s *Service) ClearSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause Cause, while ...While) error {
	return s.afterEdits(ctx, cause, func() error { return s.clearSyncError(ctx, pollID, code, cause, while) })
}

func (s *Service) clearSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause Cause, while []While) error {
	var mended poll.Poll
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		mended = poll.Poll{}
		if err := stands(ctx, tx, while); err != nil {
			return err
		}
		p, err := showing(ctx, tx, pollID)
		if err != nil || p.Status != rules.Finalized || p.Sync.Error == nil || p.Sync.Error.Code != code {
			return err
		}
		winning, err := poll.LoadSlot(ctx, tx, pollID, p.WinningSlotID)
		if err != nil {
			return err
		}
		entry, _, err := poll.IndexOf(ctx, tx, p)
		if err != nil {
			return err
		}
		var calendar calendars.Calendar
		if entry != nil {
			if calendar, _, err = calendars.Load(ctx, tx, entry.AccountID, entry.CalendarID); err != nil {
				return err
			}
		}
		p.Sync.State, p.Sync.Error, p.UpdatedAt = rules.Recovered(p.Rules("", winning, nil)), nil, s.Now()
		if entry != nil {
			// What is wrong with the event itself may have had to stand back:
			// the next look asks for it again.
			if err := tx.Merge(calendars.Path(calendar.Key), calendar.RequestFetch(entry.EventID)...); err != nil {
				return err
			}
		}
		mended = p
		_, err = s.record(tx, poll.Entry{
			Trace: cause.Trace, Hint: cause.Hint, Decision: rules.Clear, Reason: string(code) + " is over",
			EventID: p.GoogleEventID, CalendarID: p.GoogleCalendarID,
			Before: p.Sync.Applied, After: p.Sync.Applied,
		}, outcome{p, winning}, "", false)
		return err
	})
	if err == nil && mended.ID != "" {
		s.logSyncError(ctx, rules.Clear, mended, code, cause)
	}
	return err
}
