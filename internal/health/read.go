package health

import (
	"cmp"
	"context"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// page is how many documents are read at a time.
const page = 100

// Reader reads health from the store. Now and Recent are needed; it answers
// Queries of accounts, cursor, calendarsync and poll.
type Reader struct {
	Store store.Reader
	Now   func() time.Time
	// Recent is how old the last success of a healthy calendar may be.
	Recent time.Duration
	// Ending is how soon a watch channel ends that should have been renewed (see the
	// function of that name); 0: EndingWithin.
	Ending time.Duration
	// Address is where pushes go; "" where none come.
	Address string
	// Off tells that this server follows no calendar.
	Off bool
}

func (r *Reader) terms() Terms {
	return Terms{Now: r.Now(), Recent: r.Recent, Address: r.Address, Off: r.Off}
}

// OfPerson is how the sync of a person stands. Accounts come in the order in
// which they were linked; one that was unlinked counts only while polls follow
// its calendars.
func (r *Reader) OfPerson(ctx context.Context, ownerID string) (Report, error) {
	linked, err := accounts.OfOwner(ctx, r.Store, ownerID)
	if err != nil {
		return Report{}, err
	}
	followed, err := r.followed(ctx, ownerID)
	if err != nil {
		return Report{}, err
	}
	for _, id := range missing(followed, linked) { // its document is gone, and polls still follow it
		linked = append(linked, accounts.Account{ID: id, OwnerID: ownerID, Provider: accounts.Google})
	}
	report := Report{Overall: Healthy}
	failing := r.failingOf(ownerID)
	for _, account := range linked {
		found := followed[account.ID]
		if len(found) == 0 && account.Status == accounts.Unlinked {
			continue
		}
		health, err := r.ofAccount(ctx, account, found, failing)
		if err != nil {
			return Report{}, err
		}
		report.Accounts = append(report.Accounts, health)
		report.Overall = Worst(report.Overall, health.Status)
	}
	return report, nil
}

// OfAccount is how the sync of one account of a person stands; NotFound for one
// that OfPerson does not show, another person's among them.
func (r *Reader) OfAccount(ctx context.Context, ownerID, accountID string) (Account, error) {
	report, err := r.OfPerson(ctx, ownerID)
	if err != nil {
		return Account{}, err
	}
	i := slices.IndexFunc(report.Accounts, func(a Account) bool { return a.ID == accountID })
	if i < 0 {
		return Account{}, fault.New(fault.NotFound, "There is no such linked account.")
	}
	return report.Accounts[i], nil
}

// Page gives the health of the accounts of everybody, in the order in which they
// were linked, at most limit (100 for 0) behind after, and where to go on; nil at
// the end. Unlinked accounts that nothing follows are left out, so a page may
// hold fewer and not be the last.
func (r *Reader) Page(ctx context.Context, limit int, after *store.Cursor) ([]Account, *store.Cursor, error) {
	linked, next, err := accounts.All(ctx, r.Store, cmp.Or(limit, page), after)
	if err != nil {
		return nil, nil, err
	}
	var all []Account
	for _, account := range linked {
		found, err := r.followedOf(ctx, account.ID)
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 && account.Status == accounts.Unlinked {
			continue
		}
		health, err := r.ofAccount(ctx, account, found, r.failingOf(account.OwnerID))
		if err != nil {
			return nil, nil, err
		}
		all = append(all, health)
	}
	return all, next, nil
}

// Survey counts a page of the accounts of everybody by status, and calls each with
// every one that is not healthy. at is where an earlier page ended ("": from the
// beginning); next is where to go on, "" at the end. Its error, or each's, ends it.
func (r *Reader) Survey(ctx context.Context, at string, each func(Account) error) (counts map[Status]int, next string, err error) {
	counts = map[Status]int{}
	found, behind, err := r.Page(ctx, page, store.CursorAt(at, "accounts"))
	if err != nil {
		return counts, "", err
	}
	for _, account := range found {
		counts[account.Status]++
		if account.Status == Healthy {
			continue
		}
		if err := each(account); err != nil {
			return counts, "", err
		}
	}
	next, err = store.PlaceOf(behind) // they come in the order in which they were linked
	return counts, next, err
}

// ofAccount is how an account with the calendars that polls follow stands.
func (r *Reader) ofAccount(ctx context.Context, account accounts.Account, found []calendars.Calendar, failing failures) (Account, error) {
	health := Account{ID: account.ID, OwnerID: account.OwnerID, Email: account.Email, Provider: account.Provider, Status: Healthy}
	var err error
	if health.PendingWrites, err = poll.CountIntents(ctx, r.Store, account.ID); err != nil {
		return Account{}, err
	}
	for _, calendar := range found {
		facts := Facts{Account: account.Status, Calendar: calendar}
		if facts.Channels, err = calendarsync.Watches(ctx, r.Store, calendar.AccountID, calendar.CalendarID); err != nil {
			return Account{}, err
		}
		if facts.FailingSince, err = failing(ctx, calendar); err != nil {
			return Account{}, err
		}
		of := Of(facts, r.terms())
		health.Calendars = append(health.Calendars, of)
		health.Status = Worst(health.Status, of.Status)
	}
	if len(found) == 0 && account.Status == accounts.Revoked {
		health.Status = Error
		health.Troubles = []Trouble{{Code: rows[0].code, Status: Error, Message: rows[0].message(situation{})}}
	}
	return health, nil
}

// failures gives since when events of a calendar keep failing; zero: not known,
// or none does.
type failures func(ctx context.Context, calendar calendars.Calendar) (time.Time, error)

// failingOf finds a person's failing polls when a calendar asks, and once for
// all of them: as a rule none does.
func (r *Reader) failingOf(ownerID string) failures {
	var polls []poll.Poll
	asked := false
	return func(ctx context.Context, calendar calendars.Calendar) (since time.Time, err error) {
		fails := func(eventID string) bool { return calendar.Deferred[eventID] == calendars.DeferredFailed }
		if !asked && slices.ContainsFunc(calendar.DeferredEvents(), fails) {
			if polls, err = poll.InError(ctx, r.Store, ownerID, rules.SyncFailed, page); err != nil {
				return time.Time{}, err
			}
			asked = true
		}
		for _, p := range polls {
			if p.Sync.Error != nil && fails(p.GoogleEventID) && (since.IsZero() || p.Sync.Error.At.Before(since)) {
				since = p.Sync.Error.At
			}
		}
		return since, nil
	}
}

// followed are a person's calendars that polls follow, by account, sorted by
// their keys.
func (r *Reader) followed(ctx context.Context, ownerID string) (map[string][]calendars.Calendar, error) {
	all, err := calendars.OfOwner(ctx, r.Store, ownerID)
	if err != nil {
		return nil, err
	}
	byAccount := map[string][]calendars.Calendar{}
	for _, calendar := range wanted(all) {
		byAccount[calendar.AccountID] = append(byAccount[calendar.AccountID], calendar)
	}
	return byAccount, nil
}

// followedOf are the calendars of an account that polls follow, sorted by their
// keys.
func (r *Reader) followedOf(ctx context.Context, accountID string) (all []calendars.Calendar, err error) {
	var after *store.Cursor
	for {
		found, next, err := calendars.OfAccount(ctx, r.Store, accountID, page, after)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		if next == nil {
			return wanted(all), nil
		}
		after = next
	}
}

// wanted leaves the calendars that something follows, sorted by their keys.
func wanted(found []calendars.Calendar) []calendars.Calendar {
	found = slices.DeleteFunc(found, func(c calendars.Calendar) bool { return !c.Wanted() })
	slices.SortFunc(found, func(a, b calendars.Calendar) int { return cmp.Compare(a.Key, b.Key) })
	return found
}

// missing are the accounts of calendars that have no document, sorted.
func missing(followed map[string][]calendars.Calendar, linked []accounts.Account) []string {
	var ids []string
	for id := range followed {
		if !slices.ContainsFunc(linked, func(a accounts.Account) bool { return a.ID == id }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
