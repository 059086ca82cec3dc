package health

import (
	"cmp"
	"context"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/web-hooks/timers"
)

// page is how many documents are read at a time.
const page = 100

// Reader reads health from the store. Store, Now and Recent are needed, by Overview
// Work and Jobs too; the store answers Queries of accounts, calendars,
// calendarsync, mirror, attendee and poll.
type Reader struct {
	Store store.Reader
	Now   func() time.Time
	// Recent is how old the last success of a healthy calendar may be.
	Recent time.Duration
	// Ending is how soon a watch channel ends that should have been renewed (func
	// Ending); 0: EndingWithin.
	Ending time.Duration
	// Address is where pushes go; "" where none come.
	Address string
	// Sync is the setting QS_SYNC; "off": this server follows no calendar.
	Sync string
	Work Work
	Jobs []timers.Job
	// Attendees reports that second addresses of attendees are on.
	Attendees bool
}

func (r *Reader) terms() Terms {
	return Terms{Now: r.Now(), Recent: r.Recent, Address: r.Address, Off: r.Sync == "off"}
}

// OfPerson reads the health of a person's accounts, in the order in which they were
// linked. An unlinked account counts only while something follows its calendars.
func (r *Reader) OfPerson(ctx context.Context, ownerID string) (Report, error) {
	linked, err := accounts.OfOwner(ctx, r.Store, ownerID)
	if err != nil {
		return Report{}, err
	}
	followed, err := calendars.OfOwner(ctx, r.Store, ownerID)
	if err != nil {
		return Report{}, err
	}
	followed = wanted(followed)
	for _, calendar := range followed { // the account's document may be gone
		if !slices.ContainsFunc(linked, func(a accounts.Account) bool { return a.ID == calendar.AccountID }) {
			linked = append(linked, accounts.Account{ID: calendar.AccountID, OwnerID: ownerID, Provider: accounts.Google})
		}
	}
	report := Report{Overall: Healthy}
	report.Accounts, err = r.ofAccounts(ctx, linked, func(accountID string) ([]calendars.Calendar, error) {
		return slices.DeleteFunc(slices.Clone(followed), func(c calendars.Calendar) bool { return c.AccountID != accountID }), nil
	})
	for _, account := range report.Accounts {
		report.Overall = Worst(report.Overall, account.Status)
	}
	return report, err
}

// OfAccount reads the health of one account of a person; NotFound for an account
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

// Page reads the health of everybody's accounts, in the order in which they were
// linked, at most limit (100 for 0) behind after, and where to continue; nil at the
// end. It leaves out unlinked accounts that nothing follows, so a page may hold
// fewer and not be the last.
func (r *Reader) Page(ctx context.Context, limit int, after *store.Cursor) ([]Account, *store.Cursor, error) {
	linked, next, err := accounts.All(ctx, r.Store, cmp.Or(limit, page), after)
	if err != nil {
		return nil, nil, err
	}
	all, err := r.ofAccounts(ctx, linked, func(accountID string) ([]calendars.Calendar, error) { return r.followedOf(ctx, accountID) })
	return all, next, err
}

// Survey counts a page of everybody's accounts by status, and calls each with every
// one that is not healthy. at is where an earlier page ended ("": the beginning);
// next is where to continue, "" at the end.
func (r *Reader) Survey(ctx context.Context, at string, each func(Account)) (counts map[Status]int, next string, err error) {
	counts = map[Status]int{}
	found, behind, err := r.Page(ctx, page, store.DecodeCursor(at, "accounts"))
	if err != nil {
		return counts, "", err
	}
	for _, account := range found {
		counts[account.Status]++
		if account.Status != Healthy {
			each(account)
		}
	}
	next, err = store.EncodeCursor(behind)
	return counts, next, err
}

// ofAccounts reads the health of accounts, whose followed calendars followed gives.
func (r *Reader) ofAccounts(
	ctx context.Context, linked []accounts.Account, followed func(accountID string) ([]calendars.Calendar, error),
) (all []Account, err error) {
	for _, account := range linked {
		found, err := followed(account.ID)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 && account.Status == accounts.Unlinked {
			continue
		}
		health, err := r.ofAccount(ctx, account, found)
		if err != nil {
			return nil, err
		}
		all = append(all, health)
	}
	return all, nil
}

func (r *Reader) ofAccount(ctx context.Context, account accounts.Account, followed []calendars.Calendar) (Account, error) {
	health := Account{ID: account.ID, OwnerID: account.OwnerID, Email: account.Email, Provider: account.Provider, Status: Healthy}
	delegated := account.Kind == accounts.KindServiceAccount
	var err error
	health.PendingWrites, err = poll.CountIntents(ctx, r.Store, account.ID)
	if err != nil {
		return Account{}, err
	}
	for _, calendar := range followed {
		facts := Facts{Account: account.Status, Delegated: delegated, Calendar: calendar}
		facts.Channels, err = calendarsync.Watches(ctx, r.Store, calendar.AccountID, calendar.CalendarID)
		if err != nil {
			return Account{}, err
		}
		facts.HeldSince, err = r.heldSince(ctx, calendar)
		if err != nil {
			return Account{}, err
		}
		of := Of(facts, r.terms())
		health.Calendars = append(health.Calendars, of)
		health.Status = Worst(health.Status, of.Status)
	}
	if len(followed) == 0 && account.Status == accounts.Revoked {
		health.Status, health.Troubles = Error, situation{Facts: Facts{Account: account.Status, Delegated: delegated}}.troubles(accountRows)
	}
	return health, r.ofMirrors(ctx, &health)
}

// heldSince is when mirroring began to hold missing events of a calendar, which then has to
// be listed anew; zero: it holds none.
func (r *Reader) heldSince(ctx context.Context, calendar calendars.Calendar) (time.Time, error) {
	if calendar.OwnerID == "" || calendar.Backlogs[mirror.Consumer].Relist.IsZero() {
		return time.Time{}, nil
	}
	person, err := mirror.LoadPerson(ctx, r.Store, calendar.OwnerID)
	return person.HeldSince[calendar.Key], err
}

// followedOf reads the calendars of an account that polls or mirrors follow.
func (r *Reader) followedOf(ctx context.Context, accountID string) (all []calendars.Calendar, err error) {
	all, err = store.Collect(calendars.OfAccount(ctx, r.Store, accountID))
	return wanted(all), err
}

// wanted leaves the calendars that something follows, sorted by account and key.
func wanted(found []calendars.Calendar) []calendars.Calendar {
	found = slices.DeleteFunc(found, func(c calendars.Calendar) bool { return !c.Wanted() })
	slices.SortFunc(found, func(a, b calendars.Calendar) int {
		return cmp.Or(cmp.Compare(a.AccountID, b.AccountID), cmp.Compare(a.Key, b.Key))
	})
	return found
}
