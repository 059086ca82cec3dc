package scheduler

import (
	"context"
	"slices"

	"questscheduler/poll"
	"questscheduler/store"
)

// named are the participants of a poll whom somebody else put there, and who have
// not joined since. A poll that was made in the web app says so itself until it is
// written again: each join gives it a time of its last edit.
func named(announcement poll.Announcement, p poll.Poll) []string {
	people := announcement.Named
	if p.UpdatedAt.IsZero() && p.Sync.Recorded.At.IsZero() {
		people = append(slices.Clone(people), p.ParticipantIDs...)
	}
	return namedOf(people, p)
}

// namedOf leaves of people those who take part without having made the poll, sorted.
func namedOf(people []string, p poll.Poll) []string {
	left := slices.DeleteFunc(slices.Sorted(slices.Values(people)), func(id string) bool {
		return id == p.CreatorID || !slices.Contains(p.ParticipantIDs, id)
	})
	return slices.Compact(left)
}

// writeNamed records who was named, where that is not recorded yet.
func writeNamed(tx store.Tx, announcement poll.Announcement, pollID string, people []string) error {
	if slices.Equal(announcement.Named, people) {
		return nil
	}
	return tx.Merge(poll.AnnouncementPath(pollID), poll.NamedUpdates(pollID, people)...)
}

// nameMore reads who is named once a person has edited a poll as asked; write
// records it.
func (e Edit) nameMore(ctx context.Context, tx store.Tx, person Person, p poll.Poll) (write func() error, err error) {
	if e.ParticipantIDs == nil {
		return func() error { return nil }, nil
	}
	announcement, err := poll.LoadAnnouncement(ctx, tx, p.ID)
	if err != nil {
		return nil, err
	}
	after, people := p, named(announcement, p)
	after.ParticipantIDs = withPerson(p.CreatorID, *e.ParticipantIDs)
	for _, id := range after.ParticipantIDs {
		if id != person.ID && !slices.Contains(p.ParticipantIDs, id) {
			people = append(people, id)
		}
	}
	return func() error { return writeNamed(tx, announcement, p.ID, namedOf(people, after)) }, nil
}
