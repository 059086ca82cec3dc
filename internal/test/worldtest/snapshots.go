package worldtest

import (
	"fmt"
	"reflect"
	"slices"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// snapshotChanged: a snapshot stays what it was (invariant 3), but for its end,
// which is put off while it is needed.
func (w *World) snapshotChanged(document store.Document) (problems []string) {
	before, known := w.past.snapshots[document.Path]
	if !document.Exists() {
		return nil
	}
	w.past.snapshots[document.Path] = document.Data
	same := known && !store.Fields(document.Data).Time("expiresAt").Before(store.Fields(before).Time("expiresAt"))
	for field, value := range before {
		same = same && (field == "expiresAt" || reflect.DeepEqual(value, document.Data[field]))
	}
	if known && !(same && len(before) == len(document.Data)) {
		problems = append(problems, fmt.Sprintf("the snapshot %s changed from %v to %v", document.Path, before, document.Data))
	}
	return problems
}

// snapshotLacks: a snapshot that is being written holds the poll as it was
// committed last (invariant 3): people and invitations, and each vote whole, or as
// many as fit into the document. The names of its fields are those that a restore, and the web
// app, read.
func (w *World) snapshotLacks(path store.Path, data map[string]any) (problems []string) {
	lacks := func(what string, got, want any) {
		if !reflect.DeepEqual(got, want) {
			problems = append(problems, fmt.Sprintf("the snapshot %s has %s %v, and the poll %v", path, what, got, want))
		}
	}
	holds, p := store.Fields(data), poll.Decode(w.observed.document(path.Parent()))
	lacks("the winning slot", holds.String("winningSlotId"), p.WinningSlotID)
	lacks("the participants", holds.Strings("participants"), p.ParticipantIDs)
	lacks("the invitations", holds.Strings("pendingInvites"), p.PendingInvites)
	votes, err := poll.LoadVotes(w.ctx, w.observed.stored, p.ID)
	w.must(err)
	held := holds.List("votes")
	if store.DocumentSize(path, data) > store.MaxDocument*9/10 {
		votes = slices.DeleteFunc(votes, func(vote poll.Vote) bool {
			return !slices.ContainsFunc(held, func(item any) bool {
				of, _ := item.(map[string]any)
				return store.Fields(of).String("uid") == vote.UserID
			})
		})
	}
	lacks("a number of votes", len(held), len(votes))
	for i := range min(len(held), len(votes)) {
		vote, _ := held[i].(map[string]any)
		f := store.Fields(vote)
		lacks("a vote", []string{f.String("uid"), f.String("userEmail"), f.String("userAvatar"), f.String("source"), f.String("lastVotedFrom")},
			[]string{votes[i].UserID, votes[i].Email, votes[i].Avatar, votes[i].Source, votes[i].LastVotedFrom})
		lacks("a vote that says none fits", f.Bool("noTimesWork"), votes[i].NoTimesWork)
		lacks("choices", len(f.Map("votes")), len(votes[i].Choices))
	}
	return problems
}

// rescheduleProblems: while a reschedule names a snapshot it is there, and it
// holds the winning slot of before, after any number of moves; a restore gives
// back that slot (invariant 3), until the web app finalises the poll for another one.
func (w *World) rescheduleProblems(p poll.Poll, journal []poll.JournalEntry) (problems []string) {
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("poll %s ", p.ID)+fmt.Sprintf(format, args...))
	}
	if moved := p.Sync.Rescheduled; moved != nil {
		snapshot, err := poll.LoadSnapshot(w.ctx, w.Documents, p.ID, moved.SnapshotID)
		w.must(err)
		switch {
		case snapshot == nil:
			problem("is rescheduled, and its snapshot %q is not there", moved.SnapshotID)
		case snapshot.WinningSlotID != moved.FromSlotID || moved.FromSlotID == moved.ToSlotID:
			problem("was moved from slot %s to %s, and its snapshot says from %s", moved.FromSlotID, moved.ToSlotID, snapshot.WinningSlotID)
		}
		if state := p.Sync.State; p.Linked() && state != rules.StateRescheduled && state != rules.StateError {
			problem("is rescheduled, and its sync state says %q", state)
		}
	}
	last, ok := lastTransition(journal)
	if !ok || last.Decision != rules.Restore || last.Generation != p.Sync.Generation || !w.once(last) {
		return problems
	}
	if p.Status != rules.Finalized || p.Sync.Rescheduled != nil {
		problem("was restored, but stands as %s, rescheduled %v", p.Status, p.Sync.Rescheduled)
	}
	before := w.newestSnapshot(p.ID)
	if before == nil { // taken away, or expired
		return problems
	}
	if p.WinningSlotID != before.WinningSlotID && before.WinningSlotID != "" { // without one it got a new one
		problem("was restored, but slot %s wins instead of %s", p.WinningSlotID, before.WinningSlotID)
	}
	return problems
}

// judgeRestoredVotes judges a restore right after its commit: the votes of those who still take
// part are what they were (invariant 3), as nobody votes while a session stands. Later somebody may
// leave, who takes their vote back and is in the poll's group all the same.
func (w *World) judgeRestoredVotes(pollID string) {
	snapshot := w.newestSnapshot(pollID)
	if snapshot == nil { // taken away, or expired
		return
	}
	p := poll.Decode(w.observed.document(poll.Path(pollID)))
	group, err := poll.LoadGroup(w.ctx, w.observed.stored, p.GroupID)
	w.must(err)
	votes, err := poll.LoadVotes(w.ctx, w.observed.stored, p.ID)
	w.must(err)
	for _, was := range snapshot.Votes {
		if !slices.Contains(p.People(group), was.UserID) {
			continue
		}
		i := slices.IndexFunc(votes, func(vote poll.Vote) bool { return vote.UserID == was.UserID })
		if i >= 0 {
			votes[i].UpdatedAt = was.UpdatedAt // a vote that is put back is written anew
		}
		if i < 0 || !reflect.DeepEqual(votes[i], was) {
			w.past.wrong = append(w.past.wrong, fmt.Sprintf("poll %s was restored, but the vote of %s is not what it was: %+v", p.ID, was.UserID, was))
		}
	}
}

// newestSnapshot is the snapshot of a poll's last reschedule; nil where it has none, or it is gone.
func (w *World) newestSnapshot(pollID string) *poll.Snapshot {
	snapshot, err := poll.LoadSnapshot(w.ctx, w.observed.stored, pollID, w.commits.snapshots[pollID])
	w.must(err)
	return snapshot
}
