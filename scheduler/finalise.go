package scheduler

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/transition"
)

// Finalise is a person's request to finalise a poll for a slot.
type Finalise struct {
	SlotID string
	// CreateEvent makes a calendar event; without it the poll is finalised and
	// follows no calendar.
	CreateEvent bool
	AccountID   string // "" leaves the choice
	CalendarID  string // "" leaves the choice
	Title       string // "" takes the poll's
	Description *string
	// Duration is the event's; zero takes the slot's. The event ends at the
	// slot's start plus this, which may differ from the slot's end.
	Duration  time.Duration
	Attendees []string
	// KeepOldEvent leaves the event of an earlier finalisation in the calendar.
	KeepOldEvent bool
	// Request, where set, names the request: the same one again within
	// requestKept finds the poll as it left it, and changes nothing.
	Request string
	// Begin, where set, is called before anything new begins, maybe more than once; its error
	// refuses. A repeated choice or an answered request begins nothing.
	Begin func() error
	// oldAccount is the account of an older event that the index does not know.
	oldAccount string
}

const (
	// requestKept is for how long a named request is recognised: longer than a client retries.
	// Later, the same choice is a new one.
	requestKept = 10 * time.Minute
	// insertTime is how long events.insert may take (gcal.DefaultTimeout): it is
	// begun only while as much of the grace is left.
	insertTime = 15 * time.Second
)

// Finalise chooses a slot and, where asked, makes the calendar event that the poll follows.
// There is one event in the end, never two, never an orphan: an insert without an answer is
// Unavailable to the caller, and finished by the drain or by the same Finalise again.
func (s *Service) Finalise(ctx context.Context, person Person, pollID string, ask Finalise, cause Cause) (View, error) {
	r := request{person, pollID, "finalise", cause}
	var intent poll.Intent
	done := false
	err := s.afterEdits(ctx, cause, func() (err error) {
		p, _, err := created(ctx, s.Store, person, pollID)
		if err != nil {
			return err
		}
		// Before anything is asked for that may be missing by now.
		done = !p.EditedDirectly() && s.answered(p, ask)
		if done {
			return nil
		}
		account, calendar, err := s.chooseCalendar(ctx, p, ask)
		if err != nil {
			return err
		}
		if !ask.CreateEvent {
			return s.finaliseWithoutEvent(ctx, r, ask, account)
		}
		ask.oldAccount, err = s.accountUnindexed(ctx, p)
		if err != nil {
			return err
		}
		intent, err = s.beginFinalise(ctx, r, ask, poll.Place{AccountID: account, CalendarID: calendar})
		return err
	})
	if errors.Is(err, errDoneBefore) {
		done, err = true, nil
	}
	if err == nil && ask.CreateEvent && !done {
		err = s.carryOutInsert(ctx, intent, cause)
	}
	switch {
	case err != nil:
		return View{}, err
	case done:
		return s.View(ctx, person, pollID)
	}
	return s.shown(ctx, rules.CommandFinalise, r)
}

// errDoneBefore says that the same request finalised the poll already.
var errDoneBefore = errors.New("the same request finalised this poll already")

// answered reports whether a repeated request finds the poll as it left it.
func (s *Service) answered(p poll.Poll, ask Finalise) bool {
	last := p.Sync.Request
	return ask.Request != "" && ask.Request == last.ID && s.Now().Sub(last.At) < requestKept &&
		p.Status == rules.Finalized && p.WinningSlotID == ask.SlotID && p.Sync.Rescheduled == nil &&
		ask.CreateEvent == (p.GoogleEventID != "")
}

// begin is Begin.
func (ask Finalise) begin() error {
	if ask.Begin == nil {
		return nil
	}
	return ask.Begin()
}

