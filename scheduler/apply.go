package scheduler

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// ObservedEvent is what a sync run read of one event.
type ObservedEvent struct {
	AccountID   string
	CalendarID  string
	EventID     string
	EventState  rules.EventState
	Fingerprint rules.Fingerprint
	Updated     time.Time
	WatchLive   bool // a watch channel of the calendar lives
	Confirmed   bool // a person confirmed that the event is gone
	// Searched reports whether an event that is Gone was searched for in its owner's other
	// calendars, all of which answered. MovedTo is where it was found, or the zero place.
	Searched bool
	MovedTo  poll.Place
	// Fence is that of the sync run; after another run began it is refused with ErrFenced.
	Fence int64
	// Fresh reports whether the event was fetched individually, and not listed.
	Fresh bool
	// Own marks the answer to a write of ours: no sync run vouches for it, its `updated` does.
	Own   bool
	Cause Cause
	// Who is the person whose command it is; "" for the calendar.
	Who string
}

// ErrFenced says that another sync run began since: this one may commit nothing more.
var ErrFenced = fault.New(fault.Conflict, "another sync run of this calendar began since")

// Applied is the outcome of an observation.
type Applied struct {
	PollID   string // "" where no poll follows the event
	Decision rules.Decision
	// Unsearched reports whether the event would cancel its poll and was not searched for in other
	// calendars yet: nothing was written. Search, then apply it again (ObservedEvent.Searched).
	Unsearched bool
}

// Apply decides what an observation means for the poll that follows the event, and applies it
// in one transaction. An event that no poll follows is skipped. Applying the same observation
// again changes nothing.
func (s *Service) Apply(ctx context.Context, observed ObservedEvent) (result Applied, err error) {
	var before poll.Poll
	err = s.change(ctx, s.Store.Run, observed.Cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		result, before = Applied{}, poll.Poll{}
		st, err := followed(ctx, tx, observed)
		if err != nil {
			return nil, err
		}
		if st.Entry == nil {
			return s.deferIfPending(ctx, tx, st, observed)
		}
		observed := observed
		observed.MovedTo, err = unlessTaken(ctx, tx, observed, st.Poll.ID)
		if err != nil {
			return nil, err
		}
		result.PollID, result.Decision.Action, before = st.Poll.ID, rules.Nothing, st.Poll
		step := s.step(st, observed.Cause)
		if !observed.Own || !observed.Updated.IsZero() ||
			observed.Searched { // else nothing vouches for it, and the sync asked for below reads it
			decision, entry := s.decide(st, observed)
			result.Decision, result.Unsearched = decision, observed.mayHaveMoved(decision)
			if result.Unsearched {
				return nil, nil
			}
			if err := loadDecided(ctx, tx, &step.State, decision, entry); err != nil {
				return nil, err
			}
			step.Observe(decision, entry)
			if observed.Own && decision.Action == rules.Restore {
				once(step, observed.Cause)
			}
		}
		if observed.Own && result.Decision.Action != rules.MoveCalendar {
			step.Ask(observed.EventID)
		}
		return step, nil
	})
	if err != nil {
		return Applied{}, pollError(result.PollID, "apply "+observed.Cause.Trigger, err)
	}
	s.logApplied(ctx, before, result, observed)
	if result.Decision.Action == rules.MoveCalendar {
		s.watchSoon(ctx, result.PollID, observed.MovedTo, observed.Cause)
	}
	return result, nil
}

// loadDecided reads what a decision needs to be carried out.
func loadDecided(ctx context.Context, tx store.Tx, st *transition.State, decision rules.Decision, entry poll.JournalEntry) (err error) {
	action, p := decision.Action, st.Poll
	if action == rules.Revive {
		action = decision.Then
	}
	moved := p.Sync.Rescheduled
	switch action {
	case rules.MoveCalendar:
		to := entry.Inputs.MovedTo
		st.Next, _, err = calendars.Load(ctx, tx, to.AccountID, to.CalendarID)
		if err == nil && st.EntryPath != poll.IndexPath(st.Entry.EventID) {
			_, st.NextPath, err = poll.FindIndex(ctx, tx, to.AccountID, to.CalendarID, st.Entry.EventID)
		}
	case rules.Cancel:
		if moved != nil {
			st.Original, err = poll.LoadSlot(ctx, tx, p.ID, moved.FromSlotID)
		}
	case rules.Reschedule:
		st.Votes, err = poll.LoadVotes(ctx, tx, p.ID)
	case rules.Restore:
		st.Original, err = poll.LoadSlot(ctx, tx, p.ID, moved.FromSlotID)
		if err != nil {
			return err
		}
		st.Snapshot, err = poll.LoadSnapshot(ctx, tx, p.ID, moved.SnapshotID)
		if err != nil {
			return err
		}
		st.Group, err = poll.LoadGroup(ctx, tx, p.GroupID)
		if err != nil {
			return err
		}
		st.Votes, err = poll.LoadVotes(ctx, tx, p.ID)
	}
	return err
}

