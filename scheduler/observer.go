package scheduler

import (
	"context"
	"fmt"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// Observer takes the place of a Service for sync runs that must change nothing
// (QS_SYNC=observe): it journals what would be done, under Entry.Observed. People's commands
// stay the Service's.
type Observer struct{ Service *Service }

// Apply decides about an observation and journals the decision. Repeating it writes nothing.
func (o Observer) Apply(ctx context.Context, observed ObservedEvent) (Applied, error) {
	s := o.Service
	var result Applied
	var creator string
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		result, creator = Applied{}, ""
		entry, path, err := poll.FindIndex(ctx, tx, observed.AccountID, observed.CalendarID, observed.EventID)
		if err != nil {
			return err
		}
		calendar, _, err := calendars.Load(ctx, tx, observed.AccountID, observed.CalendarID)
		if err != nil {
			return err
		}
		if !calendar.Holds(observed.Fence) {
			return ErrFenced
		}
		if entry == nil {
			return nil
		}
		p, err := poll.Load(ctx, tx, entry.PollID)
		if fault.Is(err, fault.NotFound) {
			return nil // the poll is gone, and its event would go
		}
		if err != nil {
			return err
		}
		st := transition.State{Poll: p, Entry: entry, EntryPath: path, Calendar: calendar}
		if err := loadSlots(ctx, tx, &st); err != nil {
			return err
		}
		creator = p.CreatorID
		decision, line := s.decide(st, observed)
		result = Applied{PollID: p.ID, Decision: decision, Unsearched: observed.mayHaveMoved(decision)}
		if result.Unsearched || decision.Action == rules.Nothing {
			return nil
		}
		return o.write(ctx, tx, p, line)
	})
	if err != nil {
		return Applied{}, pollError(result.PollID, "observe "+observed.Cause.Trigger, err)
	}
	if result.Decision.Changes() && !result.Unsearched {
		s.Log.InfoContext(ctx, "poll would be changed: "+string(result.Decision.Action), "poll", result.PollID, "event", observed.EventID,
			"user_id", creator, "new", observed.Fingerprint.String(), "row", result.Decision.Row, "hint", observed.Cause.Trigger,
			"trace", observed.Cause.Trace)
	}
	return result, nil
}

// write writes a line unless it is there: its id is what it says.
func (o Observer) write(ctx context.Context, tx store.Tx, p poll.Poll, line poll.JournalEntry) error {
	line.Observed = true
	line = transition.Leaving(line, p)
	line.ID, line.CreatorID, line.At = observedID(line), p.CreatorID, line.Inputs.Now
	path := poll.EntryPath(p.ID, line.ID)
	there, err := tx.Get(ctx, path)
	if err != nil || there.Exists() {
		return err
	}
	return tx.Create(path, poll.EncodeEntry(line))
}

// observedID names what a line says, and how the poll stood that it says it of.
func observedID(line poll.JournalEntry) string {
	return "jrn_observed_" + ids.Of(fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%d", line.AccountID, line.CalendarID,
		line.EventID, line.EventState,
		line.Fingerprint, line.Updated.UTC(), line.Decision, line.Reason, line.Before, line.State, line.Generation)).Hex(16)
}

// SetSyncError writes nothing: a failed sync run says so on its calendar.
func (Observer) SetSyncError(context.Context, string, rules.ErrorCode, Cause, While) error {
	return nil
}

// ClearSyncError writes nothing.
func (Observer) ClearSyncError(context.Context, string, rules.ErrorCode, Cause, While) error {
	return nil
}

// Reconcile writes nothing: a direct edit is repaired once that is allowed.
func (Observer) Reconcile(context.Context, string, Cause) (rules.Repair, error) {
	return rules.RepairNothing, nil
}
