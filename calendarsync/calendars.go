package calendarsync

import (
	"context"

	"questscheduler/internal/accounts"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
)

// Calendars lists the calendars of linked accounts. All fields are needed.
type Calendars struct {
	Accounts interface {
		RecordCalendars(ctx context.Context, id, primaryID string, writableIDs []string) error
	}
	// List asks Google (gcal.Client.Calendars).
	List func(ctx context.Context, accountID string) ([]gcal.Entry, error)
}

// Of lists the calendars of an account, and remembers which of them it writes
// to, by which a finalisation finds it. complete is false where the list was not
// granted: then it is the primary one alone. Revoked where the account does not
// let us in.
func (c Calendars) Of(ctx context.Context, account accounts.Account) (entries []gcal.Entry, complete bool, err error) {
	if err := account.Usable(); err != nil {
		return nil, false, err
	}
	primaryAlone := []gcal.Entry{{ID: account.Primary(), Summary: account.Email, Primary: true, Writable: true}}
	// Of an account from before this backend it is not known what was granted.
	known := account.Sub != ""
	if known && !account.Granted(accounts.ScopeCalendarList) && !account.Granted(accounts.ScopeCalendar) {
		return primaryAlone, false, nil
	}
	entries, err = c.List(ctx, account.ID)
	if fault.CodeOf(err) == gcal.CodeScopeMissing {
		return primaryAlone, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return entries, true, c.record(ctx, account.ID, entries)
}

func (c Calendars) record(ctx context.Context, accountID string, entries []gcal.Entry) error {
	var primary string
	var writable []string
	for _, entry := range entries {
		if entry.Primary {
			primary = entry.ID
		}
		if entry.Writable {
			writable = append(writable, entry.ID)
		}
	}
	return c.Accounts.RecordCalendars(ctx, accountID, primary, writable)
}
