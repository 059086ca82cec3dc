package api

import (
	"context"
	"net/url"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/scheduler"
)

// LinkedAccounts serves the routes of linked Google accounts.
type LinkedAccounts struct {
	Accounts *accounts.Repository
	// Consents leads people through Google's consent.
	Consents *accounts.Linking
	// Calendars lists the calendars of an account (gcal.Client).
	Calendars func(ctx context.Context, accountID string) ([]gcal.CalendarEntry, error)
	// Follow applies a change of an account to its calendars and polls
	// (calendarsync.Links). The next drain does what fails.
	Follow func(ctx context.Context, accountID string, cause scheduler.Cause) error
	// URL is where browsers reach this server, without a trailing slash.
	URL string
}

// The paths of a consent.
const (
	// PathStart is where a browser begins, with a ticket.
	PathStart = "/oauth/google/start"
	// PathCallback is a redirect URI of the OAuth client.
	PathCallback = "/oauth/google/callback"
	// PathLinked is a page that shows the outcome if no web app does.
	PathLinked = "/oauth/google/linked"
)

func (s *server) accountRoutes() {
	route(s, "GET /v1/accounts", "list-accounts", persons,
		"The caller's linked Google accounts, first linked first", s.listAccounts)
	route(s, "POST /v1/accounts/link", "link-account", persons,
		"Begin to link a Google account, or to link one again: returns the address to open in the browser", s.linkAccount)
	route(s, "GET /v1/accounts/{id}", "get-account", accountOwner,
		"A linked account; an unlinked one is kept for 30 days", s.getAccount)
	route(s, "GET /v1/accounts/{id}/calendars", "list-account-calendars", accountOwner,
		"The calendars of a linked account; only the primary one if the list was not granted", s.listAccountCalendars)
	route(s, "DELETE /v1/accounts/{id}", "unlink-account", accountOwner,
		"Unlink an account: its grant is revoked, and the polls in its calendars are no longer followed", s.unlinkAccount)
}

type accountAnswer struct {
	ID                string     `json:"id"`
	Provider          string     `json:"provider" enum:"google"`
	Email             *string    `json:"email"`
	Status            string     `json:"status" enum:"active,revoked,unlinked" doc:"revoked: Google refuses the grant; link it again."`
	Kind              string     `json:"kind"`
	Scopes            []string   `json:"scopes" doc:"What was granted."`
	Features          []string   `json:"features" doc:"What the grant covers beside polls: mirrors, availability, sheets."`
	Default           bool       `json:"default" doc:"Finalisations that name no calendar use it."`
	Message           *string    `json:"message" doc:"What must be done; null if nothing must."`
	PrimaryCalendarID string     `json:"primary_calendar_id"`
	CreatedAt         *time.Time `json:"created_at"`
	UpdatedAt         *time.Time `json:"updated_at"`
	UnlinkedAt        *time.Time `json:"unlinked_at"`
}

func answerAccount(a accounts.Account, isDefault bool) accountAnswer {
	answer := accountAnswer{
		ID: a.ID, Provider: a.Provider, Email: optional(a.Email), Status: string(a.Status), Kind: a.Kind,
		Scopes:   append([]string{}, a.Scopes...),
		Features: each(a.Features(), func(f accounts.Feature) string { return string(f) }), Default: isDefault, PrimaryCalendarID: a.Primary(),
		CreatedAt: instant(a.CreatedAt), UpdatedAt: instant(a.UpdatedAt), UnlinkedAt: instant(a.UnlinkedAt),
	}
	if err := a.Usable(); err != nil {
		answer.Message = optional(asFailure(err).Problem.Message)
	}
	return answer
}

type accountList struct {
	Accounts []accountAnswer `json:"accounts"`
}

func (s *server) listAccounts(ctx context.Context, by caller, _ *struct{}) (accountList, error) {
	all, err := s.Accounts.Accounts.List(ctx, by.person.ID)
	if err != nil {
		return accountList{}, err
	}
	linked := slices.DeleteFunc(all, func(a accounts.Account) bool { return a.Status == accounts.Unlinked })
	return accountList{Accounts: each(linked, func(a accounts.Account) accountAnswer { return answerAccount(a, a.ID == linked[0].ID) })}, nil
}

type linkAccountBody struct {
	AccountID documentID `json:"account_id,omitempty" doc:"The account to link again; absent: any."`
	AnyOther  bool       `json:"any_account,omitempty" doc:"With account_id: another Google account may be chosen and is linked too. Otherwise it is refused with other_account."`
	Features  []string   `json:"features,omitempty" maxItems:"3" enum:"mirrors,availability,sheets" doc:"What to grant beside polls, when it is switched on; what was granted earlier stays granted."`
	ReturnTo  string     `json:"return_to,omitempty" maxLength:"2000" doc:"Where to go afterwards: an address or a path of the web app."`
}

