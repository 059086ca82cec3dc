package poll

import (
	"context"
	"time"

	"questscheduler/store"
)

// Snapshot is a document of schedulers/{id}/calendarSyncSnapshots: the poll as
// it was before the calendar moved it (seed 002). People who may read the poll
// may read it; no client writes it.
type Snapshot struct {
	ID             string
	CreatedAt      time.Time
	ExpiresAt      time.Time
	WinningSlotID  string
	Participants   []string
	PendingInvites []string
	Votes          []Vote
}

// SnapshotPath is where a snapshot stands.
func SnapshotPath(pollID, id string) store.Path {
	return Path(pollID).Doc("calendarSyncSnapshots", id)
}

// EncodeSnapshot gives the fields of a new snapshot.
func EncodeSnapshot(s Snapshot) map[string]any {
	votes := make([]any, len(s.Votes))
	for i, vote := range s.Votes {
		votes[i] = map[string]any{
			"uid": vote.UserID, "userEmail": store.NullIfEmpty(vote.Email),
			"userAvatar": store.NullIfEmpty(vote.Avatar), "votes": choicesMap(vote.Choices),
			"noTimesWork": vote.NoTimesWork, "source": store.NullIfEmpty(vote.Source),
			"lastVotedFrom": store.NullIfEmpty(vote.LastVotedFrom),
		}
	}
	return map[string]any{
		"createdAt": s.CreatedAt, "expiresAt": s.ExpiresAt, "winningSlotId": store.NullIfEmpty(s.WinningSlotID),
		"participants": listOf(s.Participants), "pendingInvites": listOf(s.PendingInvites), "votes": votes,
	}
}

// LoadSnapshot reads a snapshot; nil where there is none.
func LoadSnapshot(ctx context.Context, reader store.Reader, pollID, id string) (*Snapshot, error) {
	if id == "" {
		return nil, nil
	}
	doc, err := reader.Get(ctx, SnapshotPath(pollID, id))
	if err != nil || !doc.Exists() {
		return nil, err
	}
	f := store.Fields(doc.Data)
	s := &Snapshot{
		ID: id, CreatedAt: f.Time("createdAt"), ExpiresAt: f.Time("expiresAt"),
		WinningSlotID: f.String("winningSlotId"),
		Participants:  f.Strings("participants"), PendingInvites: f.Strings("pendingInvites"),
	}
	for _, item := range f.List("votes") {
		if data, ok := item.(map[string]any); ok {
			s.Votes = append(s.Votes, decodeVote(data))
		}
	}
	return s, nil
}
