package calendarsync

import (
	"context"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// maxCandidates bounds the calendars searched for one event: an absence costs two Google
// calls in each, of a person's 600 a minute. Hidden ones come last, and are left out beyond it.
const maxCandidates = 25

// CodeSearchFailed (Unavailable): it is unknown whether another calendar of the owner has
// the event.
const CodeSearchFailed = "search_failed"

// MoveFinder finds events that their owner moved to another calendar (events.move). All
// fields are required.
type MoveFinder struct {
	Store    store.Store
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

// search finds events of one person, reading their calendars once for any number of
// events.
type search struct {
	*MoveFinder
	owner string // "": read from the account
	// linked are the person's usable accounts.
	linked []accounts.Account
	// known are the calendars we ever followed, listed those the accounts may write to;
	// nil until read.
	known, listed []candidate
	// lists are the calendars that the list of each account names, if it was granted.
	lists map[string][]gcal.CalendarEntry
}

// begin starts a search for a person's events; owner "" is read from the missing event's
// account.
func (e *MoveFinder) begin(ownerID string) *search { return &search{MoveFinder: e, owner: ownerID} }

// find searches its owner's other calendars for a missing event, known ones first. It
// returns nil if all of them answered and none has it. If one does not answer, or there
// are more than maxCandidates, the error is Unavailable with CodeSearchFailed, since the
// event may be there. A lost calendar does not count, and neither does one that no account
// lists and that was last read longer than returnWithin ago.
func (s *search) find(ctx context.Context, missing scheduler.Missing) (*scheduler.Found, error) {
	if err := s.readKnown(ctx, missing.AccountID); err != nil {
		return nil, searchFailed(err)
	}
	a := &answers{there: map[string]bool{missing.CalendarID: true}, silent: map[poll.Place]candidate{}}
	found, err := s.askEach(ctx, s.known, a, missing)
	if err == nil && found == nil {
		err = s.readListed(ctx)
		if err == nil {
			found, err = s.askEach(ctx, s.listed, a, missing)
		}
	}
	if err == nil && found == nil {
		err = s.awaitSilent(ctx, a)
	}
	if err != nil {
		return nil, searchFailed(err)
	}
	return found, nil
}

// answers are the calendars, by id, that answered a search, and the candidates that were
// expected to and did not.
type answers struct {
	there  map[string]bool
	silent map[poll.Place]candidate
}

// askEach asks the calendars that have not answered.
func (s *search) askEach(ctx context.Context, candidates []candidate, a *answers, missing scheduler.Missing) (*scheduler.Found, error) {
	for _, one := range candidates {
		if a.there[one.CalendarID] {
			continue
		}
		full := len(a.there)+len(a.silent) > maxCandidates
		if full && one.hidden {
			break
		}
		if full {
			return nil, fault.Newf(fault.Unavailable, "the owner has more than %d other calendars", maxCandidates)
		}
		var found *scheduler.Found
		var there bool
		var err error
		if !one.refused {
			found, there, err = s.ask(ctx, one.Place, missing)
		}
		switch {
		case err != nil || found != nil:
			return found, err
		case there:
			a.there[one.CalendarID] = true
		case one.expected:
			a.silent[one.Place] = one
		}
	}
	return nil, nil
}

// ask asks one calendar for the missing event; nil if it does not have it. there is false
// if the calendar itself is refused. Google's 404 is believed only if the calendar's
// listing does not show the event either.
func (s *search) ask(ctx context.Context, at poll.Place, missing scheduler.Missing) (found *scheduler.Found, there bool, err error) {
	ref := gcal.Ref{Account: at.AccountID, Calendar: at.CalendarID}
	event, err := s.Google.Get(ctx, ref, missing.EventID)
	switch {
	case err == nil && event.EventState != rules.Gone && isMoved(event, at, missing):
		return &scheduler.Found{Place: at, CalendarEvent: translate(event)}, true, nil
	case err == nil && event.Malformed: // the unreadable field may be what identifies it
		return nil, true, errMalformed
	case err == nil, fault.CodeOf(err) == gcal.CodeGone:
		return nil, true, nil
	case fault.CodeOf(err) == accounts.CodeClientRefused:
		return nil, false, nil
	case !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Provider):
		return nil, false, err
	}
	lists, unlisted := s.Google.Lists(ctx, ref, missing.EventID)
	switch {
	case gcal.RefusesCalendar(unlisted):
		return nil, false, nil
	case unlisted != nil:
		return nil, false, unlisted
	case lists:
		return nil, true, fault.New(fault.Unavailable, "a calendar lists an event that it does not find")
	case fault.Is(err, fault.Provider): // the event itself is refused
		return nil, true, err
	default:
		return nil, true, nil
	}
}

// isMoved distinguishes the missing event from a guest's copy with the same id: it
// belongs to the calendar that shows it and, if we created it, has our marks. An event
// that Google created before this backend is identified by its id unless it has another
// poll's mark; a wrong match cancels nothing.
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

// searchFailed makes the failure of a search Unavailable, whatever its cause: it says
// nothing about the calendar that is synced.
func searchFailed(err error) error {
	return &fault.Error{
		Kind: fault.Unavailable, Code: CodeSearchFailed, Message: "Another calendar did not answer; it is retried automatically.",
		RetryAfter: fault.RetryAfter(err), Err: err,
	}
}
