package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/internal/health"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// syncRoutes are the routes of how one's own sync stands.
func (s *server) syncRoutes() {
	const tag = "sync"
	route(s, operation{
		id: "sync-status", method: http.MethodGet, path: "/v1/sync/status", tag: tag,
		audience: persons, summary: "How the sync of one's linked accounts stands, from what is stored",
	}, s.syncStatus)
	route(s, operation{
		id: "account-sync-status", method: http.MethodGet, path: "/v1/sync/status/{account_id}", tag: tag,
		audience: accountOwner, names: namesSyncedAccount, summary: "How the sync of one linked account stands",
	}, s.accountSyncStatus)
	route(s, operation{
		id: "sync-journal", method: http.MethodGet, path: "/v1/sync/journal", tag: tag,
		audience: persons, summary: "The journals of the polls one made, as one list, newest first",
	}, s.syncJournal)
}

type syncStatusAnswer struct {
	Overall  string                `json:"overall" enum:"healthy,degraded,stale,unhealthy,error" doc:"The worst of the accounts; healthy where none is linked."`
	Accounts []accountStatusAnswer `json:"accounts"`
}

// accountStatusAnswer is an account. What it says of last looks is said of the
// calendar that is furthest behind, what it says of channels of the one whose
// channel is the least to be counted on.
type accountStatusAnswer struct {
	AccountID     string                 `json:"account_id"`
	Email         string                 `json:"email"`
	Provider      string                 `json:"provider"`
	Status        string                 `json:"status" enum:"healthy,degraded,stale,unhealthy,error" doc:"The worst of its calendars and its own."`
	LastSync      *time.Time             `json:"last_sync_ts" doc:"Of the calendar that is furthest behind; null where none is followed, or it was never read."`
	LastSuccess   *time.Time             `json:"last_success_ts" doc:"Of the calendar that is furthest behind."`
	ChannelStatus *string                `json:"channel_status" doc:"The worst of its calendars': none, error, expired, pending or active; null where none is followed."`
	ChannelExpiry *time.Time             `json:"channel_expiry_ts" doc:"When that channel ends; null where it is none."`
	PendingWrites int                    `json:"pending_writes" doc:"Events that are yet to be made or deleted."`
	ErrorMirrors  int                    `json:"error_mirrors" doc:"Events that cannot be taken over."`
	PendingLooks  int                    `json:"pending_looks" doc:"Events that are to be asked for one by one, those among them that wait for a person's word."`
	LastError     *troubleAnswer         `json:"last_error" doc:"The worst of what is wrong; null where nothing is."`
	Calendars     []calendarStatusAnswer `json:"calendars" doc:"Those that polls follow."`
}

// calendarStatusAnswer is a followed calendar.
type calendarStatusAnswer struct {
	Key           string          `json:"key" doc:"Names the calendar in other routes."`
	CalendarID    string          `json:"calendar_id"`
	Status        string          `json:"status" enum:"healthy,degraded,stale,unhealthy,error"`
	LastSync      *time.Time      `json:"last_sync_ts" doc:"When a look at it last ended."`
	LastSuccess   *time.Time      `json:"last_success_ts" doc:"When one last ended well."`
	ChannelStatus string          `json:"channel_status" enum:"none,error,expired,pending,active"`
	ChannelExpiry *time.Time      `json:"channel_expiry_ts"`
	LookDue       bool            `json:"look_due" doc:"A look is owed."`
	PendingLooks  int             `json:"pending_looks"`
	Held          int             `json:"held" doc:"Those of them whose cancellation waits for a person's word."`
	ErrorMirrors  int             `json:"error_mirrors" doc:"Those of them that cannot be taken over."`
	ParkedUntil   *time.Time      `json:"parked_until" doc:"Until when it is left alone; null where it is not."`
	Problems      []troubleAnswer `json:"problems" doc:"What is wrong, worst first."`
}

// troubleAnswer is one thing that is wrong.
type troubleAnswer struct {
	Code    string     `json:"code"`
	Status  string     `json:"status" enum:"degraded,stale,unhealthy,error" doc:"How bad it is."`
	Since   *time.Time `json:"since" doc:"Null where that is not known."`
	Message string     `json:"message" doc:"What is wrong, and what to do."`
}

// TransformSchema implements huma.SchemaTransformer: nothing may be wrong.
func (accountStatusAnswer) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "last_error")
}

func (s *server) syncStatus(ctx context.Context, by caller, _ *struct{}) (syncStatusAnswer, error) {
	report, err := s.Health.OfPerson(ctx, by.person.ID)
	if err != nil {
		return syncStatusAnswer{}, err
	}
	return syncStatusAnswer{Overall: string(report.Overall), Accounts: each(report.Accounts, answerAccountStatus)}, nil
}

type onSyncedAccount struct {
	AccountID string `path:"account_id" doc:"The account's id."`
}

func (s *server) accountSyncStatus(ctx context.Context, by caller, in *onSyncedAccount) (accountStatusAnswer, error) {
	account, err := s.Health.OfAccount(ctx, by.person.ID, in.AccountID)
	if err != nil {
		return accountStatusAnswer{}, err
	}
	return answerAccountStatus(account), nil
}

func answerAccountStatus(a health.Account) accountStatusAnswer {
	answer := accountStatusAnswer{
		AccountID: a.ID, Email: a.Email, Provider: a.Provider, Status: string(a.Status),
		PendingWrites: a.PendingWrites, Calendars: each(a.Calendars, answerCalendarStatus),
	}
	for _, calendar := range a.Calendars {
		answer.ErrorMirrors += calendar.Failing
		answer.PendingLooks += calendar.PendingLooks
	}
	if behind := a.Behind(); behind != nil {
		answer.LastSync, answer.LastSuccess = instant(behind.LastSync), instant(behind.LastSuccess)
	}
	if unwatched := a.Unwatched(); unwatched != nil {
		answer.ChannelStatus, answer.ChannelExpiry = optional(string(unwatched.Channel)), instant(unwatched.ChannelExpiry)
	}
	if troubles := each(a.AllTroubles(), answerTrouble); len(troubles) > 0 {
		answer.LastError = &troubles[0]
	}
	return answer
}

func answerCalendarStatus(c health.Calendar) calendarStatusAnswer {
	return calendarStatusAnswer{
		Key: c.Key, CalendarID: c.CalendarID, Status: string(c.Status),
		LastSync: instant(c.LastSync), LastSuccess: instant(c.LastSuccess),
		ChannelStatus: string(c.Channel), ChannelExpiry: instant(c.ChannelExpiry), LookDue: c.LookDue,
		PendingLooks: c.PendingLooks, Held: c.Held, ErrorMirrors: c.Failing,
		ParkedUntil: instant(c.ParkedUntil), Problems: each(c.Troubles, answerTrouble),
	}
}

func answerTrouble(t health.Trouble) troubleAnswer {
	return troubleAnswer{Code: t.Code, Status: string(t.Status), Since: instant(t.Since), Message: t.Message}
}

// syncJournal reads a page. Lines that are written meanwhile stand before the
// first page, so what follows a cursor stays what it was.
func (s *server) syncJournal(ctx context.Context, by caller, in *struct{ Paging }) (journalList, error) {
	place := listing{name: "journals of " + by.person.ID, collection: "journal", within: "schedulers"}
	entries, is, err := listed(place, in.Paging, answerEntry, func(after *store.Cursor, take func(poll.Entry) (bool, error)) (*store.Cursor, error) {
		return poll.WalkJournals(ctx, s.Store, by.person.ID, in.Limit, after, take)
	})
	return journalList{page: is, Entries: entries}, err
}