// followed reads the poll that follows an observed event, and what its decision depends on; a
// state without an entry where none does. ErrFenced: another sync run began since.
// editedError: the poll has to be repaired first (afterEdits).
func followed(ctx context.Context, tx store.Tx, observed ObservedEvent) (st transition.State, err error) {
	st.Entry, st.EntryPath, err = poll.FindIndex(ctx, tx, observed.AccountID, observed.CalendarID, observed.EventID)
	if err != nil {
		return st, err
	}
	st.Calendar, _, err = calendars.Load(ctx, tx, observed.AccountID, observed.CalendarID)
	if err != nil {
		return st, err
	}
	if !observed.Own && !st.Calendar.Holds(observed.Fence) {
		return st, ErrFenced
	}
	if st.Entry == nil {
		return st, nil
	}
	st.Poll, err = poll.Load(ctx, tx, st.Entry.PollID)
	if fault.Is(err, fault.NotFound) {
		// Deleted directly, and no document change was reported yet: the
		// creator's settings say what becomes of its event (Reconcile).
		return st, &editedError{st.Entry.PollID}
	}
	if err == nil {
		err = loadPast(ctx, tx, &st)
	}
	if err == nil && st.Recreated() {
		return st, &editedError{st.Poll.ID} // the entry is of a deleted poll of its id
	}
	if err == nil {
		err = checkEdits(st.Poll)
	}
	if err == nil {
		err = loadSlots(ctx, tx, &st)
	}
	if err == nil && st.Poll.Status != rules.Archived && st.Awaiting() && st.Poll.SlotsEdited(st.Winning, st.Original) {
		err = &editedError{st.Poll.ID}
	}
	return st, err
}

// decide asks the rules about an observation of the event that a poll follows,
// and gives the journal's line of it.
func (s *Service) decide(st transition.State, observed ObservedEvent) (rules.Decision, poll.JournalEntry) {
	observation := rules.Observation{
		Link: st.Entry.Link(), EventState: observed.EventState, Fingerprint: observed.Fingerprint, Updated: observed.Updated,
		AccountLive: true, WatchLive: observed.WatchLive, Confirmed: observed.Confirmed,
		Fresh: observed.Fresh, Asked: observed.Who != "",
		Elsewhere: observed.MovedTo != poll.Place{},
	}
	state, now := st.Rules(), store.Instant(s.Now())
	decision := rules.Decide(state, observation, now)
	return decision, entryOf(state, observation, decision, now, observed)
}

// deferIfPending defers an event of ours that no poll follows yet: where its insert is under
// way, this change would be lost with the sync token.
func (s *Service) deferIfPending(ctx context.Context, tx store.Tx, st transition.State, observed ObservedEvent) (*transition.Step, error) {
	intent, err := poll.LoadIntent(ctx, tx, poll.IntentID(observed.AccountID, observed.CalendarID, observed.EventID))
	if err != nil || intent == nil || intent.Kind != poll.IntentInsert {
		return nil, err
	}
	step := s.step(st, observed.Cause)
	step.Defer(observed.EventID)
	return step, nil
}

// entryOf is the journal's entry of a decision, with all that it was made on.
func entryOf(
	state rules.Poll, observation rules.Observation, decision rules.Decision, now time.Time, observed ObservedEvent,
) poll.JournalEntry {
	reason := decision.Row
	if decision.Action == rules.Revive {
		reason += ": " + decision.ThenRow
	}
	return poll.JournalEntry{
		Trace: observed.Cause.Trace, Trigger: observed.Cause.Trigger, Who: observed.Who, Decision: decision.Action, Reason: reason,
		EventState: transition.EventStateName(observed.EventState), Fingerprint: observed.Fingerprint, Updated: observed.Updated,
		Fence:   observed.Fence,
		EventID: observed.EventID, CalendarID: observed.CalendarID, AccountID: observed.AccountID,
		Before: state.Applied, After: observed.Fingerprint,
		Inputs: &poll.Inputs{
			Now: now, Winning: state.Winning, Original: state.Original, Timely: state.Timely, MovedAt: state.MovedAt, FinalizedAt: state.FinalizedAt,
			WatchLive: observation.WatchLive, Confirmed: observation.Confirmed, MovedTo: observed.MovedTo,
		},
	}
}

// logApplied logs and counts a transition.
func (s *Service) logApplied(ctx context.Context, before poll.Poll, result Applied, observed ObservedEvent) {
	if result.PollID == "" || result.Unsearched || !result.Decision.Changes() { // no poll of ours, or nothing became of it
		return
	}
	s.meterApplied(result, observed)
	s.Log.InfoContext(ctx, "poll "+string(result.Decision.Action),
		"poll", result.PollID, "event", observed.EventID, "user_id", before.CreatorID,
		"old", before.Sync.Applied.String(), "new", observed.Fingerprint.String(),
		"row", result.Decision.Row, "hint", observed.Cause.Trigger, "trace", observed.Cause.Trace)
}
