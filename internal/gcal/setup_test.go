package gcal_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a simulated Google behind a real server, with gm, whose calendar is
// in Zurich, and ana; and our client, for which their accounts are "gm" and
// "ana".
type world struct {
	sim    *google.Server
	client *gcal.Client
	grants map[string]google.Grant
}

// gm's own calendar.
var mine = gcal.Ref{Account: "gm", Calendar: "gm@example.test"}

func newWorld(t *testing.T, options gcal.Options) *world {
	t.Helper()
	sim, err := google.New(google.Options{Now: func() time.Time { return noon }, Sequential: true})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{sim: sim, grants: map[string]google.Grant{}}
	for i, user := range []google.User{
		{Key: "gm", Email: "gm@example.test", TimeZone: "Europe/Zurich"}, {Key: "ana", Email: "ana@example.test"},
	} {
		user.Sub = fmt.Sprint(1000 + i)
		w.grants[user.Key], err = sim.AddUser(user)
		if err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	options.Endpoint, options.Now = server.URL, func() time.Time { return noon }
	options.Client = func(ctx context.Context, account string) (*http.Client, error) {
		return oauth2.NewClient(ctx, oauth2.StaticTokenSource(&oauth2.Token{AccessToken: w.grants[account].AccessToken})), nil
	}
	w.client = gcal.New(options)
	return w
}

// session is an event of two hours.
func session(id string) gcal.NewEvent {
	return gcal.NewEvent{
		ID: id, Summary: "Session", Description: "Bring dice", TimeZone: "Europe/Zurich",
		Start: noon, End: noon.Add(2 * time.Hour), Private: map[string]string{"poll": "p1"},
	}
}

func (w *world) insert(t *testing.T, event gcal.NewEvent) gcal.Event {
	t.Helper()
	inserted, err := w.client.Insert(t.Context(), mine, event)
	if err != nil {
		t.Fatalf("insert: %v", err)
	}
	return inserted
}

func (w *world) get(t *testing.T, id string) gcal.Event {
	t.Helper()
	event, err := w.client.Get(t.Context(), mine, id)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	return event
}

func wantKind(t *testing.T, err error, kind fault.Kind, code string) {
	t.Helper()
	if !fault.Is(err, kind) || fault.CodeOf(err) != code {
		t.Errorf("got %v (%v, %q), want %v, %q", err, fault.KindOf(err), fault.CodeOf(err), kind, code)
	}
	wantForPeople(t, err)
}

// wantForPeople wants the name of a setting in no message that players read,
// which those of internal errors are not, and in the log where a setting is what
// is wrong.
func wantForPeople(t *testing.T, err error) {
	t.Helper()
	said, ok := errors.AsType[*fault.Error](err)
	if ok && said.Kind != fault.Internal && strings.Contains(said.Message, "QS_") {
		t.Errorf("the message for people is %q", said.Message)
	}
	ours := slices.Contains([]string{gcal.CodeWebhookRefused}, fault.CodeOf(err))
	if ours && !strings.Contains(err.Error(), "; check QS_") {
		t.Errorf("the log says %q, and not what to fix", err)
	}
}

// scripted is a client of a server that gives one answer to everything.
func scripted(t *testing.T, handler http.HandlerFunc) *gcal.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return gcal.New(gcal.Options{
		Endpoint: server.URL, Now: func() time.Time { return noon },
		Client: func(context.Context, string) (*http.Client, error) { return server.Client(), nil },
	})
}