type linkAnswer struct {
	URL       string    `json:"url" doc:"The address to open in the browser."`
	ExpiresAt time.Time `json:"expires_at"`
}

func (s *server) linkAccount(ctx context.Context, by caller, in *withBody[linkAccountBody]) (linkAnswer, error) {
	address, until, err := s.Accounts.Start(ctx, accounts.Ask{
		PersonID: by.person.ID, PersonName: by.person.Email, AccountID: string(in.Body.AccountID),
		AnyIdentity: in.Body.AnyOther, ReturnTo: in.Body.ReturnTo,
		Features: each(in.Body.Features, func(f string) accounts.Feature { return accounts.Feature(f) }),
	})
	return linkAnswer{URL: address, ExpiresAt: until.UTC().Truncate(time.Second)}, err
}

// Start returns where a person's browser begins a consent, with no other proof of who
// it is until the time returned. Errors are those of accounts.Linking.Ticket.
func (l LinkedAccounts) Start(ctx context.Context, ask accounts.Ask) (address string, until time.Time, err error) {
	ticket, until, err := l.Consents.Ticket(ctx, ask)
	return l.URL + PathStart + "?" + url.Values{"ticket": {ticket}}.Encode(), until, err
}

type onAccount struct {
	ID string `path:"id" doc:"The account's id."`
}

func (s *server) getAccount(ctx context.Context, by caller, in *onAccount) (accountAnswer, error) {
	account, err := s.Accounts.Accounts.Owned(ctx, by.person.ID, in.ID)
	if err != nil {
		return accountAnswer{}, err
	}
	return s.answerOne(ctx, account)
}

// answerOne answers an account; the first one is the default.
func (s *server) answerOne(ctx context.Context, account accounts.Account) (accountAnswer, error) {
	first, err := s.Accounts.Accounts.Default(ctx, account.OwnerID)
	if err != nil && !fault.Is(err, fault.Revoked) { // none is linked
		return accountAnswer{}, err
	}
	return answerAccount(account, first.ID == account.ID), nil
}

func (s *server) unlinkAccount(ctx context.Context, by caller, in *onAccount) (accountAnswer, error) {
	account, err := s.Accounts.Accounts.Unlink(ctx, by.person.ID, in.ID)
	if err != nil {
		return accountAnswer{}, err
	}
	if err := s.GroupEvents.AccountLeaving(ctx, account, by.cause); err != nil { // the cleanup does it
		s.Log.WarnContext(ctx, "connections of an unlinked account are ended later", "account", account.ID, "trace", by.cause.Trace, "error", err)
	}
	s.follow(ctx, account.ID, by.cause)
	return s.answerOne(ctx, account)
}

// followTimeout is how long an answer waits for Linked.Follow.
const followTimeout = 10 * time.Second

// follow calls Linked.Follow; the next drain does what fails.
func (s *server) follow(ctx context.Context, accountID string, cause scheduler.Cause) {
	ctx, cancel := context.WithTimeout(ctx, followTimeout)
	defer cancel()
	if err := s.Accounts.Follow(ctx, accountID, cause); err != nil {
		s.Log.WarnContext(ctx, "what became of an account is carried on later", "account", accountID, "trace", cause.Trace, "error", err)
	}
}

type accountCalendars struct {
	Calendars []calendarEntry `json:"calendars"`
	Complete  bool            `json:"complete" doc:"False if the list of calendars was not granted: it then has only the primary one."`
}

type calendarEntry struct {
	ID       string  `json:"id"`
	Summary  string  `json:"summary"`
	TimeZone *string `json:"time_zone"`
	Primary  bool    `json:"primary"`
	Writable bool    `json:"writable" doc:"Events can be made in it."`
}

func (s *server) listAccountCalendars(ctx context.Context, by caller, in *onAccount) (accountCalendars, error) {
	account, err := s.Accounts.Accounts.Owned(ctx, by.person.ID, in.ID)
	if err != nil {
		return accountCalendars{}, err
	}
	entries, complete, err := s.Accounts.CalendarsOf(ctx, account)
	return accountCalendars{Complete: complete, Calendars: each(entries, func(e gcal.CalendarEntry) calendarEntry {
		return calendarEntry{ID: e.ID, Summary: e.Summary, TimeZone: optional(e.TimeZone), Primary: e.Primary, Writable: e.Writable}
	})}, err
}

// CalendarsOf lists the calendars of an account that people choose from, which are those that its
// owner did not hide: see calendarsync.Calendars.
func (l LinkedAccounts) CalendarsOf(
	ctx context.Context, account accounts.Account,
) (entries []gcal.CalendarEntry, complete bool, err error) {
	entries, complete, err = calendarsync.Calendars{Accounts: l.Accounts, List: l.Calendars}.Of(ctx, account)
	return slices.DeleteFunc(entries, func(e gcal.CalendarEntry) bool { return e.Hidden }), complete, err
}
