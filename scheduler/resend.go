package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Resend has a poll's last announcement delivered once more, after its owner fixed what had
// prevented that. Nobody gets it twice, and no message is posted that still stands among its
// channel's newest. It gives the notice; NoticeNone where a delivery is under way or due,
// which is woken instead.
//
// Only the creator and admins may. Conflict: nothing was announced. Asking twice resends once.
func (s *Service) Resend(ctx context.Context, person Person, pollID string, cause Cause) (notice rules.Notice, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		p, _, err := created(ctx, tx, person, pollID)
		if err != nil {
			return err
		}
		announcement, err := poll.LoadAnnouncement(ctx, tx, pollID)
		if err != nil {
			return err
		}
		if p.ReplacesAnnounced(announcement) { // it was of another poll of its id
			announcement = poll.Announcement{}
		}
		notice = rules.NoticeNone
		if announcement.Delivering.Ref != "" || !announcement.Due.IsZero() {
			return nil
		}
		notice = rules.Announce(announcement.Before.State, announcement.Announced.State)
		if announcement.Announced.Ref == "" || notice == rules.NoticeNone {
			return fault.New(fault.Conflict, "There is nothing to send again: no change of this poll was announced.")
		}
		return tx.Update(poll.AnnouncementPath(pollID), poll.ResendUpdates(announcement, s.Now())...)
	})
	if err != nil {
		return rules.NoticeNone, pollError(pollID, "resend", err)
	}
	s.Outbox.Soon(ctx, poll.AnnounceKind, pollID, s.Now())
	s.Log.InfoContext(ctx, "announcement resent", "poll", pollID, "notice", string(notice), "user_id", person.ID, "trace", cause.Trace)
	return notice, nil
}
