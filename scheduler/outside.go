package scheduler

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Reconcile sets a poll and its link right after somebody wrote its document
// directly, as the web app does for its own cancel, restore, reopen and delete. What
// was written is never thrown away:
// it is carried through, and journaled as the outside edit that it was. Nothing
// happens where poll, index and journal agree. (What a crash of ours leaves is an
// intent: see drain.go.)
//
// Three things bring a poll here: the sweep, a hint about the document, and
// afterEdits.
func (s *Service) Reconcile(ctx context.Context, pollID string, cause Cause) (rules.Mending, error) {
	mending, err := s.reconcile(ctx, pollID, cause)
	second := rules.MendNothing
	if err == nil && mending == rules.MendRecreated {
		err = s.purgeNow(ctx, pollID)
	}
	if err == nil && (mending == rules.MendUnlink || mending == rules.MendRecreated) {
		// It may name another event by now, to be followed at once, or was edited
		// since it was made.
		second, err = s.reconcile(ctx, pollID, cause)
	}
	if cause.looksAfter(mending) || cause.looksAfter(second) {
		s.lookAtItsEvent(ctx, pollID, cause)
	}
	return mending, err
}

// looksAfter tells whether a mending asked for a look that is handed over at once.
func (c Cause) looksAfter(mending rules.Mending) bool {
	switch mending {
	case rules.MendRestore, rules.MendUnlink, rules.MendLink, rules.MendNote:
		return !c.quietly(mending)
	}
	return false
}

// quietly tells whether a mending is left at what it writes.
func (c Cause) quietly(mending rules.Mending) bool { return c.Quiet && mending == rules.MendLink }

// lookAtItsEvent hands the look over that a mending asked for. Where it fails,
// the drain does.
func (s *Service) lookAtItsEvent(ctx context.Context, pollID string, cause Cause) {
	entries, _, err := poll.IndexesOf(ctx, s.Store, pollID)
	if err != nil {
		s.Log.WarnContext(ctx, "the look is left to the drain", "poll", pollID, "trace", cause.Trace, "error", err)
		return
	}
	for _, entry := range entries {
		s.lookSoon(ctx, entry.AccountID, entry.CalendarID, cause)
	}
}

// reconcile sets one thing right.
func (s *Service) reconcile(ctx context.Context, pollID string, cause Cause) (rules.Mending, error) {
	account, calendarID, err := s.outsideAccount(ctx, pollID)
	if err != nil {
		return rules.MendNothing, pollError(pollID, "reconcile", err)
	}
	var done handover
	var mending rules.Mending
	var edited poll.Poll
	var card bool
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		done, mending, card = handover{}, rules.MendNothing, false
		st, exists, err := loadOutside(ctx, tx, pollID)
		if err != nil {
			return err
		}
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil {
			return err
		}
		edited = st.poll
		mending, err = s.mend(ctx, tx, st, exists, account, calendarID, &done, cause)
		if err == nil && exists && mending != rules.MendRecreated { // the new poll's names are read once the old one's are gone
			err = writeNamed(tx, announcement, pollID, s.named(announcement, edited))
		}
		// Where people are told, it is drawn then; purging takes away what is owed.
		card = isEdit(mending) && mending != rules.MendRecreated && done.due == nil && !cause.quietly(mending)
		if err != nil || !card {
			return err
		}
		return oweCard(tx, edited)
	})
	if err != nil {
		return rules.MendNothing, pollError(pollID, "reconcile", err)
	}
	if isEdit(mending) {
		s.Meter.Count(Repaired{mending})
		s.Log.InfoContext(ctx, "direct edit set right", "poll", pollID, "userId", edited.CreatorID, "mending", string(mending), "trace", cause.Trace)
		s.handOver(ctx, done, cause)
		if card {
			s.cardSoon(ctx, edited, string(mending)+"/"+store.Instant(s.Now()).String(), cause)
		}
	}
	return mending, nil
}

// isEdit tells a mending of a direct edit from what nobody did.
func isEdit(mending rules.Mending) bool {
	return mending != rules.MendNothing && mending != rules.MendForget
}

// mend does what sets one thing right, and gives what that was.
func (s *Service) mend(ctx context.Context, tx store.Tx, st state, exists bool, account, calendarID string, done *handover, cause Cause) (mending rules.Mending, err error) {
	switch mending = rules.Mend(st.documents(exists, s.Now())); mending {
	case rules.MendGone, rules.MendRecreated:
		gone := st
		gone.poll = poll.Poll{ID: st.poll.ID} // of the one that is meant, its link alone is left
		if mending == rules.MendGone {
			if gone.latest, err = poll.Latest(ctx, tx, st.poll.ID); err != nil {
				return mending, err
			}
		}
		creator, err := poll.LoadCreator(ctx, tx, gone.creator())
		if err != nil {
			return mending, err
		}
		return mending, s.mendGone(tx, gone, creator, done, cause)
	case rules.MendCancel:
		creator, err := poll.LoadCreator(ctx, tx, st.creator())
		if err != nil {
			return mending, err
		}
		return mending, s.mendCancel(tx, st, creator, account, done, cause)
	case rules.MendReopen:
		return mending, s.mendReopen(tx, st, done, cause)
	case rules.MendUnlink:
		return mending, s.mendUnlink(tx, st, done, cause)
	case rules.MendRestore:
		return mending, s.mendRestore(ctx, tx, st, account, calendarID, done, cause)
	case rules.MendLink:
		linked, err := s.mendLink(ctx, tx, st, account, calendarID, cause)
		if err != nil || linked {
			return mending, err
		}
		if !st.poll.EditedDirectly() {
			return rules.MendNothing, nil
		}
		return rules.MendNote, s.mendNote(tx, st, cause)
	case rules.MendForget:
		return mending, mendForget(tx, st)
	case rules.MendSlots:
		return mending, s.mendSlots(tx, st, cause)
	case rules.MendNote:
		return mending, s.mendNote(tx, st, cause)
	default:
		return mending, nil
	}
}

