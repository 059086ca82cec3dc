package scheduler

import (
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// applyReschedule makes the calendar's time a slot and lets it win; what was
// before goes into a snapshot.
func (s *Service) applyReschedule(ctx context.Context, tx store.Tx, st state, decision rules.Decision, entry poll.Entry) (*announcement, error) {
	votes, err := poll.LoadVotes(ctx, tx, st.poll.ID)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	slot := poll.SlotAt(s.IDs.UUID(), entry.Fingerprint)
	snapshot := poll.Snapshot{
		ID: s.IDs.UUID(), CreatedAt: now, ExpiresAt: now.Add(s.SnapshotKeep), WinningSlotID: st.poll.WinningSlotID,
		Participants: st.poll.ParticipantIDs, PendingInvites: st.poll.PendingInvites, Votes: votes,
	}
	after := st.poll
	after.WinningSlotID = slot.ID
	moved := poll.Rescheduled{FromSlotID: st.poll.WinningSlotID, ToSlotID: slot.ID, SnapshotID: snapshot.ID, At: now}
	after.Sync.Rescheduled = moved.MovedTo(entry.Fingerprint, now)
	if err := tx.Create(poll.SlotPath(after.ID, slot.ID), poll.EncodeSlot(slot)); err != nil {
		return nil, err
	}
	if err := tx.Create(poll.SnapshotPath(after.ID, snapshot.ID), poll.EncodeSnapshot(snapshot)); err != nil {
		return nil, err
	}
	return s.writeTransition(tx, st, after, decision, entry, &slot, true)
}

// applyRescheduleAgain moves the calendar slot; the first snapshot and the
// original slot stay what they are.
func (s *Service) applyRescheduleAgain(tx store.Tx, st state, decision rules.Decision, entry poll.Entry) (*announcement, error) {
	moved := st.poll.Sync.Rescheduled.MovedTo(entry.Fingerprint, s.Now())
	slot := poll.SlotAt(moved.ToSlotID, entry.Fingerprint)
	after := st.poll
	after.WinningSlotID, after.Sync.Rescheduled = slot.ID, moved
	var err error
	if st.winning != nil && st.winning.ID == slot.ID {
		err = tx.Update(poll.SlotPath(after.ID, slot.ID), poll.MoveSlot(entry.Fingerprint)...)
	} else { // taken away behind our back
		err = tx.Set(poll.SlotPath(after.ID, slot.ID), poll.EncodeSlot(slot))
	}
	if err != nil {
		return nil, err
	}
	return s.writeTransition(tx, st, after, decision, entry, &slot, true)
}

// applyRestore lets the original slot win again and removes the calendar's.
// Votes that vanished from people who still take part come back; nothing that
// people wrote meanwhile is overwritten.
func (s *Service) applyRestore(ctx context.Context, tx store.Tx, st state, decision rules.Decision, entry poll.Entry) (*announcement, error) {
	moved := st.poll.Sync.Rescheduled
	original, err := poll.LoadSlot(ctx, tx, st.poll.ID, moved.FromSlotID)
	if err != nil {
		return nil, err
	}
	snapshot, err := poll.LoadSnapshot(ctx, tx, st.poll.ID, moved.SnapshotID)
	if err != nil {
		return nil, err
	}
	group, err := poll.LoadGroup(ctx, tx, st.poll.GroupID)
	if err != nil {
		return nil, err
	}
	votes, err := poll.LoadVotes(ctx, tx, st.poll.ID)
	if err != nil {
		return nil, err
	}
	if original == nil { // taken away behind our back: the baseline is its time
		slot := poll.SlotAt(moved.FromSlotID, st.poll.Sync.Baseline)
		slot.Source, slot.CreatedBy = poll.SourcePoll, ""
		original = &slot
		if err := tx.Create(poll.SlotPath(st.poll.ID, slot.ID), poll.EncodeSlot(slot)); err != nil {
			return nil, err
		}
	}
	if err := tx.Delete(poll.SlotPath(st.poll.ID, moved.ToSlotID)); err != nil {
		return nil, err
	}
	for _, vote := range vanished(snapshot, votes, st.poll.People(group)) {
		vote.UpdatedAt = s.Now() // snapshots do not keep it
		if err := tx.Create(poll.VotePath(st.poll.ID, vote.UserID), poll.EncodeVote(vote)); err != nil {
			return nil, err
		}
	}
	after := st.poll
	after.WinningSlotID, after.Sync.Rescheduled = original.ID, nil
	return s.writeTransition(tx, st, after, decision, entry, original, true)
}

// vanished are the votes of a snapshot whose voters still take part and have
// none any more.
func vanished(snapshot *poll.Snapshot, votes []poll.Vote, people []string) []poll.Vote {
	if snapshot == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(snapshot.Votes), func(old poll.Vote) bool {
		return old.UserID == "" || !slices.Contains(people, old.UserID) ||
			slices.ContainsFunc(votes, func(vote poll.Vote) bool { return vote.UserID == old.UserID })
	})
}

