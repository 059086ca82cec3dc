package poll

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// Snapshot is a document of schedulers/{id}/calendarSyncSnapshots: the poll before the
// calendar moved it. Readers of the poll may read it; no client writes it.
type Snapshot struct {
	ID             string
	CreatedAt      time.Time
	ExpiresAt      time.Time
	WinningSlotID  string
	Participants   []string
	PendingInvites []string
	Votes          []Vote
}

// SnapshotPath is where a snapshot is.
func SnapshotPath(pollID, id string) store.Path {
	return Path(pollID).Doc("calendarSyncSnapshots", id)
}

// EncodeSnapshot gives the fields of a new snapshot of a poll. Votes that do not fit into its
// document are left out, since a restore puts back only those that vanished.
func EncodeSnapshot(pollID string, s Snapshot) map[string]any {
	votes := make([]any, len(s.Votes))
	for i, vote := range s.Votes {
		votes[i] = map[string]any{
			"uid": vote.UserID, "userEmail": store.NullIfEmpty(vote.Email),
			"userAvatar": store.NullIfEmpty(vote.Avatar), "votes": choicesMap(vote.Choices),
			"noTimesWork": vote.NoTimesWork, "source": store.NullIfEmpty(vote.Source),
			"lastVotedFrom": store.NullIfEmpty(vote.LastVotedFrom),
		}
	}
	data := map[string]any{
		"createdAt": s.CreatedAt, "expiresAt": s.ExpiresAt, "winningSlotId": store.NullIfEmpty(s.WinningSlotID),
		"participants": listOf(s.Participants), "pendingInvites": listOf(s.PendingInvites), "votes": []any{},
	}
	data["votes"] = fitting(votes, store.MaxDocument-store.DocumentSize(SnapshotPath(pollID, s.ID), data))
	return data
}

// fitting leaves out the largest of some values until the rest count at most room: of votes, those
// of the most people stay.
func fitting(values []any, room int) []any {
	sizes, total := make([]int, len(values)), 0
	for i, value := range values {
		sizes[i] = store.Size(value)
		total += sizes[i]
	}
	for total > room && len(values) > 0 {
		i := slices.Index(sizes, slices.Max(sizes))
		total -= sizes[i]
		values, sizes = slices.Delete(values, i, i+1), slices.Delete(sizes, i, i+1)
	}
	return values
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

// expiredSnapshots are those past their end, of all polls, oldest first.
var expiredSnapshots = everywhere(store.Select("snapshots by their end", "calendarSyncSnapshots", "expiresAt",
	store.Where("expiresAt", store.Less)))

// neededAnother is how much longer an expired snapshot is kept that is still needed.
const neededAnother = 24 * time.Hour

// RemoveSnapshots removes at most limit expired snapshots. It returns how many it removed, and
// whether more may be left. The end of one that a rescheduled poll is restored from is put off by a
// day. It may be repeated.
func RemoveSnapshots(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error) {
	err = documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		removed, more = 0, false
		expired, err := tx.Query(ctx, expiredSnapshots.With(now).First(limit))
		if err != nil || len(expired) == 0 {
			return err
		}
		more = len(expired) == limit
		needed, err := neededSnapshots(ctx, tx, expired)
		if err != nil {
			return err
		}
		for _, doc := range expired {
			if needed[doc.Path] {
				err = tx.Update(doc.Path, Set("expiresAt", store.Instant(now.Add(neededAnother))))
			} else {
				err = tx.Delete(doc.Path)
				removed++
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return removed, more, err
}

// neededSnapshots are those that their polls would be restored from.
func neededSnapshots(ctx context.Context, reader store.Reader, snapshots []store.Document) (map[store.Path]bool, error) {
	var polls []store.Path
	for _, doc := range snapshots {
		polls = append(polls, doc.Path.Parent())
	}
	slices.Sort(polls)
	docs, err := reader.GetAll(ctx, slices.Compact(polls))
	if err != nil {
		return nil, err
	}
	needed := map[store.Path]bool{}
	for _, doc := range docs {
		if !doc.Exists() {
			continue
		}
		if moved := Decode(doc).Sync.Rescheduled; moved != nil && moved.SnapshotID != "" {
			needed[SnapshotPath(doc.Path.ID(), moved.SnapshotID)] = true
		}
	}
	return needed, nil
}
