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

// Reconcile repairs a poll and its link after somebody wrote its document directly, as the web
// app does to cancel, restore, reopen and delete. The edit is carried through and journaled,
// never thrown away. Nothing happens where poll, index and journal agree. The sweep, document
// changes and afterEdits call it.
func (s *Service) Reconcile(ctx context.Context, pollID string, cause Cause) (rules.Repair, error) {
	repair, err := s.reconcile(ctx, pollID, cause)
	second, again := rules.RepairNothing, repair == rules.RepairUnlink
	if err == nil && repair == rules.RepairRecreated {
		again, err = s.purgeNow(ctx, pollID)
	}
	if err == nil && again {
		// It may name another event by now, to be followed at once, or was edited
		// since it was made.
		second, err = s.reconcile(ctx, pollID, cause)
	}
	if cause.syncsAfter(repair) || cause.syncsAfter(second) {
		s.syncItsEvent(ctx, pollID, cause)
	}
	return repair, err
}

// syncsAfter reports whether a repair asked for a sync that is woken at once.
func (c Cause) syncsAfter(repair rules.Repair) bool {
	switch repair {
	case rules.RepairRestore, rules.RepairUnlink, rules.RepairLink, rules.RepairRecord:
		return !c.quietly(repair)
	}
	return false
}

// quietly reports whether a repair only writes.
func (c Cause) quietly(repair rules.Repair) bool { return c.Quiet && repair == rules.RepairLink }

// syncItsEvent wakes the sync that a repair asked for. Where it fails, the drain does.
func (s *Service) syncItsEvent(ctx context.Context, pollID string, cause Cause) {
	entries, _, err := poll.IndexesOf(ctx, s.Store, pollID)
	if err != nil {
		s.Log.WarnContext(ctx, "sync left to the drain", "poll", pollID, "trace", cause.Trace, "error", err)
		return
	}
	for _, entry := range entries {
		s.syncSoon(ctx, entry.AccountID, entry.CalendarID)
	}
}

// reconcile repairs one thing.
func (s *Service) reconcile(ctx context.Context, pollID string, cause Cause) (rules.Repair, error) {
	at, err := s.placeToRepair(ctx, pollID)
	if err != nil {
		return rules.RepairNothing, pollError(pollID, "reconcile", err)
	}
	var repair rules.Repair
	var edited poll.Poll
	err = s.transact(ctx, s.Store.Run, cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		repair = rules.RepairNothing
		st, exists, err := loadToRepair(ctx, tx, pollID)
		if err != nil {
			return nil, err
		}
		st.Announcement, err = poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil {
			return nil, err
		}
		edited = st.Poll
		repair = rules.RepairFor(st.Documents(exists, s.Now()))
		step := s.step(st, cause)
		repair, err = s.repair(ctx, tx, step, repair, at)
		if err != nil {
			return nil, err
		}
		if exists && repair != rules.RepairRecreated { // the new poll's names are read once the old one's are gone
			step.NameOnce(st.Announcement, edited)
		}
		// An announcement updates the card too; a purge removes it.
		if isEdit(repair) && repair != rules.RepairRecreated && step.Due == nil && !cause.quietly(repair) {
			step.Card = &edited
		}
		return step, nil
	})
	if err != nil {
		return rules.RepairNothing, pollError(pollID, "reconcile", err)
	}
	if isEdit(repair) {
		s.Meter.Count(Repaired{repair})
		s.Log.InfoContext(ctx, "direct edit repaired", "poll", pollID, "user_id", edited.CreatorID, "repair", string(repair),
			"trace", cause.Trace)
	}
	return repair, nil
}

// Forgotten reports whether a finalised poll without an index entry needs no repair, since its session
// is long past. false where the poll and its winning slot alone do not say so: Reconcile does.
func Forgotten(p poll.Poll, winning poll.Slot, now time.Time) bool {
	st := transition.State{Poll: p, Winning: &winning}
	known := !p.Pristine() && p.Sync.Awaited == nil && !st.Rules().AppliedLate()
	return known && st.Rules().Over(now, rules.ForgetAfter) && rules.RepairFor(st.Documents(true, now)) == rules.RepairNothing
}

// isEdit reports whether a repair is that of a direct edit.
func isEdit(repair rules.Repair) bool {
	return repair != rules.RepairNothing && repair != rules.RepairForget
}

