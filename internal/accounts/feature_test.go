package accounts_test

import (
	"slices"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
)

func TestFeatures_AreWhatTheGrantCovers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		scopes []string
		want   []accounts.Feature
	}{
		"polls":      {[]string{accounts.ScopeEvents, accounts.ScopeCalendarList}, nil},
		"mirrors":    {[]string{accounts.ScopeEvents, accounts.ScopeAppCreated}, []accounts.Feature{accounts.Mirrors}},
		"free times": {[]string{accounts.ScopeEvents, accounts.ScopeFreeBusy}, []accounts.Feature{accounts.Availability}},
		"the sheet":  {[]string{accounts.ScopeEvents, accounts.ScopeSheets}, []accounts.Feature{accounts.Sheets}},
		"calendars":  {[]string{accounts.ScopeCalendar}, []accounts.Feature{accounts.Availability, accounts.Mirrors}},
	} {
		account := accounts.Account{Status: accounts.Active, Scopes: row.scopes}
		if got := account.Features(); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
		for _, feature := range []accounts.Feature{accounts.Mirrors, accounts.Availability, accounts.Sheets} {
			err := account.UsableFor(feature)
			if slices.Contains(row.want, feature) != (err == nil) ||
				err != nil && (!fault.Is(err, fault.Forbidden) || fault.CodeOf(err) != accounts.CodeScopeMissing) {
				t.Errorf("%s for %s: %v", name, feature, err)
			}
			account.Status = accounts.Revoked
			if err := account.UsableFor(feature); !fault.Is(err, fault.Revoked) {
				t.Errorf("%s for %s, revoked: %v", name, feature, err)
			}
			account.Status = accounts.Active
		}
	}
}