// loadToFinalise reads a poll and the chosen slot, and refuses where person, status or times
// do not allow it. errDoneBefore: this request was answered already.
func (s *Service) loadToFinalise(
	ctx context.Context, tx store.Tx, r request, ask Finalise,
) (transition.State, *poll.Slot, error) {
	st, err := load(ctx, tx, r.person, r.pollID)
	if err != nil {
		return transition.State{}, nil, err
	}
	if s.answered(st.Poll, ask) {
		return transition.State{}, nil, errDoneBefore
	}
	slot, err := chosenSlot(ctx, tx, r.pollID, ask)
	if err != nil {
		return transition.State{}, nil, err
	}
	_, err = rules.Apply(st.Rules(), rules.CommandFinalise)
	return st, slot, err
}

// beginFinalise is transaction 1: it checks, counts the generation up and writes the insert
// intent. The same choice as one under way resumes that one, under the later request's name.
func (s *Service) beginFinalise(
	ctx context.Context, r request, ask Finalise, at poll.Place,
) (intent poll.Intent, err error) {
	err = s.transact(ctx, s.runRepeatable, r.cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		st, slot, err := s.loadToFinalise(ctx, tx, r, ask)
		if err != nil {
			return nil, err
		}
		step, session := s.step(st, r.cause), sessionOf(st.Poll, *slot, ask, r.person)
		if pending := st.PendingInsert(); pending != nil && pending.Place() == at && sameSession(pending.Session, session) {
			if pending.Session.Request == ask.Request {
				joined(step, r.cause)
			} else { // another request's, which one that took effect before does not join
				once(step, r.cause)
			}
			intent = step.ResumeInsert(*pending, ask.Request)
			return step, nil
		}
		if err := ask.begin(); err != nil {
			return nil, err
		}
		intent = step.BeginInsert(session, at)
		once(step, r.cause)
		return step, nil
	})
	return intent, r.failed(err)
}

// sessionOf is the content of the event of a finalisation.
func sessionOf(p poll.Poll, slot poll.Slot, ask Finalise, person Person) poll.Session {
	session := poll.Session{
		SlotID: slot.ID, Start: slot.Start, End: slot.End, AllDay: slot.AllDay,
		Title: strings.TrimSpace(ask.Title), Description: p.Description, Timezone: p.Timezone,
		Attendees: ask.Attendees, KeepOld: ask.KeepOldEvent, OldAccount: ask.oldAccount, Actor: person.ID, Request: ask.Request,
	}
	if session.Title == "" {
		session.Title = p.Title
	}
	if ask.Description != nil {
		session.Description = *ask.Description
	}
	if ask.Duration > 0 && !slot.AllDay {
		// Whole seconds: what an intent that is read back and a calendar that
		// answers have kept of it is the same.
		session.End = session.Start.Add(ask.Duration.Truncate(time.Second))
	}
	return session
}

// sameSession reports whether two requests ask for the same event, whatever the names of
// the requests.
func sameSession(a, b poll.Session) bool {
	a.Request, b.Request = "", ""
	if len(a.Attendees) == 0 && len(b.Attendees) == 0 {
		a.Attendees, b.Attendees = nil, nil
	}
	return a.Start.Equal(b.Start) && a.End.Equal(b.End) && func() bool {
		a.Start, a.End, b.Start, b.End = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		return reflect.DeepEqual(a, b)
	}()
}

// finaliseWithoutEvent is the whole finalisation where no event is asked for.
func (s *Service) finaliseWithoutEvent(ctx context.Context, r request, ask Finalise, account string) error {
	run := runner(s.runRepeatable)
	if ask.Request == "" { // nothing would tell that it took place
		run = s.Store.Run
	}
	err := s.transact(ctx, run, r.cause, func(ctx context.Context, tx store.Tx) (*transition.Step, error) {
		st, slot, err := s.loadToFinalise(ctx, tx, r, ask)
		if err != nil {
			return nil, err
		}
		if err := ask.begin(); err != nil {
			return nil, err
		}
		step := s.step(st, r.cause)
		step.Finalise(r.person.ID, *slot, ask.Request, account, ask.KeepOldEvent)
		once(step, r.cause)
		return step, nil
	})
	return r.failed(err)
}
