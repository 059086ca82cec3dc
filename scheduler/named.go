package scheduler

import (
	"slices"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/transition"
)

// named are the participants of a poll whom somebody else named, and who have not
// joined since, as far as that is certain.
func (s *Service) named(announcement poll.Announcement, p poll.Poll) []string {
	return transition.Named(announcement.Named, p, s.Now())
}

// unname records that a person joined or voted, and was not only named. A new poll
// is marked as edited, or the next reader would name them again.
func (s *Service) unname(tx store.Tx, announcement poll.Announcement, p poll.Poll, personID string) error {
	err := writeNamed(tx, announcement, p.ID, without(s.named(announcement, p), personID))
	if err != nil || !transition.IsNew(p, s.Now()) {
		return err
	}
	return tx.Update(poll.Path(p.ID), poll.Set("updatedAt", store.Instant(s.Now())))
}

// writeNamed records who was named, where that is not recorded yet.
func writeNamed(tx store.Tx, announcement poll.Announcement, pollID string, people []string) error {
	if slices.Equal(announcement.Named, people) {
		return nil
	}
	return tx.Merge(poll.AnnouncementPath(pollID), poll.NamedUpdates(pollID, people)...)
}
