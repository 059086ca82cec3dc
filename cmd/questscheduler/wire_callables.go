package main

import (
	"context"
	"slices"

	"questscheduler/api"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/signin"
)

// startLink gives where a user's browser begins to link a Google account.
func startLink(linked api.Linked) func(context.Context, signin.Person) (string, error) {
	return func(ctx context.Context, person signin.Person) (string, error) {
		ask := accounts.Ask{PersonID: person.UID}
		if person.EmailVerified {
			ask.PersonName = person.Email
		}
		address, _, err := linked.Start(ctx, ask)
		return address, err
	}
}

// calendarsOf lists the calendars of all accounts that a user linked, each once; the
// primary calendar is that of the first account. It fails only if no account could
// be read.
func calendarsOf(linked api.Linked) func(context.Context, string) ([]gcal.Entry, error) {
	return func(ctx context.Context, uid string) ([]gcal.Entry, error) {
		first, err := linked.Accounts.Default(ctx, uid)
		if err != nil { // none is linked
			return nil, err
		}
		all, err := linked.Accounts.List(ctx, uid)
		if err != nil {
			return nil, err
		}
		var found []gcal.Entry
		var failed error
		for _, account := range all {
			if account.Status == accounts.Unlinked {
				continue
			}
			entries, _, err := linked.CalendarsOf(ctx, account)
			if err != nil && failed == nil {
				failed = err
			}
			for _, entry := range entries {
				entry.Primary = entry.Primary && account.ID == first.ID
				if !slices.ContainsFunc(found, func(other gcal.Entry) bool { return other.ID == entry.ID }) {
					found = append(found, entry)
				}
			}
		}
		if len(found) > 0 {
			return found, nil
		}
		return nil, failed
	}
}
