package attendees

import (
	"context"
	"maps"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/poll"
)

// findOrganizer finds the organizer's copy of an event that no known copy lets us change, and
// records it: the organizer is mapped, and that calendar did not show the event since it
// concerns us. found is false if the record has one, or there is none.
func (s *Service) findOrganizer(ctx context.Context, a *attempt) (found bool, err error) {
	for _, c := range a.copies {
		if c.Organized {
			return false, nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a.copies)) {
		c := a.copies[key]
		if c.Gone {
			continue
		}
		usable, _, err := s.usable(ctx, c.AccountID)
		if err != nil {
			return false, err
		}
		if !usable {
			continue
		}
		list, err := s.Google.GuestList(ctx, a.ref(key), c.EventID)
		if a.isMissing(err) {
			continue
		}
		if err != nil {
			return false, called(err)
		}
		if shown := show(key, c.AccountID, c.CalendarID, list.Event); throughOrganizer(shown, a.table) {
			return s.takeOrganizer(ctx, a, list.Event.Organizer, c.EventID)
		}
	}
	return false, nil
}

// takeOrganizer records the copy in the calendar of a mapped organizer: an event has one id in
// every calendar.
func (s *Service) takeOrganizer(ctx context.Context, a *attempt, organizer, eventID string) (found bool, err error) {
	account, err := s.accountOf(ctx, organizer)
	if err != nil || account.ID == "" { // its calendar is listed once an account is linked
		return false, err
	}
	key := poll.CalendarKey(account.ID, account.Primary())
	if known, has := a.copies[key]; has && known.EventID == eventID {
		return false, nil
	}
	a.copies[key] = Copy{AccountID: account.ID, CalendarID: account.Primary(), EventID: eventID, Organized: true}
	_, err = s.record(ctx, a, func(*EventRecord) {}) // what changed it instead made it due
	return err == nil, err
}

// accountOf is the account by which an address is reached now; the zero Account if none is.
func (s *Service) accountOf(ctx context.Context, address string) (accounts.Account, error) {
	delegated, err := s.Accounts.Get(ctx, accounts.DelegatedID(address))
	if err == nil && delegated.Usable() == nil {
		return delegated, nil
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		return accounts.Account{}, err
	}
	linked, err := s.Accounts.ByEmail(ctx, address)
	for _, account := range linked {
		if account.Usable() == nil {
			return account, err
		}
	}
	return accounts.Account{}, err
}
