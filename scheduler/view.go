package scheduler

import (
	"context"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// View is a poll with all that its readers see.
type View struct {
	Poll  poll.Poll
	Group *poll.Group
	Slots []poll.Slot
	Votes []poll.Vote
	// Original is the winning slot of before a reschedule, or nil.
	Original *poll.Slot
	Winning  *poll.Slot
	// SyncedAt is when the linked event's calendar was last synced; zero: never, or not linked.
	SyncedAt time.Time
}

// ParticipantsHidden reports whether people's votes are not to be shown: exactly
// while the calendar's time is the poll's. It is display only.
func (v View) ParticipantsHidden() bool { return v.Poll.Sync.Rescheduled != nil }

// View reads a poll as a person may see it.
func (s *Service) View(ctx context.Context, person Person, pollID string) (View, error) {
	p, group, err := readable(ctx, s.Store, person, pollID)
	if err != nil {
		return View{}, err
	}
	view, err := viewOf(ctx, s.Store, p, group)
	if err != nil {
		return View{}, err
	}
	view.SyncedAt, err = s.syncedAt(ctx, p)
	return view.For(person), err
}

// For is a whole view as a reader of the poll may see it. The whole one stays as it is.
func (v View) For(person Person) View {
	if person.Admin {
		return v
	}
	v.Slots = slices.Clone(v.Slots)
	v.show(v.Poll.VotesFor(person.ID, v.Votes))
	v.Poll.PendingInvites = v.Poll.InvitesFor(person.ID, person.Email)
	return v
}

// viewOf reads what belongs to a poll; SyncedAt is left out.
func viewOf(ctx context.Context, reader store.Reader, p poll.Poll, group *poll.Group) (view View, err error) {
	view = View{Poll: p, Group: group}
	view.Slots, view.Votes, err = poll.LoadChoices(ctx, reader, p)
	if err != nil {
		return View{}, err
	}
	view.show(view.Votes)
	for i := range view.Slots {
		slot := &view.Slots[i]
		if slot.ID == p.WinningSlotID {
			view.Winning = slot
		}
		if p.Sync.Rescheduled != nil && slot.ID == p.Sync.Rescheduled.FromSlotID {
			view.Original = slot
		}
	}
	return view, nil
}

// show has the view show these votes, and count no others.
func (v *View) show(votes []poll.Vote) {
	v.Votes = votes
	for i := range v.Slots {
		slot := &v.Slots[i]
		slot.Feasible, slot.Preferred = poll.Count(votes, slot.ID)
	}
}

// syncedAt is when the calendar of a poll's event was last synced.
func (s *Service) syncedAt(ctx context.Context, p poll.Poll) (time.Time, error) {
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil || entry == nil {
		return p.Sync.LastSyncedAt, err
	}
	calendar, _, err := calendars.Load(ctx, s.Store, entry.AccountID, entry.CalendarID)
	if calendar.SuccessAt.After(p.Sync.LastSyncedAt) {
		return calendar.SuccessAt, err
	}
	return p.Sync.LastSyncedAt, err
}

// Journal gives a poll's own journal to take, newest first, as poll.WalkJournal does. Only the
// creator may. A page may hold fewer entries than there are to come.
func (s *Service) Journal(
	ctx context.Context, person Person, pollID string, part store.Paging,
	take func(poll.JournalEntry) (taken bool, err error),
) (*store.Cursor, error) {
	p, _, err := created(ctx, s.Store, person, pollID)
	if err != nil {
		return nil, err
	}
	return poll.WalkJournal(ctx, s.Store, pollID, part, func(entry poll.JournalEntry) (taken bool, err error) {
		if !p.Owns(entry) {
			return true, nil
		}
		return take(entry)
	})
}
