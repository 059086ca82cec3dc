package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// While checks, in the transaction that is about to write, that the caller's reason still
// holds. Its error ends the transaction. It only reads, and may be called again. nil: always.
type While func(ctx context.Context, now store.Reader) error

// SetSyncError shows on a linked poll that its sync fails; its status stays. It does nothing
// for the same code again, or a poll that follows no event or is deleted. Errors of while are
// given back as they are.
func (s *Service) SetSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause Cause, while While) error {
	var shown *poll.Poll
	err := s.change(ctx, s.Store.Run, cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		shown = nil
		if while != nil {
			if err := while(ctx, tx); err != nil {
				return nil, err
			}
		}
		p, err := showing(ctx, tx, pollID)
		if err != nil || !p.Linked() {
			return nil, err
		}
		// A hold gives way to no other error: only a person's word ends it, and
		// without it a sync could cancel what is held.
		if known := p.Sync.Error; known != nil && (known.Code == code || known.Code == rules.MassCancellationHeld) {
			return nil, nil
		}
		winning, err := poll.LoadSlot(ctx, tx, pollID, p.WinningSlotID)
		if err != nil {
			return nil, err
		}
		step := s.step(transition.State{Poll: p, Winning: winning}, cause)
		step.SetError(code)
		shown = step.After
		return step, nil
	})
	if err == nil && shown != nil {
		s.Meter.Count(SyncError{code})
		s.logSyncError(ctx, rules.Warn, *shown, code, cause)
	}
	return err
}

// showing reads a poll that shows an error or is to; the zero poll where it was deleted, or
// another poll has its id by now.
func showing(ctx context.Context, tx store.Tx, pollID string) (poll.Poll, error) {
	p, err := poll.Load(ctx, tx, pollID)
	if fault.Is(err, fault.NotFound) {
		return poll.Poll{}, nil
	}
	st := transition.State{Poll: p}
	if err == nil {
		err = loadPast(ctx, tx, &st)
	}
	if err == nil && st.Recreated() {
		return poll.Poll{}, nil
	}
	if err == nil {
		err = checkEdits(p)
	}
	return p, err
}

// logSyncError logs that an error was set or is over.
func (s *Service) logSyncError(ctx context.Context, action rules.Action, p poll.Poll, code rules.ErrorCode, cause Cause) {
	s.Log.InfoContext(ctx, "poll "+string(action), "poll", p.ID, "event", p.GoogleEventID, "user_id", p.CreatorID,
		"state", string(p.Sync.State), "code", string(code), "hint", cause.Trigger, "trace", cause.Trace)
}

// ClearSyncError takes an error off a poll that shows it, an archived one too: once that is
// brought back, its session may be past, and no observation clears it any more. Errors of while
// are given back as they are.
func (s *Service) ClearSyncError(ctx context.Context, pollID string, code rules.ErrorCode, cause Cause, while While) error {
	var shown *poll.Poll
	err := s.change(ctx, s.Store.Run, cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		shown = nil
		if while != nil {
			if err := while(ctx, tx); err != nil {
				return nil, err
			}
		}
		p, err := showing(ctx, tx, pollID)
		shows := p.Status == rules.Finalized || p.Status == rules.Archived
		if err != nil || !shows || p.Sync.Error == nil || p.Sync.Error.Code != code {
			return nil, err
		}
		st := transition.State{Poll: p}
		st.Winning, err = poll.LoadSlot(ctx, tx, pollID, p.WinningSlotID)
		if err != nil {
			return nil, err
		}
		if err := loadEntry(ctx, tx, &st); err != nil {
			return nil, err
		}
		step := s.step(st, cause)
		step.ClearError(code)
		shown = step.After
		return step, nil
	})
	if err == nil && shown != nil {
		s.logSyncError(ctx, rules.Clear, *shown, code, cause)
	}
	return err
}
