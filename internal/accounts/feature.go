package accounts

import (
	"fmt"
	"slices"

	"questscheduler/fault"
)

// Feature is what needs more of an account than polls do. Its scope is requested when a
// person switches it on, and not before; without it an account lacks that feature alone.
type Feature string

// The features, as the API names them.
const (
	Mirrors      Feature = "mirrors"      // a calendar of ours in the account
	Availability Feature = "availability" // when the account's calendars are busy
	Sheets       Feature = "sheets"       // spreadsheets, for the mappings of addresses
)

// featureScope are the scopes that features need; ScopeCalendar includes those of calendars.
var featureScope = map[Feature]string{Mirrors: ScopeAppCreated, Availability: ScopeFreeBusy, Sheets: ScopeSheets}

// Allows reports whether the grant covers a feature.
func (a Account) Allows(feature Feature) bool {
	return a.Granted(featureScope[feature]) || feature != Sheets && a.Granted(ScopeCalendar)
}

// Features are those that the grant covers.
func (a Account) Features() []Feature {
	return slices.DeleteFunc([]Feature{Availability, Mirrors, Sheets}, func(feature Feature) bool { return !a.Allows(feature) })
}

// UsableFor is nil if the account can be used for a feature, else the error that tells its
// owner what to do: Usable's, or Forbidden with CodeScopeMissing.
func (a Account) UsableFor(feature Feature) error {
	if err := a.Usable(); err != nil {
		return err
	}
	if a.Allows(feature) {
		return nil
	}
	return &fault.Error{Kind: fault.Forbidden, Code: CodeScopeMissing, Message: fmt.Sprintf(
		"This account did not grant what %s needs; link it again with the feature %q and allow it.", feature, string(feature))}
}

// texts are features as documents hold them.
func texts(features []Feature) []string {
	list := make([]string, len(features))
	for i, feature := range features {
		list[i] = string(feature)
	}
	return list
}

// scopesFor are the scopes to request: those of polls, and those of features. Invalid: there
// is no such feature.
func scopesFor(features []Feature) ([]string, error) {
	scopes := slices.Clone(asked)
	for _, feature := range features {
		scope, known := featureScope[feature]
		if !known {
			return nil, fault.New(fault.Invalid, "There is no such feature; there are mirrors, availability and sheets.")
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes, nil
}