// outsideAccount finds, before the transaction, the account of an event that
// the poll names and the index does not know.
func (s *Service) outsideAccount(ctx context.Context, pollID string) (account, calendarID string, err error) {
	p, err := poll.Load(ctx, s.Store, pollID)
	if fault.Is(err, fault.NotFound) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil || entry != nil {
		return "", "", err
	}
	return s.legacyAccount(ctx, p)
}

// loadOutside reads a poll with whatever entry the index holds for it, whether
// or not that is for the event the poll names.
func loadOutside(ctx context.Context, tx store.Tx, pollID string) (st state, exists bool, err error) {
	p, err := poll.Load(ctx, tx, pollID)
	if exists = err == nil; err != nil && !fault.Is(err, fault.NotFound) {
		return state{}, false, err
	}
	p.ID = pollID
	st.poll = p
	if err := st.loadSlots(ctx, tx); err != nil {
		return state{}, false, err
	}
	if st.intents, err = poll.IntentsOf(ctx, tx, pollID); err != nil {
		return state{}, false, err
	}
	if exists && p.Pristine() {
		if st.latest, err = poll.Latest(ctx, tx, pollID); err != nil || p.EventID() == "" && st.latest == nil && len(st.intents) == 0 {
			return st, true, err // an index entry would have an entry of the journal
		}
	}
	entries, paths, err := poll.IndexesOf(ctx, tx, pollID)
	if err != nil {
		return state{}, false, err
	}
	for i := range entries {
		if st.entry == nil || entries[i].EventID != p.EventID() { // one that does not fit is set right first
			st.entry, st.entryPath = &entries[i], paths[i]
		}
	}
	if st.entry != nil {
		if st.calendar, _, err = calendars.Load(ctx, tx, st.entry.AccountID, st.entry.CalendarID); err != nil {
			return state{}, false, err
		}
	}
	if exists {
		st.countOn()
		return st, true, nil
	}
	st.left, err = poll.Left(ctx, tx, pollID, st.purging())
	return st, false, err
}

// purging tells whether what is below the poll is being removed.
func (st state) purging() bool {
	return slices.ContainsFunc(st.intents, func(i poll.Intent) bool { return i.Kind == poll.IntentPurge })
}

// creator is who made the poll, also where only its link is left.
func (st state) creator() string {
	if st.poll.CreatorID == "" && st.entry != nil {
		return st.entry.CreatorID
	}
	return st.poll.CreatorID
}

// Agrees tells that Reconcile would find nothing to do for a poll, by what the
// poll and an index entry that names it say alone. false means that it may: they
// stand otherwise to each other, or the session is over for so long that its slot
// has to be asked whether the event is to be followed on.
func Agrees(p poll.Poll, entry poll.IndexEntry, now time.Time) bool {
	if entry.PollID != p.ID || entry.EventID != p.EventID() {
		return false
	}
	// Without its slots a session that is over may yet be to come.
	stands := p.Rules("", nil, nil)
	if p.Status == rules.Finalized && (stands.Applied.IsZero() || stands.Over(now, rules.ForgetAfter)) {
		return false
	}
	return rules.Mend(state{poll: p, entry: &entry}.documents(true, now)) == rules.MendNothing
}

// awaiting tells whether the index entry is for the event that the poll awaits.
func (st state) awaiting() bool {
	awaited := st.poll.Sync.Awaited
	return awaited != nil && st.poll.GoogleEventID == "" && st.entry != nil && st.entry.EventID == awaited.Link.Event
}

// documents is how poll and index stand to each other.
func (st state) documents(exists bool, now time.Time) rules.Documents {
	p := st.poll
	return rules.Documents{
		Exists: exists, Left: st.left, Recreated: exists && st.recreated(), Status: p.Status, State: p.Sync.State, HasEvent: p.GoogleEventID != "",
		HasEntry: st.entry != nil, Fits: st.entry != nil && st.entry.EventID == p.EventID(),
		EntryAwaited: st.entry != nil && st.entry.Awaited, Awaiting: st.awaiting(), AwaitOver: st.awaiting() && now.After(p.Sync.Awaited.Until), SlotsEdited: p.SlotsEdited(st.winning, st.original),
		Rescheduled: p.Sync.Rescheduled != nil, Marked: p.MarkedCancelled(), Cancelled: p.Cancelled != nil && p.Sync.Cancelled != nil,
		Inserting: st.pendingInsert() != nil, LongPast: st.rules().Over(now, rules.ForgetAfter), Edited: p.EditedDirectly(),
	}
}
