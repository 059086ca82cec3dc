package scheduler

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// chooseCalendar finds the account and calendar before any transaction, since it may call
// Google. Without an event it serves an older one alone, and its failure is no error.
func (s *Service) chooseCalendar(ctx context.Context, p poll.Poll, ask Finalise) (account, calendar string, err error) {
	if !ask.CreateEvent {
		return s.legacyAccount(ctx, p)
	}
	if _, err := rules.Apply(p.Rules("", nil, nil), rules.CommandFinalise); err != nil {
		return "", "", err
	}
	if _, err := chosenSlot(ctx, s.Store, p.ID, ask); err != nil { // before Google is asked
		return "", "", err
	}
	account, calendar, err = s.previousCalendar(ctx, p, ask)
	if err != nil || account != "" {
		return account, calendar, err
	}
	account, calendar, err = s.Accounts.Choose(ctx, p.CreatorID, ask.AccountID, ask.CalendarID)
	if err != nil {
		return "", "", err
	}
	// Where the calendar does not answer, the insert finds out what is wrong with
	// it, and is gone on with when that is over.
	if may, err := s.Calendar.MayFollow(ctx, account, calendar); err == nil && !may {
		return "", "", errCalendarReadOnly
	}
	return account, calendar, nil
}

var errCalendarReadOnly = &fault.Error{
	Kind: fault.Forbidden, Code: CodeCalendarReadOnly,
	Message: "This Google account may not change the events of that calendar. Choose another calendar, or ask its owner for " +
		"the right to make changes to events.",
}

// previousCalendar is the calendar of an earlier finalisation, for a person who names none,
// and its account. Both are "" where that account was unlinked, is not the one that the person
// names, or may no longer write there. Revoked where its grant is dead: no event is made
// elsewhere unasked.
func (s *Service) previousCalendar(ctx context.Context, p poll.Poll, ask Finalise) (account, calendar string, err error) {
	if ask.CalendarID != "" || p.GoogleCalendarID == "" {
		return "", "", nil
	}
	entry, _, err := poll.IndexOf(ctx, s.Store, p)
	if err != nil {
		return "", "", err
	}
	following := ask.AccountID
	if entry != nil {
		following = entry.AccountID
	}
	account, calendar, err = s.Accounts.Choose(ctx, p.CreatorID, following, p.GoogleCalendarID)
	switch {
	case fault.Is(err, fault.NotFound), fault.CodeOf(err) == string(rules.CalendarUnlinked):
		return "", "", nil
	case err == nil && ask.AccountID != "" && ask.AccountID != account:
		return "", "", nil
	case err != nil:
		return "", "", err
	}
	switch may, err := s.Calendar.MayFollow(ctx, account, calendar); {
	case err == nil && !may, fault.Is(err, fault.NotFound), fault.Is(err, fault.Provider):
		return "", "", nil
	}
	return account, calendar, nil // where the calendar does not answer, the insert finds out
}

// legacyAccount finds the account of an event that was linked before us; "" where there is no
// event, or no account is linked any more.
func (s *Service) legacyAccount(ctx context.Context, p poll.Poll) (account, calendar string, err error) {
	if p.GoogleEventID == "" {
		return "", "", nil
	}
	account, calendar, err = s.Accounts.Choose(ctx, p.CreatorID, "", p.GoogleCalendarID)
	if fault.Is(err, fault.Revoked) || fault.Is(err, fault.NotFound) {
		return "", "", nil // without an account the event can only be released
	}
	return account, calendar, err
}
