package calendarsync

import (
	"context"
	"errors"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// returnWithin is how long after its last successful sync a lost calendar may come back,
// so that it may still hold a missing event.
const returnWithin = 24 * time.Hour

// candidate is a calendar that an event may have moved to.
type candidate struct {
	poll.Place
	// An answer is expected if an account lists the calendar, or it was synced lately and is
	// not lost since. refused means that its account cannot be used now.
	expected, refused bool
	// hidden is one that its owner hid, which is asked only as long as maxCandidates allows it.
	hidden bool
}

// readKnown reads the owner's accounts, the missing event's first, and their known
// calendars.
func (s *search) readKnown(ctx context.Context, accountID string) error {
	if s.known != nil {
		return nil
	}
	if s.owner == "" {
		account, err := s.Accounts.Get(ctx, accountID)
		if err != nil {
			return err
		}
		s.owner = account.OwnerID
	}
	all, err := s.Accounts.List(ctx, s.owner)
	if err != nil {
		return err
	}
	found, err := calendars.OfOwner(ctx, s.Store, s.owner)
	if err != nil {
		return err
	}
	s.linked = slices.DeleteFunc(all, func(a accounts.Account) bool { return a.Usable() != nil })
	if i := s.indexOf(accountID); i > 0 {
		s.linked = slices.Concat(s.linked[i:i+1], s.linked[:i], s.linked[i+1:])
	}
	s.known = []candidate{}
	for _, calendar := range found {
		s.known = append(s.known, candidate{
			Place:    poll.Place{AccountID: calendar.AccountID, CalendarID: calendar.CalendarID},
			expected: calendar.SuccessAt.After(s.Now().Add(-returnWithin)) && !calendar.Lost(), refused: s.indexOf(calendar.AccountID) < 0,
		})
	}
	return nil
}

func (s *search) indexOf(accountID string) int {
	return slices.IndexFunc(s.linked, func(a accounts.Account) bool { return a.ID == accountID })
}

// readListed asks each account for its calendars; only the primary one if listing was not
// granted.
func (s *search) readListed(ctx context.Context) error {
	if s.listed != nil {
		return nil
	}
	listed, hidden, lists := []candidate{}, []candidate(nil), map[string][]gcal.CalendarEntry{}
	for _, account := range s.linked {
		entries, complete, err := s.Calendars.Of(ctx, account)
		if fault.CodeOf(err) == accounts.CodeClientRefused { // it says nothing of the owner's other accounts
			continue
		}
		if err != nil {
			return err
		}
		if complete {
			lists[account.ID] = entries
		}
		for _, entry := range entries {
			one := candidate{Place: poll.Place{AccountID: account.ID, CalendarID: entry.ID}, expected: true, hidden: entry.Hidden}
			switch {
			case !entry.Writable || entry.ID == "primary": // an alias, not an id
			case one.hidden:
				hidden = append(hidden, one)
			default:
				listed = append(listed, one)
			}
		}
	}
	s.listed, s.lists = append(listed, hidden...), lists
	return nil
}

// awaitSilent fails if a calendar may hold the event and did not answer. One that its
// account no longer lists is lost. Of another, which may be lost without being listed, a
// sync run finds out.
func (s *search) awaitSilent(ctx context.Context, a *answers) (err error) {
	for at := range a.silent {
		list, complete := s.lists[at.AccountID] // of accounts that can be used now
		lost := complete && !names(list, at.CalendarID)
		if a.there[at.CalendarID] || lost {
			continue
		}
		err = errors.Join(err, fault.New(fault.Unavailable, "a calendar of the owner does not answer now"), s.requestSync(ctx, at))
	}
	return err
}

// requestSync has the drain sync a calendar whose last run succeeded.
func (s *search) requestSync(ctx context.Context, at poll.Place) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		calendar, _, err := calendars.Load(ctx, tx, at.AccountID, at.CalendarID)
		if err != nil || !calendar.Wanted() || calendar.Asked() || !calendar.FailedSince.IsZero() {
			return err
		}
		return tx.Update(calendars.Path(calendar.Key), calendars.RequestSync(calendars.Request{At: s.Now(), Trigger: "drain"})...)
	})
}
