package webhooks_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	webhooks "questscheduler/web-hooks"
)

// recordedDocuments records the polls of document changes.
type recordedDocuments struct {
	polls []string
	err   error
}

// Changed implements webhooks.Documents.
func (d *recordedDocuments) Changed(_ context.Context, pollID, trace string) error {
	if trace == "" {
		return errors.New("the change has no trace")
	}
	if d.err == nil {
		d.polls = append(d.polls, pollID)
	}
	return d.err
}

const written = "google.cloud.firestore.document.v1.written"

// Each row is an event as Eventarc sends it, or something else.
func TestDocuments_Event_RequestsACheckOfItsPoll(t *testing.T) {
	t.Parallel()
	binary := func(pairs ...string) map[string]string {
		headers := map[string]string{
			"Ce-Id": "1", "Ce-Source": "//firestore.googleapis.com/projects/p/databases/(default)", "Ce-Specversion": "1.0",
			"Ce-Type": written, "Ce-Subject": "documents/schedulers/poll-1", "Content-Type": "application/protobuf",
		}
		for i := 0; i < len(pairs); i += 2 {
			headers[pairs[i]] = pairs[i+1]
		}
		return headers
	}
	structured := map[string]string{"Content-Type": "application/cloudevents+json; charset=utf-8"}
	for name, row := range map[string]struct {
		headers map[string]string
		body    string
		status  int
		poll    string
	}{
		"binary, by its subject":     {binary(), "\x0a\x02", 202, "poll-1"},
		"binary, by its document":    {binary("Ce-Document", "schedulers/poll-2", "Ce-Subject", ""), "", 202, "poll-2"},
		"binary, percent-encoded":    {binary("Ce-Subject", "documents/schedulers/poll%20%C3%A9%25"), "", 202, "poll é%"},
		"binary, with a percent":     {binary("Ce-Document", "schedulers/100%"), "", 202, "100%"},
		"a vote, percent-encoded":    {binary("Ce-Subject", "documents/schedulers/poll-1%2Fvotes%2Fana"), "", 202, "poll-1"},
		"created":                    {binary("Ce-Type", "google.cloud.firestore.document.v1.created"), "", 202, "poll-1"},
		"deleted, with who did it":   {binary("Ce-Type", "google.cloud.firestore.document.v1.deleted.withAuthContext"), "", 202, "poll-1"},
		"a vote":                     {binary("Ce-Subject", "documents/schedulers/poll-1/votes/ana"), "", 202, "poll-1"},
		"a slot":                     {binary("Ce-Document", "schedulers/poll-1/slots/s1"), "", 202, "poll-1"},
		"the slots":                  {binary("Ce-Document", "schedulers/poll-1/slots/"), "", 204, ""},
		"a journal entry":            {binary("Ce-Document", "schedulers/poll-1/journal/j1"), "", 204, ""},
		"a vote on an embedded poll": {binary("Ce-Document", "schedulers/poll-1/basicPolls/b1/votes/ana"), "", 204, ""},
		"a vote of no poll":          {binary("Ce-Document", "questingGroups/g1/votes/ana"), "", 204, ""},
		"another collection":         {binary("Ce-Subject", "documents/users/ana"), "", 204, ""},
		"the collection itself":      {binary("Ce-Subject", "documents/schedulers/"), "", 204, ""},
		"an event of something else": {binary("Ce-Type", "google.cloud.storage.object.v1.finalized"), "", 204, ""},
		"structured": {
			structured,
			`{"specversion":"1.0","id":"1","type":"` + written + `","subject":"documents/schedulers/poll-3","data":{"value":{}}}`,
			202, "poll-3",
		},
		"structured, by document": {
			structured, `{"specversion":"1.0","type":"` + written + `","document":"schedulers/poll-4"}`, 202, "poll-4",
		},
		"structured, cut short":      {structured, `{"specversion":"1.0",`, 400, ""},
		"structured, too long":       {structured, `{"data":"` + strings.Repeat("x", 9<<20) + `"}`, 400, ""},
		"no event":                   {map[string]string{"Content-Type": "application/json"}, `{}`, 400, ""},
		"an event without a version": {binary("Ce-Specversion", ""), "", 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, documents := newMachineGate(t), &recordedDocuments{}
			webhooks.RegisterDocuments(g.echo, g.machines(account), documents)
			answer := g.send(row.headers, row.body, "Bearer "+g.issuer.Sign(g.good()))
			if answer.Code != row.status || strings.Join(documents.polls, " ") != row.poll {
				t.Errorf("answered %d, and the checked polls are %v", answer.Code, documents.polls)
			}
		})
	}
}

// send posts an event.
func (g *machineGate) send(headers map[string]string, body, authorization string) *httptest.ResponseRecorder {
	g.t.Helper()
	request := httptest.NewRequest(http.MethodPost, webhooks.PathDocuments, strings.NewReader(body))
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Authorization", authorization)
	recorder := httptest.NewRecorder()
	g.echo.ServeHTTP(recorder, request)
	return recorder
}

func TestDocuments_FromOthersThanMachines_AreRefused(t *testing.T) {
	t.Parallel()
	g, documents := newMachineGate(t), &recordedDocuments{}
	webhooks.RegisterDocuments(g.echo, g.machines(account), documents)
	headers := map[string]string{"Ce-Specversion": "1.0", "Ce-Type": written, "Ce-Subject": "documents/schedulers/p"}
	for kind, token := range g.issuer.Forged(g.good(), now()) {
		if answer := g.send(headers, "", "Bearer "+token); answer.Code != http.StatusUnauthorized {
			t.Errorf("a token that is %s: %d", kind, answer.Code)
		}
	}
	if len(documents.polls) != 0 {
		t.Errorf("the checked polls are %v", documents.polls)
	}
}

func TestDocuments_NotHandedOver_Is503(t *testing.T) {
	t.Parallel()
	g := newMachineGate(t)
	webhooks.RegisterDocuments(g.echo, g.machines(account), &recordedDocuments{err: errors.New("full")})
	headers := map[string]string{"Ce-Specversion": "1.0", "Ce-Type": written, "Ce-Subject": "documents/schedulers/p"}
	answer := g.send(headers, "", "Bearer "+g.issuer.Sign(g.good()))
	if answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" {
		t.Errorf("answered %d %v", answer.Code, answer.Header())
	}
}
