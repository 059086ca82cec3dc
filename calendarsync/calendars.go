package calendarsync

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
)

// Calendars lists the calendars of linked accounts. All fields are required.
type Calendars struct {
	Accounts interface {
		RecordCalendars(ctx context.Context, id, primaryID string, writableIDs []string) error
	}
	List func(ctx context.Context, accountID string) ([]gcal.CalendarEntry, error)
}

// Of lists an account's calendars and records which it may write to, so that a
// finalisation finds the account by calendar. If listing was not granted, complete is
// false and the primary calendar is the only entry. Revoked if the account cannot be
// used.
func (c Calendars) Of(ctx context.Context, account accounts.Account) (entries []gcal.CalendarEntry, complete bool, err error) {
	if err := account.Usable(); err != nil {
		return nil, false, err
	}
	primaryAlone := []gcal.CalendarEntry{{ID: account.Primary(), Summary: account.Email, Primary: true, Writable: true}}
	// The scopes of accounts from before this backend are unknown.
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

func (c Calendars) record(ctx context.Context, accountID string, entries []gcal.CalendarEntry) error {
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
