package groupevents

import (
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
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

// mirrorsAtOnce is how many mirrors of an ended event a transaction removes: a group may have
// hundreds of people, with some accounts each.
const mirrorsAtOnce = 100

// removeEnded removes an event that ended before a time, with the last of its mirrors. gone is
// false if it was moved since it was found.
func removeEnded(ctx context.Context, documents store.Store, eventID string, before time.Time) (gone bool, err error) {
	for more := true; more && err == nil; {
		gone, more, err = removeSome(ctx, documents, eventID, before)
	}
	return gone, err
}

// removeSome is removeEnded for some of the event's mirrors. more: there may be others, and the
// event stays.
func removeSome(ctx context.Context, documents store.Store, eventID string, before time.Time) (gone, more bool, err error) {
	err = documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		gone, more = false, false
		event, err := mirror.LoadEvent(ctx, tx, eventID)
		if fault.Is(err, fault.NotFound) || err == nil && (!event.Until.Before(before) || event.GroupID == "") {
			return nil
		}
		if err != nil {
			return err
		}
		mirrors, err := mirror.SomeOfEvent(ctx, tx, event.ID, mirrorsAtOnce)
		if err != nil {
			return err
		}
		state, err := loadState(ctx, tx, event.GroupID)
		if err != nil {
			return err
		}
		more = len(mirrors) == mirrorsAtOnce
		for _, m := range mirrors {
			if err := tx.Delete(mirror.Path(m.ID)); err != nil {
				return err
			}
		}
		if more {
			return nil
		}
		gone = true
		if belongs(event, event.GroupID) {
			if err := state.discounting(event).write(tx); err != nil {
				return err
			}
		}
		return tx.Delete(mirror.EventPath(event.ID))
	})
	return gone, more, err
}

// RemoveKept removes at most limit records of kept copies whose events ended longer than Keep
// ago, and returns how many.
func RemoveKept(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, err error) {
	return store.DeletePage(ctx, documents, keptEndedBefore.With(now.Add(-Keep)).First(limit), nil)
}

// EndConnections ends a page of the connections whose owner left the group or unlinked the
// account, for what nobody did at once: the web app removes people from groups itself. The
// copies in their accounts are deleted, and the sessions of such groups compared. at and next are
// those of RemoveEnded.
func (s *Service) EndConnections(ctx context.Context, at string) (ended int, next string, err error) {
	page, next, err := pageByID(ctx, s.Store, allConnections, at, mirror.DecodeConnection)
	if err != nil {
		return 0, "", err
	}
	over, missing, groups := []mirror.Connection{}, map[string]bool{}, map[string]bool{}
	for _, connection := range page {
		if connection.Ending {
			continue // its planning deletes its copies
		}
		isOver, isMissing, err := s.isOver(ctx, connection)
		if err != nil {
			return 0, "", err
		}
		groups[connection.GroupID] = true
		if isMissing {
			missing[connection.GroupID] = true
		}
		if isOver || isMissing {
			over = append(over, connection)
		}
	}
	if len(missing) > mostMissing && 2*len(missing) > len(groups) {
		s.Log.ErrorContext(ctx, "most groups of a page of connections are gone; rather their documents were lost, so nothing is deleted",
			"missing", len(missing), "groups", len(groups))
		over = slices.DeleteFunc(over, func(c mirror.Connection) bool { return missing[c.GroupID] })
	}
	cause := scheduler.Cause{Trigger: "cleanup", Trace: s.NewID("trc")}
	parted := map[string]bool{}
	for _, connection := range over {
		parted[connection.GroupID] = true
	}
	for groupID := range parted {
		if err := s.compareSessions(ctx, groupID, cause); err != nil {
			return 0, "", err
		}
	}
	ended, err = s.end(ctx, over, cause)
	return ended, next, err
}

// DeleteKept is EndConnections for the copies that people kept who left the group since, which
// have no connection any more. Those of a group that is gone stay: nobody left it.
func (s *Service) DeleteKept(ctx context.Context, at string) (ended int, next string, err error) {
	page, next, err := pageByID(ctx, s.Store, allKept, at, mirror.Decode)
	if err != nil {
		return 0, "", err
	}
	var over []mirror.Connection
	for _, kept := range page {
		group, err := poll.LoadGroup(ctx, s.Store, kept.GroupID)
		if err != nil {
			return 0, "", err
		}
		if group != nil && !group.Has(kept.OwnerID) {
			over = keptBy(over, kept)
		}
	}
	ended, err = s.end(ctx, over, scheduler.Cause{Trigger: "cleanup", Trace: s.NewID("trc")})
	return ended, next, err
}

// mostMissing is how many groups of a page may be gone without a doubt that their documents were
// lost, such as in a restored store.
const mostMissing = 5

// pageByID reads a page of a whole collection behind an id ("": the beginning). next is the id
// behind which to go on, "" at the end.
func pageByID[T any](
	ctx context.Context, documents store.Store, all *store.Query, at string, decode func(store.Document) T,
) (page []T, next string, err error) {
	asked := all.With().First(cleanPage)
	if at != "" {
		asked = asked.From(&store.Cursor{Path: store.Doc(all.Collection, at)})
	}
	page, behind, err := store.Page(ctx, documents, asked, decode)
	if behind != nil {
		next = behind.Path.ID()
	}
	return page, next, err
}

// isOver reports whether a connection has to end, and whether only since its group is gone.
func (s *Service) isOver(ctx context.Context, c mirror.Connection) (is, missing bool, err error) {
	account, err := accounts.Load(ctx, s.Store, c.AccountID)
	switch {
	case fault.Is(err, fault.NotFound):
		return true, false, nil
	case err != nil:
		return false, false, err
	case account.Status == accounts.Unlinked || account.OwnerID != c.OwnerID:
		return true, false, nil
	}
	group, err := poll.LoadGroup(ctx, s.Store, c.GroupID)
	if err != nil {
		return false, false, err
	}
	return group != nil && !group.Has(c.OwnerID), group == nil, nil
}
