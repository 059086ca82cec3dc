package mirrors

import (
	"context"
	"slices"

	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// ChangeConnections has the calendars followed that a person's connections to groups call for
// once change was made to them, and all events of the person planned again. It belongs into the
// transaction that writes those connections, which has to read before it calls this and to write
// afterwards. Call begin after the commit; without it the drain finds the planning.
func (s *Service) ChangeConnections(
	ctx context.Context, tx store.Tx, ownerID string, cause scheduler.Cause, change func([]mirror.Connection) []mirror.Connection,
) (begin func(context.Context), err error) {
	return s.wish(ctx, tx, ownerID, cause, func(w *Wishes) (bool, error) {
		w.Connections = change(w.Connections)
		return true, nil
	})
}

// EndConnection has the copies deleted that a group shows in an account, kept ones included, and
// then the connection removed, which need not exist any more.
func (s *Service) EndConnection(ctx context.Context, c mirror.Connection, cause scheduler.Cause) error {
	return s.following(ctx, func(ctx context.Context, tx store.Tx) (begin func(context.Context), err error) {
		return s.endIn(ctx, tx, c.OwnerID, []mirror.Connection{c}, cause)
	})
}

// endIn marks connections of one person as ending; it reads before it writes.
func (s *Service) endIn(
	ctx context.Context, tx store.Tx, ownerID string, ended []mirror.Connection, cause scheduler.Cause,
) (begin func(context.Context), err error) {
	begin, err = s.ChangeConnections(ctx, tx, ownerID, cause, func(all []mirror.Connection) []mirror.Connection {
		return slices.DeleteFunc(all, func(c mirror.Connection) bool {
			return slices.ContainsFunc(ended, func(other mirror.Connection) bool { return other.Same(c) })
		})
	})
	for _, c := range ended {
		if err != nil {
			return nil, err
		}
		c.Ending = true
		err = tx.Set(mirror.ConnectionPath(c.GroupID, c.AccountID), mirror.EncodeConnection(c))
	}
	return begin, err
}

// endFormer ends a person's connections to those of some groups that they do not belong to. back
// reports that there was none: the person belongs to all of them again. Connections to a group that
// is gone are left to the cleanup, which sees whether others are gone too.
func (s *Service) endFormer(ctx context.Context, ownerID string, groupIDs []string, cause scheduler.Cause) (back bool, err error) {
	err = s.following(ctx, func(ctx context.Context, tx store.Tx) (begin func(context.Context), err error) {
		back = true
		var left []string
		for _, id := range groupIDs {
			group, err := poll.LoadGroup(ctx, tx, id)
			if err != nil {
				return nil, err
			}
			back = back && group.Has(ownerID)
			if group != nil && !group.Has(ownerID) {
				left = append(left, id)
			}
		}
		if len(left) == 0 {
			return nil, nil
		}
		ended, err := mirror.ConnectionsOf(ctx, tx, ownerID)
		if err != nil {
			return nil, err
		}
		ended = slices.DeleteFunc(ended, func(c mirror.Connection) bool { return !slices.Contains(left, c.GroupID) })
		return s.endIn(ctx, tx, ownerID, ended, cause)
	})
	return back, err
}

// endingPart has all copies deleted that the person's ending connections left in their accounts,
// those of events long ended and those that an earlier connection left there included. A
// connection is removed behind its last copy. Planning makes no further one once it is ending;
// connecting the account again makes it a new connection, which this leaves alone.
func (s *Service) endingPart(ctx context.Context, ownerID string, from place) (uids []string, next place, err error) {
	ending, err := mirror.EndingConnectionsOf(ctx, s.Store, ownerID)
	if err != nil || len(ending) == 0 {
		return nil, from.then(""), err
	}
	c := ending[0]
	if id := mirror.ConnectionPath(c.GroupID, c.AccountID).ID(); from.Group != id {
		from.Group, from.At = id, ""
	}
	if from.At == "" {
		more, err := s.RestoreKept(ctx, c)
		if err != nil || more {
			return nil, from, err
		}
	}
	page, _, err := mirror.OfConnection(ctx, s.Store, c, planPage, from.At)
	if err != nil {
		return nil, from, err
	}
	if len(page) == 0 {
		return nil, place{Part: from.Part}, s.removeEnding(ctx, c)
	}
	for _, m := range page {
		uids = append(uids, m.ICalUID)
	}
	from.At = page[len(page)-1].ID
	return uids, from, nil
}

// RestoreKept makes mirrors again of a page of the copies that an earlier connection left in an
// account, so that they are deleted as mirrors are. A copy that was planned anew since keeps the
// mirror that it got, if that has taken over the event. more reports that it has to be called
// again; it does nothing where the account was connected again.
func (s *Service) RestoreKept(ctx context.Context, c mirror.Connection) (more bool, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		kept, ending, err := s.keptOfEnding(ctx, tx, c)
		more = ending && len(kept) > 0
		if err != nil || !more {
			return err
		}
		paths := make([]store.Path, len(kept))
		for i, m := range kept {
			paths[i] = mirror.Path(m.ID)
		}
		planned, err := tx.GetAll(ctx, paths)
		if err != nil {
			return err
		}
		for i, m := range kept {
			if now := mirror.Decode(planned[i]); now.EventID == "" || now.Generation < m.Generation {
				if err := tx.Set(mirror.Path(m.ID), mirror.Encode(m)); err != nil {
					return err
				}
			}
			if err := tx.Delete(mirror.KeptPath(m.ID)); err != nil {
				return err
			}
		}
		return nil
	})
	return more, err
}

// restored is how many kept copies one transaction makes mirrors of again.
const restored = 100

func (s *Service) keptOfEnding(ctx context.Context, tx store.Tx, c mirror.Connection) (kept []mirror.Mirror, ending bool, err error) {
	doc, err := tx.Get(ctx, mirror.ConnectionPath(c.GroupID, c.AccountID))
	if err != nil || !mirror.DecodeConnection(doc).Ending {
		return nil, false, err
	}
	kept, err = mirror.KeptOfConnection(ctx, tx, c, restored)
	return kept, true, err
}

// removeEnding removes a connection that is still ending.
func (s *Service) removeEnding(ctx context.Context, c mirror.Connection) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, mirror.ConnectionPath(c.GroupID, c.AccountID))
		if err != nil || !mirror.DecodeConnection(doc).Ending {
			return err
		}
		return tx.Delete(doc.Path)
	})
}
