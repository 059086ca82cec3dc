package groupevents

import (
	"context"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// cleanPage is how many documents one step of a cleaning reads.
const cleanPage = 100

var (
	allConnections    = store.Select("group connections by id", "groupConnections", "")
	eventsEndedBefore = store.Select("canonical events of groups and polls by end", "canonicalEvents", "until",
		store.Where("source", store.In), store.Where("until", store.Less))
	keptEndedBefore = store.Select("kept copies by end", "keptCopies", "ends", store.Where("ends", store.Less))
)

// RemoveEnded removes a page of the events of groups that ended longer than Keep ago, with
// their mirrors, and returns how many. The events in people's calendars stay. at is where an
// earlier page ended ("": the beginning); next is where to go on, "" at the end.
func RemoveEnded(ctx context.Context, documents store.Store, now time.Time, at string) (removed int, next string, err error) {
	sources := []any{string(mirror.SourceGroup), string(mirror.SourcePoll)}
	asked := eventsEndedBefore.With(sources, now.Add(-Keep)).First(cleanPage).From(store.DecodeCursor(at, eventsEndedBefore.Collection))
	events, behind, err := store.Page(ctx, documents, asked, mirror.DecodeEvent)
	if err != nil {
		return 0, "", err
	}
	for _, event := range events {
		if event.GroupID == "" {
			continue // a session that no group shares
		}
		gone, err := removeEnded(ctx, documents, event.ID, now.Add(-Keep))
		if err != nil {
			return removed, "", err
		}
		if gone {
			removed++
		}
	}
	next, err = store.EncodeCursor(behind)
	return removed, next, err
}

// removeEnded removes an event that ended before a time. gone is false if it was moved since
// it was found.
func removeEnded(ctx context.Context, documents store.Store, eventID string, before time.Time) (gone bool, err error) {
	err = documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		gone = false
		event, err := mirror.LoadEvent(ctx, tx, eventID)
		if fault.Is(err, fault.NotFound) || err == nil && (!event.Until.Before(before) || event.GroupID == "") {
			return nil
		}
		if err != nil {
			return err
		}
		mirrors, err := mirror.OfEvent(ctx, tx, event.ID)
		if err != nil {
			return err
		}
		held, err := loadShelf(ctx, tx, event.GroupID)
		if err != nil {
			return err
		}
		isHeld := held.holds(event.ID)
		if isHeld {
			if held, err = held.replacing(ctx, tx, event.ID); err != nil {
				return err
			}
		}
		gone = true
		for _, m := range mirrors {
			if err := tx.Delete(mirror.Path(m.ID)); err != nil {
				return err
			}
		}
		if isHeld {
			if err := held.write(tx); err != nil {
				return err
			}
		}
		return tx.Delete(mirror.EventPath(event.ID))
	})
	return gone, err
}

// RemoveKept removes at most limit records of kept copies whose events ended longer than Keep
// ago, and returns how many.
func RemoveKept(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, err error) {
	return store.DeletePage(ctx, documents, keptEndedBefore.With(now.Add(-Keep)).First(limit), nil)
}

// EndConnections ends a page of the connections whose owner left the group or unlinked the
// account, for what nobody did at once: the web app removes people from groups itself. at and
// next are those of RemoveEnded.
func (s *Service) EndConnections(ctx context.Context, at string) (ended int, next string, err error) {
	asked := allConnections.With().First(cleanPage)
	if at != "" {
		asked = asked.From(&store.Cursor{Path: store.Doc(allConnections.Collection, at)})
	}
	page, behind, err := store.Page(ctx, s.Store, asked, mirror.DecodeConnection)
	if err != nil {
		return 0, "", err
	}
	cause := scheduler.Cause{Trigger: "cleanup", Trace: s.NewID("trc")}
	for _, connection := range page {
		over, unlinked, err := s.isOver(ctx, connection)
		if err == nil && over {
			err = s.disconnect(ctx, connection, unlinked, cause)
			ended++
		}
		if err != nil {
			return ended, "", err
		}
	}
	if behind != nil {
		next = behind.Path.ID()
	}
	return ended, next, nil
}

// isOver reports whether a connection has to end, and whether that is for its account.
func (s *Service) isOver(ctx context.Context, c mirror.Connection) (over, unlinked bool, err error) {
	account, err := accounts.Load(ctx, s.Store, c.AccountID)
	gone := fault.Is(err, fault.NotFound)
	if err != nil && !gone {
		return false, false, err
	}
	if gone || account.Status == accounts.Unlinked || account.OwnerID != c.OwnerID {
		return true, true, nil
	}
	group, err := poll.LoadGroup(ctx, s.Store, c.GroupID)
	return err == nil && !group.Has(c.OwnerID), false, err
}
