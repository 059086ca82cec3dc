package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"questscheduler/api"
	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/internal/accounts"
	"questscheduler/internal/config"
	"questscheduler/internal/outbox"
	"questscheduler/web-hooks/timers"
)

// attending are the parts that invite people at their second addresses; nil if that is off.
// Its methods then do nothing, but for cleanings.
type attending struct {
	service  *attendees.Service
	mappings *mappings.Service
}

// attendeeShare is the part of each account's quota, and of the project's, that changes of
// guests take at most. With that of mirrors it leaves a quarter to polls.
const attendeeShare = 0.25

// newAttending is nil if no sheet or file of second addresses is set.
func (s *server) newAttending(google googleAccess, watcher *calendarsync.Watcher) *attending {
	if !s.config.AttendeesOn() {
		return nil
	}
	mappings := &mappings.Service{
		Store: s.documents, Source: newSource(s.config, google.grants, s.now), Domains: s.config.AttendeesDomains,
		Accounts: google.accounts, Delegated: s.config.AttendeesKey.IsSet(), Follow: watcher.Follow,
		Now: s.now, Log: s.log, Meter: s.metrics.Count,
	}
	service := &attendees.Service{
		Store: s.documents, Outbox: s.outbox, Google: google.client.Within(attendeeShare), Mappings: mappings, Accounts: google.accounts,
		Notify: s.config.AttendeesSendUpdates, Mode: s.syncMode, Now: s.now, Log: s.log, Meter: s.metrics.Count,
	}
	mappings.Guests = service
	return &attending{mappings: mappings, service: service}
}

// syncMode is that of work that changes calendars, by QS_SYNC.
func (s *server) syncMode() outbox.Mode {
	switch s.config.Sync {
	case config.SyncOn:
		return outbox.Works
	case config.SyncObserve:
		return outbox.Observes
	default:
		return outbox.Rests
	}
}

// newSource is where the settings say that second addresses are.
func newSource(cfg config.Config, grants *accounts.Grants, now func() time.Time) mappings.Source {
	if cfg.AttendeesCSV != "" {
		return mappings.File{Path: cfg.AttendeesCSV}
	}
	client := func(ctx context.Context) (*http.Client, error) { return grants.Service(ctx, accounts.ScopeSheets) }
	if cfg.AttendeesAccount != "" {
		client = func(ctx context.Context) (*http.Client, error) { return grants.Client(ctx, cfg.AttendeesAccount) }
	}
	return mappings.Sheet{ID: cfg.AttendeesSheet, Client: client, Endpoint: cfg.GoogleEndpoint, Now: now}
}

// newDelegation is the service account of the settings; nil if there is none.
func newDelegation(cfg config.Config) (*accounts.Delegation, error) {
	if !cfg.AttendeesKey.IsSet() {
		return nil, nil
	}
	delegation, err := accounts.ParseDelegation([]byte(cfg.AttendeesKey.Reveal()))
	if err != nil {
		return nil, fmt.Errorf("QS_ATTENDEES_KEY: %w", err)
	}
	return delegation, nil
}

// consumers are those of calendar changes.
func (a *attending) consumers() []calendarsync.Consumer {
	if a == nil {
		return nil
	}
	return []calendarsync.Consumer{attendees.Consumer{Service: a.service}}
}

// listeners are those of changes of accounts.
func (a *attending) listeners() []calendarsync.AccountListener {
	if a == nil {
		return nil
	}
	return []calendarsync.AccountListener{a.mappings}
}

// loader has mappings loaded by hand; nil if they are off.
func (a *attending) loader() api.Mappings {
	if a == nil {
		return nil
	}
	return a.mappings
}

// refresh is the step of the job that loads mappings and follows calendars; nil if they are
// off.
func (a *attending) refresh() timers.Step {
	if a == nil {
		return nil
	}
	return func(ctx context.Context, run timers.Run) (timers.Stretch, error) {
		did, next, err := a.mappings.Refresh(ctx, run.Cause, run.At, run.ByHand)
		return timers.Stretch{Next: next, Did: timers.Counts{
			{What: "loads", N: did.Loaded}, {What: "addresses", N: did.Addresses}, {What: "calendars followed", N: did.Followed},
			{What: "calendars to be listed again", N: did.Relisted}, {What: "calendars released", N: did.Released},
			{What: "events to be compared again", N: did.Due}, {What: "accounts unlinked", N: did.Unlinked}, {What: "failed", N: did.Failed},
		}}, err
	}
}

// cleanings remove what is past its time of second addresses, and what follows calendars for
// them where they are off.
func (a *attending) cleanings(linked *accounts.Repository) []timers.Cleaning {
	rows := []timers.Cleaning{{What: "records of events long ended that had second addresses", Remove: attendees.RemoveEnded}}
	if a == nil {
		rows = append(rows, timers.Cleaning{What: "what followed calendars for second addresses", Remove: mappings.Release(linked)})
	}
	return rows
}

// work is its kind of the outbox.
func (a *attending) work() []outbox.Kind {
	if a == nil {
		return nil
	}
	return []outbox.Kind{a.service.Work()}
}

// kindsOf are the kinds of tasks with these settings.
func kindsOf(cfg config.Config) []string {
	if cfg.AttendeesOn() {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == attendees.Kind })
}
