package scheduler

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/transition"
)

// load reads the state of a poll for a command of a person who must be its
// creator. The command must run within afterEdits.
func load(ctx context.Context, tx store.Tx, person Person, pollID string) (transition.State, error) {
	p, group, err := created(ctx, tx, person, pollID)
	if err != nil {
		return transition.State{}, err
	}
	if err := checkEdits(p); err != nil {
		return transition.State{}, err
	}
	st, err := complete(ctx, tx, p)
	st.Group = group
	return st, err
}

// complete reads what belongs to a poll. An editedError says that documents of a deleted
// poll of its id are left.
func complete(ctx context.Context, tx store.Tx, p poll.Poll) (st transition.State, err error) {
	st.Poll = p
	if err := loadSlots(ctx, tx, &st); err != nil {
		return transition.State{}, err
	}
	if err := loadEntry(ctx, tx, &st); err != nil {
		return transition.State{}, err
	}
	st.Intents, err = poll.IntentsOf(ctx, tx, p.ID)
	if err != nil || !p.Pristine() {
		return st, err
	}
	st.Latest, err = poll.Latest(ctx, tx, p.ID)
	if err == nil && st.Recreated() {
		err = &editedError{p.ID}
	}
	st.CountOn()
	return st, err
}

// loadEntry reads the index entry of the poll's event, and its calendar.
func loadEntry(ctx context.Context, reader store.Reader, st *transition.State) (err error) {
	st.Entry, st.EntryPath, err = poll.IndexOf(ctx, reader, st.Poll)
	if err == nil && st.Entry != nil {
		st.Calendar, _, err = calendars.Load(ctx, reader, st.Entry.AccountID, st.Entry.CalendarID)
	}
	return err
}

// loadNext reads the calendar in which to follow the poll's event. free reports whether no
// poll follows it there.
func loadNext(ctx context.Context, reader store.Reader, st *transition.State, at poll.Place) (free bool, err error) {
	calendarID := followedCalendar(st.Poll, at.CalendarID)
	st.Next, _, err = calendars.Load(ctx, reader, at.AccountID, calendarID)
	if err != nil {
		return false, err
	}
	other, path, err := poll.FindIndex(ctx, reader, at.AccountID, calendarID, st.Poll.GoogleEventID)
	st.NextPath = path
	return err == nil && other == nil, err
}

// loadSlots reads the winning slot, and the original one where a decision depends on it: the
// poll names no event, is or was cancelled, or the calendar's time ends nothing
// (rules.Poll.AppliedLate).
func loadSlots(ctx context.Context, reader store.Reader, st *transition.State) (err error) {
	p := st.Poll
	st.Winning, err = poll.LoadSlot(ctx, reader, p.ID, p.WinningSlotID)
	if err != nil {
		return err
	}
	moved := p.Sync.Rescheduled
	if moved == nil || p.GoogleEventID != "" && !p.MarkedCancelled() && !p.Rules("", nil, nil).AppliedLate() {
		return nil
	}
	st.Original, err = poll.LoadSlot(ctx, reader, p.ID, moved.FromSlotID)
	return err
}

// loadPast reads what decides whether a poll without calendarSync has the id of a deleted one.
func loadPast(ctx context.Context, reader store.Reader, st *transition.State) (err error) {
	if !st.Poll.Pristine() {
		return nil
	}
	st.Intents, err = poll.IntentsOf(ctx, reader, st.Poll.ID)
	if err == nil {
		st.Latest, err = poll.Latest(ctx, reader, st.Poll.ID)
	}
	st.CountOn()
	return err
}