// repair reads what a repair needs and works it out. It gives what it came to. at is where an event
// is that the index does not know.
func (s *Service) repair(
	ctx context.Context, tx store.Tx, step *transition.Step, repair rules.Repair, at poll.Place,
) (rules.Repair, error) {
	var creator poll.Creator
	var err error
	switch repair {
	case rules.RepairDeleted, rules.RepairRecreated:
		step.Poll = poll.Poll{ID: step.Poll.ID} // of the one that is meant, its link alone is left
		if repair == rules.RepairDeleted {
			step.Latest, err = poll.Latest(ctx, tx, step.Poll.ID)
			if err != nil {
				return repair, err
			}
		}
		creator, err = poll.LoadCreator(ctx, tx, step.Creator())
		if err == nil {
			step.Purge(creator.KeepsEvents)
		}
	case rules.RepairCancel:
		creator, err = poll.LoadCreator(ctx, tx, step.Creator())
		if err == nil {
			step.RepairCancel(at.AccountID, creator.KeepsEvents)
		}
	case rules.RepairReopen:
		step.RepairReopen()
	case rules.RepairUnlink:
		step.RepairUnlink()
	case rules.RepairRestore:
		follows := at.AccountID != "" && step.Entry == nil && step.Poll.GoogleEventID != "" && !step.Rules().Over(s.Now(), rules.ForgetAfter)
		if follows {
			follows, err = loadNext(ctx, tx, &step.State, at)
		}
		if err == nil {
			step.RepairRestore(follows)
		}
	case rules.RepairLink:
		free := false
		if at.AccountID != "" {
			free, err = loadNext(ctx, tx, &step.State, at)
		}
		switch {
		case err != nil:
		case free:
			step.RepairLink()
		case step.Poll.EditedDirectly():
			step.RepairNote()
			return rules.RepairRecord, nil
		default:
			return rules.RepairNothing, nil
		}
	case rules.RepairForget:
		step.RepairForget()
	case rules.RepairSlots:
		step.RepairSlots()
	case rules.RepairRecord:
		step.RepairNote()
	}
	return repair, err
}

// placeToRepair finds, before the transaction, the calendar of an event that the poll
// names and the index does not know.
func (s *Service) placeToRepair(ctx context.Context, pollID string) (at poll.Place, err error) {
	p, err := poll.Load(ctx, s.Store, pollID)
	if fault.Is(err, fault.NotFound) {
		return poll.Place{}, nil
	}
	if err != nil {
		return poll.Place{}, err
	}
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil || entry != nil {
		return poll.Place{}, err
	}
	at.AccountID, at.CalendarID, err = s.legacyAccount(ctx, p)
	return at, err
}

// loadToRepair reads a poll with whatever entry the index holds for it, whether
// or not that is for the event the poll names.
func loadToRepair(ctx context.Context, tx store.Tx, pollID string) (st transition.State, exists bool, err error) {
	p, err := poll.Load(ctx, tx, pollID)
	exists = err == nil
	if err != nil && !fault.Is(err, fault.NotFound) {
		return transition.State{}, false, err
	}
	p.ID = pollID
	st.Poll = p
	if err := loadSlots(ctx, tx, &st); err != nil {
		return transition.State{}, false, err
	}
	st.Intents, err = poll.IntentsOf(ctx, tx, pollID)
	if err != nil {
		return transition.State{}, false, err
	}
	if exists && p.Pristine() {
		st.Latest, err = poll.Latest(ctx, tx, pollID)
		if err != nil || p.EventID() == "" && st.Latest == nil && len(st.Intents) == 0 {
			return st, true, err // an index entry would have an entry of the journal
		}
	}
	entries, paths, err := poll.IndexesOf(ctx, tx, pollID)
	if err != nil {
		return transition.State{}, false, err
	}
	for i := range entries {
		if st.Entry == nil || entries[i].EventID != p.EventID() { // an entry of another event is repaired first
			st.Entry, st.EntryPath = &entries[i], paths[i]
		}
	}
	if st.Entry != nil {
		st.Calendar, _, err = calendars.Load(ctx, tx, st.Entry.AccountID, st.Entry.CalendarID)
		if err != nil {
			return transition.State{}, false, err
		}
	}
	if exists {
		st.CountOn()
		return st, true, nil
	}
	st.Left, err = poll.Left(ctx, tx, pollID, st.Purging())
	return st, false, err
}

// Agrees reports whether Reconcile has nothing to do, by the poll and an index entry that names it
// alone. false means that it may: they disagree, or the session is over for so long that its
// slots decide.
func Agrees(p poll.Poll, entry poll.IndexEntry, now time.Time) bool {
	if entry.PollID != p.ID || entry.EventID != p.EventID() {
		return false
	}
	// Without its slots a session that is over may yet be to come.
	state := p.Rules("", nil, nil)
	if p.Status == rules.Finalized && (state.Applied.IsZero() || state.Over(now, rules.ForgetAfter)) {
		return false
	}
	return rules.RepairFor(transition.State{Poll: p, Entry: &entry}.Documents(true, now)) == rules.RepairNothing
}
