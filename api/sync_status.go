package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/operations/health"
)

// syncRoutes show the health of the caller's own sync.
func (s *server) syncRoutes() {
	route(s, "GET /v1/sync/status", "sync-status", persons,
		"The health of the caller's linked accounts, from what is stored", s.syncStatus)
	route(s, "GET /v1/sync/status/{account_id}", "account-sync-status", accountOwner,
		"The health of one linked account", s.accountSyncStatus)
	route(s, "GET /v1/sync/journal", "sync-journal", persons,
		"The journals of the caller's polls and of mirroring as one list, newest first", s.syncJournal)
}

type syncStatusAnswer struct {
	Overall  string                `json:"overall" enum:"healthy,degraded,stale,unhealthy,error" doc:"The worst of the accounts; healthy if none is linked."`
	Accounts []accountStatusAnswer `json:"accounts"`
}

// accountStatusAnswer is an account. Its last sync is that of the calendar furthest
// behind, its channel the least reliable one.
type accountStatusAnswer struct {
	AccountID      string                 `json:"account_id"`
	Email          string                 `json:"email"`
	Provider       string                 `json:"provider"`
	Status         string                 `json:"status" enum:"healthy,degraded,stale,unhealthy,error" doc:"The worst of its calendars and its own."`
	LastSync       *time.Time             `json:"last_sync_ts" doc:"Of the calendar that is furthest behind; null if none is followed, or it was never read."`
	LastSuccess    *time.Time             `json:"last_success_ts" doc:"Of the calendar that is furthest behind."`
	ChannelStatus  *string                `json:"channel_status" doc:"The worst of its calendars': none, error, expired, pending or active; null if none is followed."`
	ChannelExpiry  *time.Time             `json:"channel_expiry_ts" doc:"When that channel ends; null if there is none."`
	PendingWrites  int                    `json:"pending_writes" doc:"Events that are not yet inserted, changed or deleted; mirrors among them up to 50."`
	ErrorMirrors   int                    `json:"error_mirrors" doc:"Mirrors that cannot be written into the account, up to 50, and events of its calendars that cannot be applied to polls."`
	PendingFetches int                    `json:"pending_looks" doc:"Events that are fetched individually, held ones among them."`
	LastError      *troubleAnswer         `json:"last_error" doc:"The worst problem; null if there is none."`
	Calendars      []calendarStatusAnswer `json:"calendars" doc:"Those that polls or mirrors follow."`
}

type calendarStatusAnswer struct {
	Key            string          `json:"key" doc:"Names the calendar in other routes."`
	CalendarID     string          `json:"calendar_id"`
	Status         string          `json:"status" enum:"healthy,degraded,stale,unhealthy,error"`
	LastSync       *time.Time      `json:"last_sync_ts" doc:"When a sync last ended."`
	LastSuccess    *time.Time      `json:"last_success_ts" doc:"When a sync last succeeded."`
	ChannelStatus  string          `json:"channel_status" enum:"none,error,expired,pending,active"`
	ChannelExpiry  *time.Time      `json:"channel_expiry_ts"`
	SyncPending    bool            `json:"look_due" doc:"A sync is pending."`
	PendingFetches int             `json:"pending_looks"`
	Held           int             `json:"held" doc:"Those among them whose cancellation awaits a person's confirmation."`
	ErrorMirrors   int             `json:"error_mirrors" doc:"Those among them that cannot be applied."`
	PausedUntil    *time.Time      `json:"parked_until" doc:"When Google may be called again; null: now."`
	Problems       []troubleAnswer `json:"problems" doc:"What is wrong, worst first."`
}

type troubleAnswer struct {
	Code    string     `json:"code"`
	Status  string     `json:"status" enum:"degraded,stale,unhealthy,error" doc:"How bad it is."`
	Since   *time.Time `json:"since" doc:"Null if unknown."`
	Message string     `json:"message" doc:"What is wrong, and what to do."`
}

// TransformSchema implements huma.SchemaTransformer: last_error may be null.
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
		PendingWrites: a.PendingWrites, ErrorMirrors: a.FailedMirrors, Calendars: each(a.Calendars, answerCalendarStatus),
	}
	for _, calendar := range a.Calendars {
		answer.ErrorMirrors += calendar.Failing
		answer.PendingFetches += calendar.Deferred
	}
	if len(a.Calendars) > 0 {
		behind, unwatched := a.Behind(), a.Unwatched()
		answer.LastSync, answer.LastSuccess = instant(behind.LastSync), instant(behind.LastSuccess)
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
		ChannelStatus: string(c.Channel), ChannelExpiry: instant(c.ChannelExpiry), SyncPending: c.SyncPending,
		PendingFetches: c.Deferred, Held: c.Held, ErrorMirrors: c.Failing,
		PausedUntil: instant(c.PausedUntil), Problems: each(c.Troubles, answerTrouble),
	}
}

func answerTrouble(t health.Trouble) troubleAnswer {
	return troubleAnswer{Code: t.Code, Status: string(t.Status), Since: instant(t.Since), Message: t.Message}
}

// syncJournal reads a page. New entries stand before the first page, so what follows
// a cursor does not change.
func (s *server) syncJournal(ctx context.Context, by caller, in *struct{ Paging }) (journalList, error) {
	mirrors := listing{name: "journals of mirroring of " + by.person.ID, collection: "mirrorJournal", within: "canonicalEvents"}
	place := listing{name: "journals of " + by.person.ID, collection: "journal", within: "schedulers", also: &mirrors}
	all := store.Merged[entryAnswer]{
		First: poll.Journals(by.person.ID), DecodeFirst: func(doc store.Document) entryAnswer { return answerEntry(poll.DecodeEntry(doc)) },
		Second:       mirror.Journals(by.person.ID),
		DecodeSecond: func(doc store.Document) entryAnswer { return answerMirrorEntry(mirror.DecodeEntry(doc)) },
	}
	itself := func(entry entryAnswer) entryAnswer { return entry }
	entries, is, err := listed(place, in.Paging, itself, func(part store.Paging, take func(entryAnswer) (bool, error)) (*store.Cursor, error) {
		return all.Walk(ctx, s.Store, part, take)
	})
	return journalList{page: is, Entries: entries}, err
}
