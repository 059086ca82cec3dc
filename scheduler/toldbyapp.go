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
	p, _, err := readable(ctx, s.Store, person, pollID)
	if err == nil {
		err = checkCreator(person, p)
	}
	if err == nil { // a poll that has no journal yet does not say that it was edited
		_, err = s.Reconcile(ctx, pollID, cause)
	}
	recorded := false
	if err == nil {
		recorded, err = s.recordToldByApp(ctx, p, status)
	}
	if err != nil {
		return pollError(pollID, "told by the app", err)
	}
	if recorded {
		s.Log.InfoContext(ctx, "announced by the web app", "poll", pollID, "status", string(status), "userId", person.ID, "trace", cause.Trace)
		s.cardSoon(ctx, p, "told/"+store.Instant(s.Now()).String(), cause)
	}
	return nil
}

// recordToldByApp records what is to be announced as told, where it is that status
// and nobody is being told of it.
func (s *Service) recordToldByApp(ctx context.Context, p poll.Poll, status rules.Status) (recorded bool, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		recorded = false
		announcement, err := poll.LoadAnnouncement(ctx, tx, p.ID)
		if err != nil || announcement.Due.IsZero() || announcement.Telling.Ref != "" || announcement.Wanted.Story.Status != status {
			return err
		}
		recorded = true
		// Before and after are the same: there is nothing of ours to send again.
		updates := append(poll.AnnouncedUpdates(announcement.Wanted, true), poll.BeforeUpdate(announcement.Wanted))
		if err := tx.Update(poll.AnnouncementPath(p.ID), updates...); err != nil {
			return err
		}
		return oweCard(tx, p)
	})
	return recorded, err
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
