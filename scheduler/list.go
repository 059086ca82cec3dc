package scheduler

import (
	"context"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Parts are the documents below a poll that a list is asked for; they make most of its size.
type Parts struct{ Slots, Votes bool }

// List gives the polls of list as the person (list.UserID) may see them, newest first, as
// poll.WalkList does. Views have the winning and the original slot, no group, and other slots
// and votes only where parts asks for them.
func (s *Service) List(
	ctx context.Context, person Person, list poll.List, parts Parts, take func(View) (taken bool, err error),
) (next *store.Cursor, err error) {
	return poll.WalkList(ctx, s.Store, list, func(p poll.Poll) (bool, error) {
		view, err := s.listed(ctx, p, parts)
		if err != nil {
			return false, err
		}
		view = view.For(person)
		if !parts.Votes {
			view.Votes = nil
		}
		return take(view)
	})
}

// listed reads of a poll what a list shows. Who may see which votes says how a
// slot's votes are counted, so slots need the votes too.
func (s *Service) listed(ctx context.Context, p poll.Poll, parts Parts) (view View, err error) {
	if parts.Slots {
		view, err = viewOf(ctx, s.Store, p, nil)
	} else {
		view, err = s.outline(ctx, p)
	}
	if err == nil && parts.Votes && !parts.Slots {
		view.Votes, err = poll.LoadVotesOf(ctx, s.Store, p)
	}
	if err != nil {
		return View{}, err
	}
	view.SyncedAt, err = s.syncedAt(ctx, p)
	return view, err
}

// outline is a view of a poll with the slots that it names alone.
func (s *Service) outline(ctx context.Context, p poll.Poll) (view View, err error) {
	view = View{Poll: p}
	view.Winning, err = poll.LoadSlot(ctx, s.Store, p.ID, p.WinningSlotID)
	if err != nil {
		return View{}, err
	}
	if p.Sync.Rescheduled != nil {
		view.Original, err = poll.LoadSlot(ctx, s.Store, p.ID, p.Sync.Rescheduled.FromSlotID)
	}
	return view, err
}
