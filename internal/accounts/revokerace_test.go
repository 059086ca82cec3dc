package accounts_test

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
)

// comeBack is a person's way through Google's consent page and back.
func (w *world) comeBack(t *testing.T, person, user string, transport http.RoundTripper) (accounts.Account, error) {
	t.Helper()
	linking := accounts.NewLinking(accounts.LinkingOptions{
		Accounts: w.accounts, ClientID: "client", ClientSecret: "client-secret",
		AuthURL: w.url + "/o/oauth2/v2/auth", TokenURL: w.url + "/token",
		CallbackURL: "https://quests.example/callback", Home: "https://app.example/settings", Transport: transport,
	})
	address, err := linking.Start(t.Context(), accounts.Ask{PersonID: person}, "")
	if err != nil {
		t.Fatal(err)
	}
	redirect, err := w.google.Consent(t.Context(), address, google.Consent{User: user})
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(redirect)
	if err != nil {
		t.Fatal(err)
	}
	_, account, err := linking.Finish(t.Context(), accounts.Back{
		State: back.Query().Get("state"), Code: back.Query().Get("code"), PersonID: person,
	})
	return account, err
}

// consented is an account of gm's whose grant the consent page gave: it ends with
// any other of the same Google account.
func (w *world) consented(t *testing.T) accounts.Account {
	t.Helper()
	if _, err := w.google.AddUser(googleUser("gm")); err != nil {
		t.Fatal(err)
	}
	account, err := w.comeBack(t, "gm", "gm", http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// A grant is revoked while the same person or another links its Google account again. No
// link succeeds with a grant that may be dead, and the next attempt succeeds.
func TestRevoke_DuringRelink_EndsNoGrantUnnoticed(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(t *testing.T, w *world, id, person string) error{
		"the consent comes back before Google is called": func(t *testing.T, w *world, id, person string) (err error) {
			w.grants = w.newGrants(w.accounts, roundTripper(func(request *http.Request) (*http.Response, error) {
				if request.URL.Path == "/revoke" {
					_, err = w.comeBack(t, person, "gm", http.DefaultTransport)
				}
				return http.DefaultTransport.RoundTrip(request)
			}))
			w.revoke(t, id)
			return err
		},
		"the grant is given back between the code's exchange and the link": func(t *testing.T, w *world, id, person string) error {
			_, err := w.comeBack(t, person, "gm", afterwards("/token", func() {
				w.advance(time.Second)
				w.revoke(t, id)
			}))
			return err
		},
	} {
		for _, person := range []string{"gm", "ana"} {
			t.Run(name+", of "+person, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				id := w.consented(t).ID
				w.unlink(t, "gm", id)
				wantKind(t, during(t, w, id, person), fault.Unavailable, accounts.CodeExchangeFailed)
				if got := w.get(t, id); got.Status != accounts.Unlinked || w.secret(t, id) != "" {
					t.Errorf("the account is %s", got.Status)
				}
				w.advance(time.Second)
				account, err := w.comeBack(t, person, "gm", http.DefaultTransport)
				if err != nil {
					t.Fatalf("a moment later: %v", err)
				}
				w.wantOK(t, account.ID)
			})
		}
	}
}

func (w *world) revoke(t *testing.T, id string) {
	t.Helper()
	if err := w.grants.Revoke(t.Context(), id); err != nil {
		t.Errorf("give the grant back: %v", err)
	}
}

// A giving back whose answer is lost may still reach Google, one that Google
// refused does not: links wait for the first, and not for long.
func TestRevoke_Failed_BlocksLinksWhileItMayStillArrive(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		rule  control.Rule
		waits time.Duration
	}{
		"refused":             {control.Rule{Match: "oauth.revoke", Status: 503, Times: 1}, 0},
		"the answer was lost": {control.Rule{Match: "oauth.revoke", LostAnswer: true, Times: 1}, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.consented(t).ID
			w.unlink(t, "gm", id)
			w.plant(t, row.rule)
			if err := w.grants.Revoke(t.Context(), id); !fault.Is(err, fault.Unavailable) {
				t.Errorf("give the grant back: %v", err)
			}
			if row.waits > 0 {
				w.advance(row.waits - 1)
				_, err := w.comeBack(t, "gm", "gm", http.DefaultTransport)
				wantKind(t, err, fault.Unavailable, accounts.CodeExchangeFailed)
				w.advance(1)
			}
			if _, err := w.comeBack(t, "gm", "gm", http.DefaultTransport); err != nil {
				t.Fatalf("after it: %v", err)
			}
			w.revoke(t, id) // what is tried again finds it linked
			w.wantOK(t, id)
		})
	}
}

// before is a store on which something happens before its first transaction.
type before struct {
	store.Store
	once    sync.Once
	happens func()
}

func (b *before) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	b.once.Do(b.happens)
	return b.Store.Run(ctx, fn)
}

// What was read before somebody linked the account gives no grant back after it.
func TestRevoke_OfWhatIsLinkedJustBefore_LeavesItsGrant(t *testing.T) {
	t.Parallel()
	for _, person := range []string{"gm", "ana"} {
		t.Run(person, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.consented(t).ID
			w.unlink(t, "gm", id)
			var account accounts.Account
			documents := &before{Store: w.store, happens: func() {
				var err error
				account, err = w.comeBack(t, person, "gm", http.DefaultTransport)
				if err != nil {
					t.Error(err)
				}
			}}
			w.grants = w.newGrants(w.repository(t, documents, "k1:"+rawKey('a')), http.DefaultTransport)
			w.revoke(t, id)
			w.wantOK(t, account.ID)
			if calls := w.google.Control().Calls()["oauth.revoke"]; calls != 0 {
				t.Errorf("%d calls to give it back, want none", calls)
			}
		})
	}
}

// Two processes give the same grant back at once, as the request and the drain
// may. The end of one does not let a link through while the other may arrive.
func TestRevoke_TwiceAtOnce_HoldsLinksOffUntilBothAreOver(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the one that began first", "the one that began last"} {
		t.Run(first+" ends first", func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.consented(t).ID
			w.unlink(t, "gm", id)
			refused := func() {
				w.advance(time.Second)
				_, err := w.comeBack(t, "gm", "gm", http.DefaultTransport)
				wantKind(t, err, fault.Unavailable, accounts.CodeExchangeFailed)
			}
			beside := w.newGrants(w.accounts, answering(http.StatusServiceUnavailable, ""))
			outer := func(request *http.Request) (*http.Response, error) { // the other begins and ends within
				w.advance(time.Second)
				if err := beside.Revoke(t.Context(), id); !fault.Is(err, fault.Unavailable) {
					t.Errorf("beside it: %v", err)
				}
				refused()
				return http.DefaultTransport.RoundTrip(request)
			}
			if first == "the one that began first" { // the other's answer is lost
				beside = w.newGrants(w.accounts, roundTripper(func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }))
			}
			w.grants = w.newGrants(w.accounts, roundTripper(outer))
			w.revoke(t, id)
			if first == "the one that began first" {
				refused()
				w.advance(30 * time.Second)
			}
			if _, err := w.comeBack(t, "gm", "gm", http.DefaultTransport); err != nil {
				t.Errorf("when both are over: %v", err)
			}
		})
	}
}
