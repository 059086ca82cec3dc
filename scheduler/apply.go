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

// Observed is what a look saw of one event.
type Observed struct {
	AccountID   string
	CalendarID  string
	EventID     string
	Seen        rules.Seen
	Fingerprint rules.Fingerprint
	Updated     time.Time
	WatchLive   bool // a watch channel of the calendar lives
	Confirmed   bool // a person confirmed that the event is gone
	// Searched tells of an event that is Gone that it was looked for in the other
	// calendars of its owner, each of which answered; MovedTo is where it was
	// found, the zero place where it is in none.
	Searched bool
	MovedTo  poll.Place
	// Fence is that of the look; what a look does after another began is
	// refused with ErrFenced.
	Fence int64
	// Fresh tells that the event was fetched by itself, and not listed.
	Fresh bool
	// Own marks the answer to a write of ours: no look vouches for it, its
	// `updated` does.
	Own   bool
	Cause Cause
	// Who is the person whose command it is; "" for the calendar.
	Who string
}

// ErrFenced says that another look began since: whatever this one still holds
// is worth nothing.
var ErrFenced = fault.New(fault.Conflict, "another look at this calendar began meanwhile")

// Applied is what became of an observation.
type Applied struct {
	PollID   string // "" where no poll follows the event
	Decision rules.Decision
	// Unsearched tells that the event would cancel its poll and was not looked for
	// in other calendars yet: nothing was written. Apply it again once it was
	// (Observed.Searched).
	Unsearched bool
}

// Apply decides what an observation means for the poll that follows the event,
// and does it: one transaction for poll, slots, snapshot, index, journal and
// the announcement due. An event that no poll follows is passed over. Applying
// the same observation again changes nothing.
func (s *Service) Apply(ctx context.Context, seen Observed) (result Applied, err error) {
	err = s.afterEdits(ctx, seen.Cause, func() error {
		result, err = s.applyOnce(ctx, seen)
		return err
	})
	return result, err
}

func (s *Service) applyOnce(ctx context.Context, seen Observed) (Applied, error) {
	var result Applied
	var due *announcement
	var before poll.Poll
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		result, due, before = Applied{}, nil, poll.Poll{}
		st, err := followed(ctx, tx, seen)
		if err != nil || st.entry == nil {
			return err
		}
		seen := seen
		if seen.MovedTo, err = unlessTaken(ctx, tx, seen, st.poll.ID); err != nil {
			return err
		}
		decision := rules.Decision{Action: rules.Nothing}
		result.PollID, result.Decision = st.poll.ID, decision
		if !seen.Own || !seen.Updated.IsZero() || seen.Searched { // else nothing vouches for it, and the sync asked for below reads it
			var line poll.Entry
			decision, line = s.decide(st, seen)
			result, before = Applied{PollID: st.poll.ID, Decision: decision}, st.poll
			if result.Unsearched = seen.mayHaveMoved(decision); result.Unsearched {
				return nil
			}
			due, err = s.applyDecision(ctx, tx, st, decision, line)
		}
		if err != nil || !seen.Own || decision.Action == rules.MoveCalendar {
			return err
		}
		// What a command saw, a look may have overtaken: the event could have
		// been moved and looked at since. The next look asks for it again.
		return tx.Merge(calendars.Path(st.calendar.Key), st.calendar.RequestFetch(seen.EventID)...)
	})
	if err != nil {
		return Applied{}, pollError(result.PollID, "apply "+seen.Cause.Hint, err)
	}
	s.logApplied(ctx, before, result, seen)
	s.announceSoon(ctx, due, seen.Cause.Trace)
	if result.Decision.Action == rules.MoveCalendar {
		s.watchSoon(ctx, result.PollID, seen.MovedTo, seen.Cause)
	}
	return result, nil
}

// followed reads the poll that follows an observed event, and what its decision
// depends on; a state without an entry where none does, and then the event is
// deferred if its insert is under way. ErrFenced: another look began since. An
// editedError asks for a repair first (afterEdits).
func followed(ctx context.Context, tx store.Tx, seen Observed) (st state, err error) {
	if st.entry, st.entryPath, err = poll.FindIndex(ctx, tx, seen.AccountID, seen.CalendarID, seen.EventID); err != nil {
		return st, err
	}
	if st.calendar, _, err = calendars.Load(ctx, tx, seen.AccountID, seen.CalendarID); err != nil {
		return st, err
	}
	if !seen.Own && !st.calendar.Holds(seen.Fence) {
		return st, ErrFenced
	}
	if st.entry == nil {
		return st, parkIfPending(ctx, tx, seen, st.calendar)
	}
	st.poll, err = poll.Load(ctx, tx, st.entry.PollID)
	if fault.Is(err, fault.NotFound) {
		// Deleted directly, and no document change was reported yet: the
		// creator's settings say what becomes of its event (mendGone).
		return st, &editedError{st.entry.PollID}
	}
	if err == nil {
		err = st.past(ctx, tx)
	}
	if err == nil && st.recreated() {
		return st, &editedError{st.poll.ID} // the entry is of a deleted poll of its id
	}
	if err == nil {
		err = checkEdits(st.poll)
	}
	if err == nil {
		err = st.loadSlots(ctx, tx)
	}
	if err == nil && st.poll.Status != rules.Archived && st.awaiting() && st.poll.SlotsEdited(st.winning, st.original) {
		err = &editedError{st.poll.ID}
	}
	return st, err
}

