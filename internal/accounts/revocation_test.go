package accounts_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
)

func TestRevocation_IsLearntOnceAndHoldsUntilRelinked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	w.wantOK(t, id)
	if err := w.google.Revoke("gm"); err != nil {
		t.Fatal(err)
	}
	_, err := w.call(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
	w.wantCalls(t, "at the first refusal", 2, 2)
	if got := w.get(t, id); got.Status != accounts.Revoked {
		t.Errorf("the account is %s", got.Status)
	}
	for range 3 {
		_, err := w.call(t.Context(), id)
		wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
	}
	w.use(t, "k1:"+rawKey('a'))
	_, err = w.call(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
	w.wantCalls(t, "until it is linked again, a restart included", 2, 2)

	w.relink(t, "gm", "gm")
	w.wantOK(t, id)
	w.wantCalls(t, "after the relink", 3, 3)
}

func TestRevocation_ManyAtOnceAskOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	if err := w.google.Revoke("gm"); err != nil {
		t.Fatal(err)
	}
	w.plant(t, control.Rule{Match: "oauth.token", DelayMS: 50})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			_, err := w.call(t.Context(), id)
			wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
		})
	}
	group.Wait()
	w.wantCalls(t, "for twenty at once", 1, 0)
}

// flaky is a store whose transactions can be made to fail.
type flaky struct {
	store.Store
	broken bool
}

func (f *flaky) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	if f.broken {
		return fault.New(fault.Unavailable, "the store is away")
	}
	return f.Store.Run(ctx, fn)
}

func TestRevocation_HoldsWithoutTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	if err := w.google.Revoke("gm"); err != nil {
		t.Fatal(err)
	}
	documents := &flaky{Store: w.store, broken: true}
	w.grants = w.newGrants(w.repository(t, documents, "k1:"+rawKey('a')), http.DefaultTransport)
	for range 2 {
		_, err := w.call(t.Context(), id)
		wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
	}
	w.wantCalls(t, "while the store is away", 1, 0)
	documents.broken = false
	_, err := w.call(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
	if got := w.get(t, id); got.Status != accounts.Revoked {
		t.Errorf("when the store is back, the account is %s", got.Status)
	}
	w.wantCalls(t, "when the store is back", 1, 0)
}

// The grant is refused while an access token is requested, and the store does not answer.
func TestRevocation_HoldsAgainstAnAnswerThatComesLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	documents := &flaky{Store: w.store}
	var early *http.Client
	refuse := func() {
		documents.broken = true
		if err := w.grants.Refused(t.Context(), id, early); !fault.Is(err, fault.Unavailable) {
			t.Errorf("refused while the store is away: %v", err)
		}
	}
	asked := 0
	w.grants = w.newGrants(w.repository(t, documents, "k1:"+rawKey('a')), roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(request)
		asked++
		if asked == 2 {
			refuse()
		}
		return response, err
	}))
	early, err := w.grants.Client(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	w.advance(2 * time.Hour)
	if _, err := w.grants.Client(t.Context(), id); err != nil {
		t.Errorf("the client that was asked for before: %v", err)
	}
	documents.broken = false
	_, err = w.call(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
	if got := w.get(t, id); got.Status != accounts.Revoked {
		t.Errorf("when the store is back, the account is %s", got.Status)
	}
}

func TestRefused_RevokesTheGrantOfThatClientAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	old, err := w.grants.Client(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	w.relink(t, "gm", "gm")
	w.wantOK(t, id)
	if err := w.grants.Refused(t.Context(), id, old); err != nil {
		t.Fatal(err)
	}
	w.wantOK(t, id)

	current, err := w.grants.Client(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.grants.Refused(t.Context(), id, current); err != nil {
		t.Fatal(err)
	}
	_, err = w.call(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeTokenExpired)
	for _, foreign := range []*http.Client{http.DefaultClient, {}} {
		if err := w.grants.Refused(t.Context(), id, foreign); !fault.Is(err, fault.Invalid) {
			t.Errorf("a client that is not ours: %v", err)
		}
	}
	if err := w.grants.Refused(t.Context(), "acc_other", current); !fault.Is(err, fault.Invalid) {
		t.Errorf("a client of another account: %v", err)
	}
}
