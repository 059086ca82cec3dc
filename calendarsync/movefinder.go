package calendarsync

import (
	"context"
	"strings"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// mostCandidates is how many calendars are searched for one event: an absence
// costs two calls of Google in each, of the 600 that a person has in a minute.
const maxCandidates = 25

// CodeSearchFailed (Unavailable): it cannot be told whether an event is in another
// calendar of its owner.
const CodeSearchFailed = "search_failed"

// Elsewhere finds events that were moved to another calendar of the same person
// (events.move). All fields are needed.
type Elsewhere struct {
	Store    store.Reader
	Accounts interface {
		Get(ctx context.Context, id string) (accounts.Account, error)
		List(ctx context.Context, ownerID string) ([]accounts.Account, error)
	}
	Google interface {
		Get(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error)
		Lists(ctx context.Context, ref gcal.Ref, eventID string) (bool, error)
	}
	Calendars Calendars
	Now       func() time.Time
}

// search looks for events of one person. It reads their calendars once, however
// many events it looks for.
type search struct {
	*Elsewhere
	owner string // "" where it is to be read from the account
	// linked are the person's accounts that let us in.
	linked []accounts.Account
	// known are the calendars that we ever followed, listed those that the accounts
	// write to; nil where they were not read yet.
	known, listed []candidate
}

// begin begins a search for events of a person; "" where only the account of what
// is missing says who that is.
func (e *Elsewhere) begin(ownerID string) *search { return &search{Elsewhere: e, owner: ownerID} }

// find looks for a missing event in the calendars of its owner: those that we
// know, then those that the owner's accounts list. It gives nil where each of them
// answered and none has it. Whatever does not answer, or more calendars than
// mostCandidates, is Unavailable with CodeSearchFailed: the event may be there. A
// calendar that we lost more than backWithin ago, and that no account lists, is no
// candidate.
func (s *search) find(ctx context.Context, missing scheduler.Missing) (*scheduler.Found, error) {
	if err := s.readKnown(ctx, missing.AccountID); err != nil {
		return nil, searchFailed(err)
	}
	answered := map[string]bool{missing.CalendarID: true}
	found, err := s.askEach(ctx, s.known, answered, missing)
	if err == nil && found == nil {
		if err = s.readListed(ctx); err == nil {
			found, err = s.askEach(ctx, s.listed, answered, missing)
		}
	}
	for _, yes := range answered {
		if err == nil && found == nil && !yes {
			err = fault.New(fault.Unavailable, "a calendar of the owner does not answer now")
		}
	}
	if err != nil {
		return nil, searchFailed(err)
	}
	return found, nil
}

// askEach asks those calendars that have not answered yet, and notes which do and
// which are waited for.
func (s *search) askEach(ctx context.Context, candidates []candidate, answered map[string]bool, missing scheduler.Missing) (*scheduler.Found, error) {
	for _, one := range candidates {
		if answered[one.CalendarID] {
			continue
		}
		if len(answered) > maxCandidates {
			return nil, fault.Newf(fault.Unavailable, "the owner has more than %d other calendars", maxCandidates)
		}
		var found *scheduler.Found
		var there bool
		var err error
		if !one.refused {
			found, there, err = s.ask(ctx, one.Place, missing)
		}
		if err != nil || found != nil {
			return found, err
		}
		if there || one.expected {
			answered[one.CalendarID] = there
		}
	}
	return nil, nil
}

// ask asks one calendar for a missing event; nil where it has none of that id that
// is the one. there is false where the calendar itself is not there for us. That
// Google does not find an event is believed where the calendar does not list it
// either.
func (s *search) ask(ctx context.Context, at poll.Place, missing scheduler.Missing) (found *scheduler.Found, there bool, err error) {
	ref := gcal.Ref{Account: at.AccountID, Calendar: at.CalendarID}
	event, err := s.Google.Get(ctx, ref, missing.EventID)
	switch {
	case err == nil && event.Seen != rules.Gone && isMoved(event, at, missing):
		return &scheduler.Found{Place: at, Event: translate(event)}, true, nil
	case err == nil && event.Malformed: // what tells it from others may be what cannot be read
		return nil, true, errMalformed
	case err == nil, fault.CodeOf(err) == gcal.CodeGone:
		return nil, true, nil
	case !fault.Is(err, fault.NotFound):
		return nil, false, err
	}
	lists, err := s.Google.Lists(ctx, ref, missing.EventID)
	switch {
	case err == nil && lists:
		return nil, true, fault.New(fault.Unavailable, "a calendar lists an event that it does not find")
	case fault.Is(err, fault.NotFound):
		return nil, false, nil
	default:
		return nil, err == nil, err
	}
}

// isMoved tells whether an event is the missing one and not a guest's copy, which
// has its id: it belongs to the calendar that shows it, and where we made it has
// our marks. Of one that Google made before us the id says which it is, unless it
// has another poll's mark: it is believed, since following too much cancels
// nothing.
func isMoved(event gcal.Event, at poll.Place, missing scheduler.Missing) bool {
	if !event.Organized && !strings.EqualFold(event.Organizer, at.CalendarID) {
		return false
	}
	marks := translate(event)
	if !isOurs(event.ID) {
		return marks.Poll == "" || marks.Poll == missing.PollID
	}
	return marks.Poll == missing.PollID && poll.EventID(marks.Poll, marks.Generation) == event.ID
}

// searchFailed defers what a search was for, whatever kept it from ending: what
// befell another calendar, or another account, is not said of the one at hand.
func searchFailed(err error) error {
	return &fault.Error{
		Kind: fault.Unavailable, Code: CodeSearchFailed, Message: "Another calendar did not answer; it is retried automatically.",
		RetryAfter: fault.RetryAfter(err), Err: err,
	}
}
