package mappings

import (
	"context"
	"slices"

	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/scheduler"
)

var _ calendarsync.AccountListener = (*Service)(nil)

// AccountBack has the calendar of a mapped address followed by an account that was linked,
// perhaps again, and listed: while no account reached it, events that guests showed were left alone.
// It is idempotent.
func (m *Service) AccountBack(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	again := !account.UpdatedAt.Equal(account.CreatedAt) // what is new is listed anyway
	if err := m.relink(ctx, account, again, cause); err != nil || account.Kind != accounts.KindServiceAccount {
		return err
	}
	table, _, err := m.Current(ctx, m.Store)
	if err == nil && !table.Maps(account.Email) { // the mapping went while the account was made
		_, err = m.undelegate(ctx, cause, account.Email)
	}
	return err
}

// AccountLeaving has the calendar of a mapped address no longer followed by an account that
// was unlinked, but by another one of the address if there is one. It is idempotent.
func (m *Service) AccountLeaving(ctx context.Context, account accounts.Account, cause scheduler.Cause) error {
	return m.relink(ctx, account, false, cause)
}

// relink follows an address as its accounts are now. relist is settling's.
func (m *Service) relink(ctx context.Context, account accounts.Account, relist bool, cause scheduler.Cause) error {
	table, _, err := m.Current(ctx, m.Store)
	if err != nil {
		return err
	}
	if !table.Maps(account.Email) {
		own, err := calendarsOf(ctx, m.Store, []string{account.ID})
		if err != nil || !slices.ContainsFunc(own, followed) {
			return err
		}
	}
	did, err := m.settle(ctx, settling{primary: account.Email, also: account.ID, relist: relist}, cause)
	if err != nil || did.Followed+did.Released == 0 || account.Kind == accounts.KindServiceAccount {
		return err // carrying out counts delegated ones
	}
	return m.recount(ctx)
}

func followed(calendar calendars.Calendar) bool { return calendar.Interests[Consumer] > 0 }
