package calendarsync

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
)

// LookupEvery is how often at most a process lists an account's calendars because somebody named
// one that the account is not known to write to; requests at once may list them once each.
const LookupEvery = 10 * time.Second

// Lookup finds the accounts that write to calendars which people name: also to those made or
// shared since the account's calendars were listed. All exported fields are required. Safe for
// concurrent use; not to be copied after its first use.
type Lookup struct {
	Accounts interface {
		List(ctx context.Context, ownerID string) ([]accounts.Account, error)
		Choose(ctx context.Context, ownerID, accountID, calendarID string) (account, calendar string, err error)
	}
	Calendars Calendars
	Now       func() time.Time

	mu       sync.Mutex
	listings map[string]listing // the last ones, by account
}

// listing is the outcome of listing an account's calendars.
type listing struct {
	at  time.Time
	err error
}

// Choose is accounts.Repository.Choose, and finds the account of a calendar named without one, which
// matters to people with several accounts. Unavailable, RateLimited: Google did not list the
// calendars of an account that may be the one.
func (l *Lookup) Choose(ctx context.Context, ownerID, accountID, calendarID string) (account, calendar string, err error) {
	if accountID == "" {
		if err := l.findOwner(ctx, ownerID, calendarID); err != nil {
			return "", "", err
		}
	}
	return l.Accounts.Choose(ctx, ownerID, accountID, calendarID)
}

func (l *Lookup) findOwner(ctx context.Context, ownerID, calendarID string) error {
	if calendarID == "" || calendarID == "primary" {
		return nil
	}
	linked, err := l.linked(ctx, ownerID)
	if err != nil || len(linked) < 2 || slices.ContainsFunc(linked, func(a accounts.Account) bool { return a.Owns(calendarID) }) {
		return err // with a single account there is no choice
	}
	var unanswered error
	for _, account := range linked {
		unanswered = cmp.Or(unanswered, l.list(ctx, account))
	}
	if unanswered == nil {
		return nil
	}
	linked, err = l.linked(ctx, ownerID)
	if err != nil || slices.ContainsFunc(linked, func(a accounts.Account) bool { return a.Owns(calendarID) }) {
		return err // another account has it
	}
	return unanswered
}

// Find has an account's calendars listed unless it is known to write to all of some. It records
// what it finds, also that the account does not have them: an account that is not the person's, or
// cannot be used, is left to the caller. Errors are those of Choose.
func (l *Lookup) Find(ctx context.Context, ownerID, accountID string, calendarIDs ...string) error {
	linked, err := l.linked(ctx, ownerID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(linked, func(a accounts.Account) bool { return a.ID == accountID })
	unknown := func(calendarID string) bool {
		return calendarID != "" && calendarID != "primary" && !linked[at].Owns(calendarID)
	}
	if at < 0 || !slices.ContainsFunc(calendarIDs, unknown) {
		return nil
	}
	return l.list(ctx, linked[at])
}

// linked lists a person's accounts that can be used.
func (l *Lookup) linked(ctx context.Context, ownerID string) ([]accounts.Account, error) {
	all, err := l.Accounts.List(ctx, ownerID)
	return slices.DeleteFunc(all, func(a accounts.Account) bool { return a.Usable() != nil }), err
}

// list lists an account's calendars, unless that was done at most LookupEvery ago: then the outcome
// is the same. An account that Google refuses is no error.
func (l *Lookup) list(ctx context.Context, account accounts.Account) error {
	if last, known := l.last(account.ID); known {
		return last.err
	}
	_, _, err := l.Calendars.Of(ctx, account)
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.RateLimited, fault.Exhausted, fault.Internal:
	default:
		err = nil
	}
	if ctx.Err() == nil { // else the caller went away, which says nothing for others
		l.mu.Lock()
		defer l.mu.Unlock()
		l.listings[account.ID] = listing{l.Now(), err}
	}
	return err
}

// last gives the last listing of an account, if it holds yet.
func (l *Lookup) last(accountID string) (last listing, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listings == nil {
		l.listings = map[string]listing{}
	}
	now := l.Now()
	maps.DeleteFunc(l.listings, func(_ string, old listing) bool {
		age := now.Sub(old.at)
		return age < 0 || age >= LookupEvery
	})
	last, known = l.listings[accountID]
	return last, known
}
