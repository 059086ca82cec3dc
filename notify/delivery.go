package notify

import (
	"context"
	"errors"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// telling is what a run has to tell.
type telling struct {
	pollID string
	// announcement is as it was when the run began.
	announcement poll.Announcement
	// told is the story; its Ref is "" where there is nothing to tell.
	told   poll.Told
	notice rules.Notice
	// done are the channels that were told something, by their names.
	done map[string]poll.Delivery
	// resumed says that an earlier run began to tell it and may have got
	// anywhere.
	resumed bool
	// resent says that it was told before, and is told once more.
	resent bool
	// wait is how long until it is due; gone says that the poll was deleted.
	wait time.Duration
	gone bool
	// named are participants whom somebody else named (poll.Announcement).
	named []string
	// edited says that it is due, but somebody wrote the poll directly since, or
	// another one has its id.
	edited bool
}

// begin finds what is to be told of a poll, and writes it down before anybody
// hears of it. What an earlier run began goes first, though something newer be
// wanted by now: those who heard of the one must hear of the other. With
// checkEdits nothing is begun of a poll whose document was edited directly since
// the transition; found.edited says so.
func (a *Announcer) begin(ctx context.Context, pollID string, checkEdits bool) (found telling, err error) {
	err = a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		found = telling{pollID: pollID}
		path := poll.AnnouncementPath(pollID)
		documents, err := tx.GetAll(ctx, []store.Path{path, poll.Path(pollID)})
		if err != nil {
			return err
		}
		p := poll.Decode(documents[1])
		found.gone = !documents[1].Exists()
		if !documents[0].Exists() {
			return nil
		}
		announcement := poll.DecodeAnnouncement(documents[0])
		found.announcement = announcement
		if !found.gone && p.ReplacesTold(announcement) { // it is of a deleted poll of its id
			found.edited, found.gone = checkEdits, !checkEdits
		}
		if found.edited {
			return nil
		}
		updates := a.next(&found, announcement, checkEdits && p.EditedDirectly())
		if found.edited {
			return nil
		}
		if announcement.CardOwed { // this run's from here on, as its task is
			updates = append(updates, poll.CardTakenUpdate())
		}
		if updates == nil {
			return nil
		}
		return tx.Update(path, updates...)
	})
	return found, err
}

// next decides what a run tells, writes it into found, and gives what the
// announcement is to hold before that; nil for no change. edited: nothing new
// is begun.
func (a *Announcer) next(found *telling, announcement poll.Announcement, edited bool) []store.Update {
	found.done, found.named = announcement.Channels, announcement.Named
	owed := !announcement.Due.IsZero()
	found.resumed = announcement.Telling.Ref != ""
	switch {
	case found.gone:
		if !owed && !found.resumed {
			return nil
		}
		return poll.AnnouncedUpdates(announcement.Announced, true)
	case found.resumed:
		found.told, found.resent = announcement.Telling, announcement.Resent
	case !owed:
		return nil
	case a.Now().Before(announcement.Due):
		if announcement.DeferredTo.Equal(announcement.Due) { // the drain hands it over then
			return nil
		}
		found.wait = announcement.Due.Sub(a.Now())
		return nil
	case edited:
		found.edited = true
		return nil
	default:
		found.told = announcement.Wanted
	}
	found.notice = rules.Announce(announcement.Announced.Story, found.told.Story)
	if found.notice == rules.NoticeNone {
		known, settled := found.told, found.told.Ref == announcement.Wanted.Ref
		if known.Story.Status == rules.Archived { // no news, and none when it comes back
			known = announcement.Announced
		}
		found.told = poll.Told{}
		return poll.AnnouncedUpdates(known, settled)
	}
	updates := append(poll.TellingUpdates(found.told, announcement.Attempts+1), poll.BeforeUpdate(announcement.Announced))
	if found.resumed { // it was counted when it was begun
		return updates
	}
	next, wait := a.pace(announcement)
	if wait > 0 {
		found.told, found.notice = poll.Told{}, rules.NoticeNone
		return poll.DeferUpdates(store.Instant(a.Now().Add(wait)))
	}
	return append(updates, next...)
}

// errOvertaken ends a telling that another run has finished meanwhile.
var errOvertaken = errors.New("another run finished the telling")

// record writes something about a telling while it still stands, and is
// errOvertaken otherwise. write may read more before it writes.
func (a *Announcer) record(ctx context.Context, t telling, write func(ctx context.Context, tx store.Tx, announcement poll.Announcement) error) error {
	return a.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		announcement, err := poll.LoadAnnouncement(ctx, tx, t.pollID)
		if err != nil {
			return err
		}
		if announcement.Telling.Ref != t.told.Ref {
			return errOvertaken
		}
		return write(ctx, tx, announcement)
	})
}

// finish records that a story was told in every channel. Where something newer
// is wanted by now it says when to tell that.
func (a *Announcer) finish(ctx context.Context, t telling) (next turn, err error) {
	err = a.record(ctx, t, func(_ context.Context, tx store.Tx, announcement poll.Announcement) error {
		next = turn{}
		settled := announcement.Wanted.Ref == t.told.Ref
		if !settled {
			next = turn{true, max(announcement.Due.Sub(a.Now()), 0)}
		}
		// As it stands there: its generation may be another one since.
		return tx.Update(poll.AnnouncementPath(t.pollID), poll.AnnouncedUpdates(announcement.Telling, settled)...)
	})
	return next, err
}
