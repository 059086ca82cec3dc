package scheduler

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// AnnouncedByApp records that the web app announced a cancellation that its creator made there, so
// it is not announced again. The app writes the poll first, so its direct edit is carried
// through before. Only a pending cancellation counts: a restore may have a time that the app's
// notice lacks. Repeating it changes nothing.
//
// Forbidden: the person is not the poll's creator. NotFound: there is no such poll that they
// may read.
func (s *Service) AnnouncedByApp(ctx context.Context, person Person, pollID string, cause Cause) error {
	p, _, err := created(ctx, s.Store, person, pollID)
	if err == nil { // a poll that has no journal yet does not say that it was edited
		_, err = s.Reconcile(ctx, pollID, cause)
	}
	recorded := false
	if err == nil {
		recorded, err = s.recordAnnounced(ctx, p, cause)
	}
	if err != nil {
		return pollError(pollID, "record an announcement by the app", err)
	}
	if recorded {
		s.Log.InfoContext(ctx, "announced by the web app", "poll", pollID, "user_id", person.ID, "trace", cause.Trace)
		s.updateCardSoon(ctx, p)
	}
	return nil
}

// recordAnnounced records a pending cancellation as announced, unless a delivery is under way.
func (s *Service) recordAnnounced(ctx context.Context, p poll.Poll, cause Cause) (recorded bool, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		recorded = false
		announcement, err := poll.LoadAnnouncement(ctx, tx, p.ID)
		if err != nil || announcement.Due.IsZero() || announcement.Delivering.Ref != "" ||
			rules.Announce(announcement.Announced.State, announcement.Wanted.State) != rules.NoticeCancelled {
			return err
		}
		recorded = true
		// Before and after are the same: there is nothing of ours to send again.
		updates := append(poll.AnnouncedUpdates(announcement.Wanted, true), poll.BeforeUpdate(announcement.Wanted))
		if err := tx.Update(poll.AnnouncementPath(p.ID), updates...); err != nil {
			return err
		}
		return s.recordCard(tx, p, cause)
	})
	return recorded, err
}