// decide asks the rules about an observation of the event that a poll follows,
// and gives the journal's line of it.
func (s *Service) decide(st state, seen Observed) (rules.Decision, poll.Entry) {
	observation := rules.Observation{
		Link: st.entry.Link(), Seen: seen.Seen, Fingerprint: seen.Fingerprint, Updated: seen.Updated,
		AccountLive: true, WatchLive: seen.WatchLive, Confirmed: seen.Confirmed,
		Fresh: seen.Fresh, Asked: seen.Who != "",
		Elsewhere: seen.MovedTo != poll.Place{},
	}
	stands, now := st.rules(), store.Instant(s.Now())
	decision := rules.Decide(stands, observation, now)
	return decision, entryOf(stands, observation, decision, now, seen)
}

// parkIfPending is for an event under our prefix that no poll follows yet: where
// its insert is under way, this change would be lost with the sync token, so it
// is asked for by itself once it is linked.
func parkIfPending(ctx context.Context, tx store.Tx, seen Observed, calendar calendars.Calendar) error {
	intent, err := poll.LoadIntent(ctx, tx, poll.IntentID(seen.AccountID, seen.CalendarID, seen.EventID))
	if err != nil || intent == nil || intent.Kind != poll.IntentInsert {
		return err
	}
	return tx.Merge(calendars.Path(calendar.Key), calendars.Defer(seen.EventID, calendars.DeferredRace))
}

// dropEntry removes the index entry of an event that is not followed any more.
func dropEntry(tx store.Tx, path store.Path, calendar calendars.Calendar, entry poll.IndexEntry) error {
	if err := tx.Delete(path); err != nil {
		return err
	}
	return tx.Merge(calendars.Path(calendar.Key), calendar.Unlink(entry.EventID)...)
}

// entryOf is the journal's entry of a decision, with all that it was made on.
func entryOf(stands rules.Poll, observed rules.Observation, decision rules.Decision, now time.Time, seen Observed) poll.Entry {
	reason := decision.Row
	if decision.Action == rules.Revive {
		reason += ": " + decision.ThenRow
	}
	return poll.Entry{
		Trace: seen.Cause.Trace, Hint: seen.Cause.Hint, Who: seen.Who, Decision: decision.Action, Reason: reason,
		Seen: seenName(seen.Seen), Fingerprint: seen.Fingerprint, Updated: seen.Updated, Fence: seen.Fence,
		EventID: seen.EventID, CalendarID: seen.CalendarID, AccountID: seen.AccountID,
		Before: stands.Applied, After: seen.Fingerprint,
		Inputs: &poll.Inputs{
			Now: now, Winning: stands.Winning, Original: stands.Original, Timely: stands.Timely, MovedAt: stands.MovedAt, FinalizedAt: stands.FinalizedAt,
			WatchLive: observed.WatchLive, Confirmed: observed.Confirmed, MovedTo: seen.MovedTo,
		},
	}
}

// applyDecision writes what a decision does, and asks for its announcement.
func (s *Service) applyDecision(ctx context.Context, tx store.Tx, st state, decision rules.Decision, entry poll.Entry) (*announcement, error) {
	switch decision.Action {
	case rules.MoveCalendar:
		return nil, s.applyMoveCalendar(ctx, tx, st, decision, entry)
	case rules.Cancel:
		return s.applyCancel(ctx, tx, st, entry)
	case rules.Revive:
		return s.applyRevive(ctx, tx, st, decision, entry)
	case rules.Reschedule:
		return s.applyReschedule(ctx, tx, st, decision, entry)
	case rules.RescheduleAgain:
		return s.applyRescheduleAgain(tx, st, decision, entry)
	case rules.Restore:
		return s.applyRestore(ctx, tx, st, decision, entry)
	case rules.Adopt:
		return s.applyAdopt(tx, st, decision, entry)
	case rules.Warn, rules.Clear:
		return s.applyError(tx, st, decision, entry)
	case rules.Forget:
		return nil, dropEntry(tx, st.entryPath, st.calendar, *st.entry)
	case rules.Record:
		return nil, s.note(tx, st, entry)
	default:
		return nil, nil
	}
}

func seenName(seen rules.Seen) string {
	switch seen {
	case rules.Present:
		return "present"
	case rules.Gone:
		return "gone"
	case rules.Series:
		return "series"
	default:
		return "unreadable"
	}
}

// logApplied writes the one line that a transition has in the log, and counts it.
func (s *Service) logApplied(ctx context.Context, before poll.Poll, result Applied, seen Observed) {
	if result.PollID == "" || result.Unsearched || !result.Decision.Changes() { // no poll of ours, or nothing became of it
		return
	}
	s.meterApplied(result, seen)
	s.Log.InfoContext(ctx, "poll "+string(result.Decision.Action),
		"poll", result.PollID, "event", seen.EventID, "userId", before.CreatorID,
		"old", before.Sync.Applied.String(), "new", seen.Fingerprint.String(),
		"row", result.Decision.Row, "hint", seen.Cause.Hint, "trace", seen.Cause.Trace)
}