// applyAdopt takes the event's time as the baseline of a poll that was linked
// before this backend. Nothing is announced: people know the time.
func (s *Service) applyAdopt(tx store.Tx, st state, decision rules.Decision, entry poll.Entry) (*announcement, error) {
	after := st.poll
	after.Sync.Baseline = entry.Fingerprint
	if decision.Drift {
		entry.Reason += ": the event does not start where the slot does"
	}
	return s.writeTransition(tx, st, after, decision, entry, st.winning, false)
}

// note writes an entry about an event that decides nothing any more: once for
// each time that it looks otherwise than before, however often that is seen.
func (s *Service) note(tx store.Tx, st state, entry poll.Entry) error {
	looks := func(seen string, at rules.Fingerprint) string { return entry.EventID + "|" + seen + "|" + at.String() }
	before := st.poll.Sync.Recorded
	if !strings.HasPrefix(before.Noted, entry.EventID+"|") { // of an earlier event
		before.Noted, before.NotedUpdated = looks(seenName(rules.Present), st.poll.Sync.Applied), time.Time{}
	}
	now := looks(entry.Seen, entry.Fingerprint)
	older := entry.Seen != seenName(rules.Gone) && rules.Older(entry.Updated, before.NotedUpdated)
	if now == before.Noted || older {
		return nil
	}
	after := st.poll
	after.Sync.Recorded.Noted, after.Sync.Recorded.NotedUpdated = now, rules.Newest(before.NotedUpdated, entry.Updated)
	entry.After = st.poll.Sync.Applied
	_, err := s.record(tx, entry, outcome{poll: after, winning: st.winning}, "", false)
	return err
}

// applyError writes an error that is set or over, and the state that goes with
// it.
func (s *Service) applyError(tx store.Tx, st state, decision rules.Decision, entry poll.Entry) (*announcement, error) {
	entry.After = st.poll.Sync.Applied
	return s.writeTransition(tx, st, st.poll, decision, entry, st.winning, false)
}

// writeTransition writes a poll after a transition by the calendar. after lacks only what the decision gives: state, error, and
// what was applied.
func (s *Service) writeTransition(tx store.Tx, st state, after poll.Poll, decision rules.Decision, entry poll.Entry, winning *poll.Slot, announce bool) (*announcement, error) {
	now := s.Now()
	after.Sync.State, after.Sync.Applied, after.Sync.LastSyncedAt = decision.State, entry.After, now
	after.UpdatedAt = now
	after.Sync.Observed = rules.Newest(st.poll.Sync.Observed, entry.Updated)
	if st.revival != nil {
		if err := st.revival.write(tx, st); err != nil {
			return nil, err
		}
	}
	if standing := st.poll.Sync.Error; decision.Error == "" {
		after.Sync.Error = nil
	} else if standing == nil || standing.Code != decision.Error {
		after.Sync.Error = syncError(decision.Error, now)
	}
	return s.record(tx, entry, outcome{after, winning}, after.CreatorID, announce || st.revival != nil)
}
