package accounts_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a store with accounts in it, a simulated Google, and a clock that
// both share.
type world struct {
	store    store.Store
	accounts *accounts.Repository
	grants   *accounts.Grants
	google   *google.Server
	url      string
	ids      *int                 // how many ids were given
	key      *accounts.Delegation // of newGrants; nil for none
	skew     atomic.Int64
}

func (w *world) now() time.Time { return noon.Add(time.Duration(w.skew.Load())) }

func (w *world) advance(d time.Duration) { w.skew.Add(int64(d)) }

// rawKey is a key of equal bytes, in base64.
func rawKey(b byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(b), 32)))
}

func newWorld(t *testing.T) *world {
	t.Helper()
	documents, err := memorystore.Open(accounts.Queries)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{store: documents, ids: new(int)}
	w.google, err = google.New(google.Options{
		Now: w.now, Sequential: true, ClientID: "client", ClientSecret: "client-secret",
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.google.Handler())
	t.Cleanup(server.Close)
	w.url = server.URL
	w.use(t, "k1:"+rawKey('a'))
	return w
}

// use starts the accounts again over the same store, as a restart does, with
// these keys.
func (w *world) use(t *testing.T, keys string) {
	t.Helper()
	w.accounts = w.repository(t, w.store, keys)
	w.grants = w.newGrants(w.accounts, http.DefaultTransport)
}

func (w *world) repository(t *testing.T, documents store.Store, keys string) *accounts.Repository {
	t.Helper()
	parsed, err := seal.ParseKeys(keys)
	if err != nil {
		t.Fatal(err)
	}
	return accounts.New(accounts.Options{
		Store: documents, Keys: parsed, Now: w.now,
		NewID: func() string { *w.ids++; return fmt.Sprintf("%026d", *w.ids) },
	})
}

func (w *world) newGrants(repository *accounts.Repository, transport http.RoundTripper) *accounts.Grants {
	return accounts.NewGrants(accounts.GrantOptions{
		Accounts: repository, ClientID: "client", ClientSecret: "client-secret",
		TokenURL: w.url + "/token", RevokeURL: w.url + "/revoke", Transport: transport, Now: w.now,
		Delegation: w.key,
	})
}

var scopes = []string{"openid", "email", accounts.ScopeEvents, accounts.ScopeCalendarList}

// link links a person's Google account of that name, known to the simulator
// from then on.
func (w *world) link(t *testing.T, owner, name string) accounts.Account {
	t.Helper()
	grant, err := w.google.AddUser(google.User{Key: name, Sub: "sub-" + name, Email: name + "@example.test"})
	if err != nil {
		t.Fatal(err)
	}
	account, err := w.accounts.Link(t.Context(), owner, identity(name), grant.RefreshToken, scopes)
	if err != nil {
		t.Fatalf("link %s: %v", name, err)
	}
	return account
}

func identity(name string) accounts.Identity {
	return accounts.Identity{Provider: accounts.Google, Sub: "sub-" + name, Email: name + "@example.test"}
}

// relink is a person's new consent.
func (w *world) relink(t *testing.T, owner, name string) accounts.Account {
	t.Helper()
	grant, err := w.google.NewGrant(name)
	if err != nil {
		t.Fatal(err)
	}
	account, err := w.accounts.Link(t.Context(), owner, identity(name), grant.RefreshToken, scopes)
	if err != nil {
		t.Fatalf("relink %s: %v", name, err)
	}
	return account
}

// call lists the account's primary calendar and gives the status of the answer.
func (w *world) call(ctx context.Context, id string) (int, error) {
	client, err := w.grants.Client(ctx, id)
	if err != nil {
		return 0, err
	}
	return w.send(ctx, client)
}

func (w *world) send(ctx context.Context, client *http.Client) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/calendar/v3/calendars/primary/events", nil)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, joinClose(err, response.Body)
}

func joinClose(err error, body io.Closer) error {
	if closeErr := body.Close(); err == nil {
		return closeErr
	}
	return err
}

// counts are the simulator's calls of the token endpoint and of listings.
func (w *world) counts() (tokens, lists int) {
	calls := w.google.Control().Calls()
	return calls["oauth.token"], calls["events.list"]
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
	ours := slices.Contains(
		[]string{accounts.CodeClientRefused, accounts.CodeNoServiceAccount, accounts.CodeServiceAccountRefused},
		fault.CodeOf(err),
	)
	if ours && !strings.Contains(err.Error(), "; check QS_") {
		t.Errorf("the log says %q, and not what to fix", err)
	}
}

func (w *world) get(t *testing.T, id string) accounts.Account {
	t.Helper()
	account, err := w.accounts.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// secret is the sealed refresh token as it is stored.
func (w *world) secret(t *testing.T, id string) string {
	t.Helper()
	doc, err := w.store.Get(t.Context(), store.Doc("accountSecrets", id))
	if err != nil {
		t.Fatal(err)
	}
	return store.Fields(doc.Data).String("refreshToken")
}

func googleUser(name string) google.User {
	return google.User{Key: name, Sub: "sub-" + name, Email: name + "@example.test"}
}

// document is a document's fields as they are stored; nil where there is none.
func (w *world) document(t *testing.T, path store.Path) map[string]any {
	t.Helper()
	doc, err := w.store.Get(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Data
}
