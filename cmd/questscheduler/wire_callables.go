package main

import (
	"context"
	"slices"
	"time"

	"questscheduler/api"
	"questscheduler/api/callables"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/signin"
)

// wireCallables has the server answer the web app's calls.
func (s *server) wireCallables(verifier signin.Verifier, linked api.Linked, commands *api.Commands) error {
	return callables.Register(s.edge, callables.Options{
		Polls: s.scheduler, SignIn: verifier,
		StartLink: func(ctx context.Context, person signin.Person) (string, error) {
			ask := accounts.Ask{PersonID: person.UID}
			if person.EmailVerified {
				ask.PersonName = person.Email
			}
			address, _, err := linked.Start(ctx, ask)
			return address, err
		},
		Calendars:    func(ctx context.Context, uid string) ([]gcal.Entry, error) { return calendarsOf(ctx, linked, uid) },
		LimitPerson:  api.LimitPerson(api.Rate{}, s.now),
		LimitAddress: api.LimitAddress(api.Rate{}, s.now),
		Count:        commands.Count,
		Upstream:     s.config.CallablesUpstream, Origins: s.callingOrigins(), Callback: api.PathCallback,
		Log: s.log, Refused: api.Sampled(s.log, s.now),
	})
}

// appTells is how long the app's own functions have to tell people of what was
// done in the app: longer than a call that is passed on may take.
func (s *server) appTells() time.Duration {
	if s.config.CallablesUpstream == "" {
		return 0
	}
	return 75 * time.Second
}

// callingOrigins are those whose pages may call: the web app's beside the ones
// that the settings name.
func (s *server) callingOrigins() []string {
	origins := slices.Clone(s.config.AllowedOrigins)
	if app := originOf(s.config.AppURL); app != "" {
		origins = append(origins, app)
	}
	return origins
}

// calendarsOf lists the calendars of all accounts that a person linked, each
// once; the primary one is that of the first. An account that cannot be asked is
// left out, where there is another.
func calendarsOf(ctx context.Context, linked api.Linked, uid string) ([]gcal.Entry, error) {
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
