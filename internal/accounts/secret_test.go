package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/store"
)

// tokenEndpoint gives refresh tokens of its own, and knows only the last one.
func tokenEndpoint(first string) (transport http.RoundTripper, given *[]string) {
	given = &[]string{first}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if got := r.PostFormValue("refresh_token"); got != (*given)[len(*given)-1] {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
			return
		}
		next := fmt.Sprintf("rotated-%d", len(*given))
		*given = append(*given, next)
		fmt.Fprintf(w, `{"access_token":"at-%s","token_type":"Bearer","refresh_token":%q}`, next, next)
	})
	return control.Transport(handler), given
}

func TestRotation_SurvivesAStoreFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account, err := w.accounts.Link(t.Context(), "gm", identity("gm"), "1//first", scopes)
	if err != nil {
		t.Fatal(err)
	}
	transport, given := tokenEndpoint("1//first")
	documents := &flaky{Store: w.store, broken: true}
	repository := w.repository(t, documents, "k1:"+rawKey('a'))
	grants := w.newGrants(repository, transport)
	if _, err := grants.Client(t.Context(), account.ID); !fault.Is(err, fault.Unavailable) {
		t.Errorf("while the store is away: %v", err)
	}
	documents.broken = false
	if _, err := grants.Client(t.Context(), account.ID); err != nil || len(*given) != 2 {
		t.Fatalf("when it is back: %v after %d tokens", err, len(*given))
	}
	restarted := w.newGrants(repository, transport)
	if _, err := restarted.Client(t.Context(), account.ID); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	w.advance(5*time.Minute + time.Second) // the answer did not say how long it lasts
	if _, err := restarted.Client(t.Context(), account.ID); err != nil || (*given)[len(*given)-1] != "rotated-3" {
		t.Errorf("after the access token expired: %v after %v", err, *given)
	}
}

func TestKeys_AreRotatedOnUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	w.use(t, "k2:"+rawKey('b')+",k1:"+rawKey('a'))
	w.wantOK(t, id)
	if sealed := w.secret(t, id); !strings.HasPrefix(sealed, "v1.k2.") {
		t.Errorf("after a use it is sealed as %.10s", sealed)
	}
	w.use(t, "k2:"+rawKey('b'))
	w.wantOK(t, id)

	w.use(t, "k3:"+rawKey('c'))
	_, err := w.call(t.Context(), id)
	wantKind(t, err, fault.Internal, seal.CodeUnreadable)
	if got := w.get(t, id); got.Status != accounts.Active {
		t.Errorf("a missing key made the account %s", got.Status)
	}
}

// A user unlinks while the program requests an access token with a refresh token that it
// will seal again.
func TestKeys_ForgottenSecret_IsNotSealedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	w.use(t, "k2:"+rawKey('b')+",k1:"+rawKey('a'))
	w.grants = w.newGrants(w.accounts, afterwards("/token", func() {
		w.unlink(t, "gm", id)
		if err := w.grants.Revoke(t.Context(), id); err != nil {
			t.Error(err)
		}
	}))
	if _, err := w.grants.Client(t.Context(), id); err != nil {
		t.Errorf("the client that was asked for before: %v", err)
	}
	if secret := w.document(t, store.Doc("accountSecrets", id)); secret != nil {
		t.Errorf("the secret is there again: %v", secret)
	}
}

// afterwards makes calls, and lets something happen before the answer of the
// first one of a path comes back.
func afterwards(path string, happens func()) http.RoundTripper {
	var once sync.Once
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(request)
		if request.URL.Path == path {
			once.Do(happens)
		}
		return response, err
	})
}

func TestSecrets_AnotherAccountsRowDoesNotOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	victim, thief := w.link(t, "gm", "gm"), w.link(t, "ana", "ana")
	err := w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		row, err := tx.Get(t.Context(), store.Doc("accountSecrets", victim.ID))
		if err != nil {
			return err
		}
		return tx.Set(store.Doc("accountSecrets", thief.ID), row.Data)
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.call(t.Context(), thief.ID)
	wantKind(t, err, fault.Internal, seal.CodeUnreadable)
	w.wantOK(t, victim.ID)
	w.wantCalls(t, "for the row that did not open", 1, 1)
}

func TestSecrets_ALostRowAsksForALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	err := w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Delete(store.Doc("accountSecrets", id)) })
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.call(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
	w.relink(t, "gm", "gm")
	w.wantOK(t, id)
}

func TestSecrets_StandInNoError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account, err := w.accounts.Link(t.Context(), "gm", identity("gm"), "1//planted-secret", scopes)
	if err != nil {
		t.Fatal(err)
	}
	for name, transport := range map[string]http.RoundTripper{
		"an answer that repeats them": answering(http.StatusBadRequest, `{"error":"1//planted-secret","error_description":"client-secret"}`),
		"an answer that is no JSON":   answering(http.StatusBadGateway, `1//planted-secret client-secret`),
		"a success that is none":      answering(http.StatusOK, `1//planted-secret`),
		"a success without a token":   answering(http.StatusOK, `{"refresh_token":"1//planted-secret"}`),
		"a connection that closed": roundTripper(func(*http.Request) (*http.Response, error) {
			return nil, errors.New("connection reset")
		}),
	} {
		_, err := w.newGrants(w.accounts, transport).Client(t.Context(), account.ID)
		if err == nil || fault.Is(err, fault.Revoked) {
			t.Errorf("%s: got %v", name, err)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, "secret") {
				t.Errorf("%s: the error holds a secret: %s", name, text)
			}
		}
	}
}

func answering(status int, body string) http.RoundTripper {
	return control.Transport(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
}
