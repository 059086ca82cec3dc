package scheduler

import (
	"context"
	"time"

	"questscheduler/poll"
	"questscheduler/rules"
	"questscheduler/store"
)

// ToldByApp records that the web app told people of a cancellation (Cancelled) or
// of a restore (Finalized) that its creator made in the app: it is not announced
// here again. The app writes the poll first, so a direct edit that the journal
// does not know yet is carried through before. What was announced already, or
// has changed since, stays as it is. Calling it again changes nothing.
//
// Forbidden: the person is not the poll's creator. NotFound: there is no such
// poll that they may read.
func (s *Service) ToldByApp(ctx context.Context, person Person, pollID string, status rules.Status, cause Cause) error {
	var p poll.Poll
	recorded := false
	err := s.afterEdits(ctx, cause, func() error {
		return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			recorded = false
			var err error
			if p, _, err = readable(ctx, tx, person, pollID); err != nil {
				return err
			}
			if err := checkCreator(person, p); err != nil {
				return err
			}
			if err := checkEdits(p); err != nil {
				return err
			}
			announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
			if err != nil || announcement.Due.IsZero() || announcement.Telling.Ref != "" || announcement.Wanted.Story.Status != status {
				return err
			}
			recorded = true
			// Before and after are the same: there is nothing of ours to send again.
			updates := append(poll.AnnouncedUpdates(announcement.Wanted, true), poll.BeforeUpdate(announcement.Wanted))
			if err := tx.Update(poll.AnnouncementPath(pollID), updates...); err != nil {
				return err
			}
			return oweCard(tx, p)
		})
	})
	if err != nil {
		return pollError(pollID, "told by the app", err)
	}
	if recorded {
		s.Log.InfoContext(ctx, "announced by the web app", "poll", pollID, "status", string(status), "userId", person.ID, "trace", cause.Trace)
		s.cardSoon(ctx, p, "told/"+store.Instant(s.Now()).String(), cause)
	}
	return nil
}

// settle is how long the transition of a journal entry rests before it is
// announced. What the web app did itself rests until its own functions, where
// there are any, have told people of it.
func (s *Service) settle(entry poll.Entry) time.Duration {
	switch rules.Mending(entry.Reason) {
	case rules.MendCancel, rules.MendRestore:
		return max(s.Settle, s.AppTells)
	default:
		return s.Settle
	}
}
