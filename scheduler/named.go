package scheduler

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// newFor is how long a poll that the web app made counts as new. Of an older one
// that the server meets first nobody knows what came before: it may have been there
// before this program.
const newFor = 10 * time.Minute

// isNew tells that a poll is as the web app made it a moment ago, so that its
// participants are those whom its creator put there. A join writes the document,
// whether it sets the time of the last edit or not.
func (s *Service) isNew(p poll.Poll) bool {
	return p.Untouched && p.UpdatedAt.IsZero() && p.Sync.Recorded.At.IsZero() && s.Now().Sub(p.CreatedAt).Abs() < newFor
}

// named are the participants of a poll whom somebody else put there, and who have
// not joined since, as far as that is certain.
func (s *Service) named(announcement poll.Announcement, p poll.Poll) []string {
	people := announcement.Named
	if s.isNew(p) {
		people = append(slices.Clone(people), p.ParticipantIDs...)
	}
	return namedOf(people, p)
}

// nameFirst records who was named in a new poll, by whatever writes its document
// first: it is new no more then. Nobody is recorded before, or the document had been
// written.
func (s *Service) nameFirst(tx store.Tx, p poll.Poll) error {
	first := s.named(poll.Announcement{}, p)
	if len(first) == 0 {
		return nil
	}
	return tx.Merge(poll.AnnouncementPath(p.ID), poll.NamedUpdates(p.ID, first)...)
}

// unname records that a person was not only named: they joined or voted. A new poll
// is marked as edited, or the next reader would name them again.
func (s *Service) unname(tx store.Tx, announcement poll.Announcement, p poll.Poll, personID string) error {
	if err := writeNamed(tx, announcement, p.ID, without(s.named(announcement, p), personID)); err != nil || !s.isNew(p) {
		return err
	}
	return tx.Update(poll.Path(p.ID), poll.Set("updatedAt", store.Instant(s.Now())))
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
func (s *Service) nameMore(ctx context.Context, tx store.Tx, person Person, p poll.Poll, e Edit) (write func() error, err error) {
	if e.ParticipantIDs == nil {
		return func() error { return nil }, nil
	}
	announcement, err := poll.LoadAnnouncement(ctx, tx, p.ID)
	if err != nil {
		return nil, err
	}
	after, people := p, s.named(announcement, p)
	after.ParticipantIDs = withPerson(p.CreatorID, *e.ParticipantIDs)
	for _, id := range after.ParticipantIDs {
		if id != person.ID && !slices.Contains(p.ParticipantIDs, id) {
			people = append(people, id)
		}
	}
	return func() error { return writeNamed(tx, announcement, p.ID, namedOf(people, after)) }, nil
}
