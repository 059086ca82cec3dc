package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// RestoreOriginal moves the event of a rescheduled poll back to its original time, and the
// poll with it. Conflict where the event changed since it was read.
func (s *Service) RestoreOriginal(ctx context.Context, person Person, pollID string, cause Cause) (View, error) {
	r := request{person, pollID, "restore original time", cause}
	for range editTries {
		entry, done, err := s.restoreOriginal(ctx, r)
		if err != nil {
			return View{}, s.unlessDone(ctx, cause, err)
		}
		if done {
			s.syncSoon(ctx, entry.AccountID, entry.CalendarID)
			return s.shown(ctx, rules.CommandRestoreOriginal, r)
		}
	}
	return View{}, errEdited
}

// restoreOriginal is one try of RestoreOriginal. It is not done where a sync released the
// event during it, as it does once a session is long over.
func (s *Service) restoreOriginal(ctx context.Context, r request) (entry poll.IndexEntry, done bool, err error) {
	p, entry, err := s.rescheduled(ctx, r)
	if err != nil {
		return entry, false, err
	}
	entry, event, err := s.followMoved(ctx, entry, r.person, r.cause)
	if err == nil { // after the read: an event that was moved back since is another one
		err = s.checkNew(ctx, r.cause)
	}
	if err == nil && event.EventState == rules.Present && event.Fingerprint != p.Sync.Baseline {
		event, err = s.Calendar.Move(ctx, entry.Place(), event, p.Sync.Baseline, p.Timezone)
	}
	if err == nil && event.EventState != rules.Present {
		err = fault.New(fault.Conflict, "The event is no longer in the calendar as a single event. Ask for a sync to see how it stands.")
	}
	if err != nil {
		return entry, false, r.failed(err)
	}
	applied, err := s.Apply(ctx, ObservedEvent{
		AccountID: entry.AccountID, CalendarID: entry.CalendarID, EventID: entry.EventID,
		EventState: event.EventState, Fingerprint: event.Fingerprint, Updated: event.Updated, Own: true,
		Cause: r.cause, Who: r.person.ID,
	})
	return entry, applied.PollID != "", err
}

// rescheduled reads a rescheduled poll and its index entry. An event that is not
// followed any more, since its session is long over, is followed again.
func (s *Service) rescheduled(ctx context.Context, r request) (poll.Poll, poll.IndexEntry, error) {
	for range editTries {
		p, _, err := created(ctx, s.Store, r.person, r.pollID)
		if err == nil {
			_, err = rules.Apply(p.Rules("", nil, nil), rules.CommandRestoreOriginal)
		}
		if err != nil {
			return poll.Poll{}, poll.IndexEntry{}, err
		}
		entry, _, err := poll.IndexOf(ctx, s.Store, p)
		if err == nil && entry != nil {
			return p, *entry, nil
		}
		if err == nil {
			err = s.afterEdits(ctx, r.cause, func() error { return s.followForCommand(ctx, p, r.cause) })
		}
		if err != nil {
			return poll.Poll{}, poll.IndexEntry{}, r.failed(err)
		}
	}
	return poll.Poll{}, poll.IndexEntry{}, errEdited
}

// followForCommand makes the index entry of a command's event. Revoked where no linked account
// lets us in; Conflict where another poll follows the event.
func (s *Service) followForCommand(ctx context.Context, p poll.Poll, cause Cause) error {
	account, calendarID, err := s.Accounts.Choose(ctx, p.CreatorID, "", p.GoogleCalendarID)
	if err != nil {
		return err
	}
	return s.transact(ctx, s.Store.Run, cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		p, err := poll.Load(ctx, tx, p.ID)
		if err == nil {
			err = checkEdits(p)
		}
		if err != nil {
			return nil, err
		}
		st, err := complete(ctx, tx, p)
		if err != nil || st.Entry != nil || !p.Linked() {
			return nil, err // the caller reads it again
		}
		free, err := loadNext(ctx, tx, &st, poll.Place{AccountID: account, CalendarID: calendarID})
		if err != nil {
			return nil, err
		}
		if !free {
			return nil, fault.New(fault.Conflict, "Another poll follows the calendar event of this one. Finalise this poll anew.")
		}
		step := s.step(st, cause)
		step.RepairLink()
		return step, nil
	})
}

// AcceptNew makes the calendar's time the poll's own: the baseline, in an ordinary slot. shown
// is the fingerprint that the person was shown; Conflict if the event has another time by now.
func (s *Service) AcceptNew(ctx context.Context, person Person, pollID, shown string, cause Cause) (View, error) {
	r := request{person, pollID, "accept new time", cause}
	return s.shownAfter(ctx, rules.CommandAcceptNew, r, func() error {
		return s.command(ctx, r, func(step *transition.Step) error {
			return step.AcceptNew(person.ID, shown)
		})
	})
}
