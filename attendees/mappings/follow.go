package mappings

import (
	"context"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// settling is what settle does about one primary address.
type settling struct {
	primary string
	// relist has a calendar that was followed before listed again.
	relist bool
	// delegate creates the account of the service account.
	delegate bool
	// also is an account that may have followed the address, though it no longer has it.
	also string
}

// settle has the primary calendar of an address followed by one account, the one that the
// mappings in use want, and by no other account. It is idempotent. What Google refuses now
// is left to the sweep.
func (m *Service) settle(ctx context.Context, of settling, cause scheduler.Cause) (did Refreshed, err error) {
	by, err := m.accountsOf(ctx, of)
	if err != nil {
		return did, err
	}
	var changed []gcal.Ref
	err = m.Store.Run(ctx, func(ctx context.Context, tx store.Tx) (err error) {
		did, changed, err = m.want(ctx, tx, of, by, cause.Request(m.now()))
		return err
	})
	if err != nil {
		return Refreshed{}, err
	}
	for _, ref := range changed {
		if err := m.Follow(ctx, ref.Account, ref.Calendar, cause); err != nil {
			did.Failed++
			m.Log.WarnContext(ctx, "calendar of a mapped address not watched yet", "calendar", ref.Calendar, "account", ref.Account,
				"trace", cause.Trace, "error", err)
		}
	}
	return did, nil
}

// followers are the accounts of an address: those by which it may be followed, the best one
// first, and all by which it may be followed now.
type followers struct{ wanted, all []string }

func (m *Service) accountsOf(ctx context.Context, of settling) (by followers, err error) {
	linked, err := m.Accounts.ByEmail(ctx, of.primary)
	if err != nil {
		return by, err
	}
	for _, account := range linked {
		by.all = append(by.all, account.ID)
	}
	delegated := accounts.DelegatedID(of.primary)
	by.wanted = by.all
	if m.Delegated {
		by.wanted = []string{delegated}
	}
	by.all = append(slices.Clone(by.all), delegated)
	if of.also != "" && !slices.Contains(by.all, of.also) {
		by.all = append(by.all, of.also)
	}
	if !m.Delegated || !of.delegate {
		return by, nil
	}
	table, _, err := m.Current(ctx, m.Store)
	if err == nil && table.Maps(of.primary) {
		_, err = m.Accounts.Delegate(ctx, of.primary)
	}
	return by, err
}

// want writes the interests of the calendars of an address's accounts, in a transaction that
// reads the mappings and the accounts. It returns those that changed.
func (m *Service) want(
	ctx context.Context, tx store.Tx, of settling, by followers, request calendars.Request,
) (did Refreshed, changed []gcal.Ref, err error) {
	table, _, err := m.Current(ctx, tx)
	if err != nil {
		return did, nil, err
	}
	var follow accounts.Account
	if table.Maps(of.primary) {
		follow, err = firstUsable(ctx, tx, by.wanted, of.primary)
		if err != nil {
			return did, nil, err
		}
	}
	known, err := calendarsOf(ctx, tx, by.all)
	if err != nil {
		return did, nil, err
	}
	if primary := follow.Primary(); follow.ID != "" && !slices.ContainsFunc(known, at(follow.ID, primary)) {
		known = append(known, calendars.Calendar{Key: poll.CalendarKey(follow.ID, primary), AccountID: follow.ID, CalendarID: primary})
	}
	for _, calendar := range known {
		updates := interest(calendar, follow, of.relist, request, &did)
		if updates == nil {
			continue
		}
		if err := tx.Merge(calendars.Path(calendar.Key), updates...); err != nil {
			return did, nil, err
		}
		changed = append(changed, gcal.Ref{Account: calendar.AccountID, Calendar: calendar.CalendarID})
	}
	return did, changed, nil
}

// Revive has the service account try mapped addresses again that Google refused, since their
// accounts may have been created since, or the refusal may have passed: those that were tried
// longest ago, accountPage at most, so that each has its turn however many stay refused. A refused
// account whose address is no longer mapped is unlinked, as finish does: it would keep its place
// before all others. It returns how many it tries, and is idempotent.
func (m *Service) Revive(ctx context.Context, cause scheduler.Cause) (tried int, err error) {
	if !m.Delegated {
		return 0, nil
	}
	refused, err := accounts.RefusedDelegated(ctx, m.Store, accountPage)
	if err != nil || len(refused) == 0 {
		return 0, err
	}
	table, _, err := m.Current(ctx, m.Store)
	if err != nil {
		return 0, err
	}
	for _, account := range refused {
		if !table.Maps(account.Email) {
			if err := m.unlink(ctx, cause, account.Email); err != nil {
				return tried, err
			}
			continue
		}
		if _, err := m.settle(ctx, settling{primary: account.Email, delegate: true}, cause); err != nil {
			return tried, err
		}
		tried++
	}
	return tried, nil
}

// at reports of a calendar whether it is that one.
func at(accountID, calendarID string) func(calendars.Calendar) bool {
	return func(c calendars.Calendar) bool { return c.AccountID == accountID && c.CalendarID == calendarID }
}

// firstUsable is the first account that can be used and has the address; the zero Account if
// none has.
func firstUsable(ctx context.Context, reader store.Reader, ids []string, email string) (accounts.Account, error) {
	for _, id := range ids {
		account, err := accounts.Load(ctx, reader, id)
		switch {
		case fault.Is(err, fault.NotFound):
		case err != nil:
			return accounts.Account{}, err
		case account.Usable() == nil && strings.EqualFold(account.Email, email):
			return account, nil
		}
	}
	return accounts.Account{}, nil
}

func calendarsOf(ctx context.Context, reader store.Reader, accountIDs []string) (all []calendars.Calendar, err error) {
	for _, id := range accountIDs {
		found, err := store.Collect(calendars.OfAccount(ctx, reader, id))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
