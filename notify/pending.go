package notify

import (
	"context"
	"time"

	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// run is what one run has to do.
type run struct {
	pollID       string
	poll         poll.Poll
	announcement poll.Announcement // at the beginning
	state        poll.Message      // what to announce; its Ref is "" if there is nothing
	notice       rules.Notice
	message      Message   // of state
	left         []Channel // that have yet to deliver the message
	until        time.Time // while no other run delivers it
	due          time.Time // when the next run is due
	draws        bool      // the card has to be compared with the poll
	drawing      Drawing
	gone         bool // the poll was deleted
	// edited says that the announcement is due, but somebody edited the poll
	// directly since, or another poll has its id.
	edited bool
	// silent says that nothing is announced of the present state, or not yet: the card shows it
	// all the same.
	silent bool
}

// retried says that an earlier run began to deliver the same message.
func (r run) retried() bool { return r.announcement.Delivering.Ref != "" }

// begin decides what to announce of a poll, and records it before the first call to
// a channel. A message that an earlier run began goes first, also if a newer one is
// pending, since those who received the one must receive the other. With checkEdits
// nothing is begun of a poll that was edited directly since the transition.
func (a *Announcer) begin(ctx context.Context, pollID string, checkEdits bool) (r run, err error) {
	err = a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		documents, err := tx.GetAll(ctx, []store.Path{poll.AnnouncementPath(pollID), poll.Path(pollID)})
		if err != nil {
			return err
		}
		p := poll.Decode(documents[1])
		r = run{pollID: pollID, poll: p, announcement: poll.DecodeAnnouncement(documents[0]), gone: !documents[1].Exists()}
		if !documents[0].Exists() {
			return nil
		}
		if !r.gone && p.ReplacesAnnounced(r.announcement) { // the announcement is of a deleted poll with the same id
			r.edited, r.gone = checkEdits, !checkEdits
		}
		if r.edited {
			return nil
		}
		updates := a.decide(&r, checkEdits && p.EditedDirectly())
		if r.edited {
			return nil
		}
		if r.gone && r.announcement.CardPending() {
			updates = append(updates, poll.CardDoneUpdates()...)
		}
		if r.silent && a.mayDraw(p) {
			updates = append(updates, r.begin(r.announcement, r.announcement.Wanted.Ref, store.Instant(a.Now()))...)
		}
		if r.state.Ref != "" {
			opened, err := a.open(ctx, tx, &r)
			if err != nil {
				return err
			}
			updates = append(updates, opened...)
		}
		if updates == nil {
			return nil
		}
		return tx.Update(poll.AnnouncementPath(pollID), updates...)
	})
	return r, err
}

// decide fills in what r announces, and returns what to record in the announcement
// with that (open); nil for no change. If the poll was edited, nothing new begins.
func (a *Announcer) decide(r *run, edited bool) []store.Update {
	announcement, now := r.announcement, a.Now()
	pending := !announcement.Due.IsZero()
	message, card := announcement.MessageAt(), announcement.CardAt()
	r.draws, r.drawing = announcement.CardPending() && !card.After(now), drawingOf(announcement)
	switch {
	case r.gone:
		if !pending && !r.retried() {
			return nil
		}
		return poll.AnnouncedUpdates(announcement.Announced, true)
	case message.After(now): // not due yet, another run delivers it, or one failed
		r.draws = r.draws && message.Sub(now) > outbox.Soon // else one drawing is for both
		r.due = message
		if card.After(now) && card.Before(message) {
			r.due = card
		}
		return nil
	case r.retried():
		r.state = announcement.Delivering
	case !pending:
		if card.After(now) {
			r.due = card
		}
		return nil
	case edited:
		r.edited = true
		return nil
	default:
		r.state = announcement.Wanted
	}
	r.notice = rules.Announce(announcement.Announced.State, r.state.State)
	if r.notice == rules.NoticeNone {
		known, settled := r.state, r.state.Ref == announcement.Wanted.Ref
		if known.State.Status == rules.Archived { // archiving is not announced, and neither is the way back
			known = announcement.Announced
		}
		r.state, r.silent = (poll.Message{}), true
		if !settled {
			r.due = announcement.Due
		}
		return poll.AnnouncedUpdates(known, settled)
	}
	updates := []store.Update{poll.BeforeUpdate(announcement.Announced)}
	if r.retried() || a.PerHour == 0 { // a retried notice was counted when it began
		return updates
	}
	next, wait := rules.PerHour(a.PerHour).Arrive(announcement.NextNotice, now)
	if wait > 0 { // it stays pending, and is compared again with what people know by then
		r.state, r.notice = poll.Message{}, rules.NoticeNone
		r.due, r.silent = store.Instant(now.Add(wait)), true
		return []store.Update{poll.DeferUpdate(r.due)}
	}
	return append(updates, poll.NextNoticeUpdate(store.Instant(next)))
}
