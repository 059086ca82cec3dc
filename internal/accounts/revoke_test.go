package accounts_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
)

func (w *world) unlink(t *testing.T, owner, id string) accounts.Account {
	t.Helper()
	account, err := w.accounts.Unlink(t.Context(), owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return account
}

func TestUnlink_LetsNoCallThroughButThoseThatSayGoodbye(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	w.wantOK(t, id)
	if _, err := w.accounts.Unlink(t.Context(), "ana", id); !fault.Is(err, fault.NotFound) {
		t.Errorf("by another person: %v", err)
	}
	account := w.unlink(t, "gm", id)
	if account.Status != accounts.Unlinked || !account.Due.Equal(w.now()) || !account.UnlinkedAt.Equal(w.now()) {
		t.Errorf("unlinked it is %+v", account)
	}
	w.advance(time.Hour)
	if again := w.unlink(t, "gm", id); !again.UnlinkedAt.Equal(account.UnlinkedAt) {
		t.Errorf("unlinked twice, it is so since %v", again.UnlinkedAt)
	}
	_, err := w.call(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeNotLinked)
	client, err := w.grants.Leaving(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := w.send(t.Context(), client); status != 200 || err != nil {
		t.Errorf("saying goodbye: %d, %v", status, err)
	}
	if done, err := w.accounts.Settled(t.Context(), account); !done || err != nil {
		t.Errorf("settled: %t, %v", done, err)
	}
	_, err = w.grants.Leaving(t.Context(), id)
	wantKind(t, err, fault.Revoked, accounts.CodeNotLinked)
}

func TestRevoke_GivesTheGrantBackOnceAndForgetsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	revoked := func() int { return w.google.Control().Calls()["oauth.revoke"] }
	if err := w.grants.Revoke(t.Context(), id); err != nil || revoked() != 0 {
		t.Errorf("of a linked account: %v, %d calls", err, revoked())
	}
	w.wantOK(t, id)
	w.unlink(t, "gm", id)
	w.plant(t, control.Rule{Match: "oauth.revoke", Status: 503, Times: 1})
	if err := w.grants.Revoke(t.Context(), id); !fault.Is(err, fault.Unavailable) {
		t.Errorf("while Google is down: %v", err)
	}
	if w.secret(t, id) == "" {
		t.Error("it was forgotten all the same")
	}
	for range 2 {
		if err := w.grants.Revoke(t.Context(), id); err != nil {
			t.Errorf("given back: %v", err)
		}
	}
	if revoked() != 2 || w.document(t, store.Doc("accountSecrets", id)) != nil {
		t.Errorf("%d calls; the secret is %v", revoked(), w.document(t, store.Doc("accountSecrets", id)))
	}
	w.relink(t, "gm", "gm")
	w.wantOK(t, id)
}

func TestRevoke_OfWhatGoogleDoesNotKnowAnyMore_IsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.link(t, "gm", "gm").ID
	if err := w.google.Revoke("gm"); err != nil {
		t.Fatal(err)
	}
	w.unlink(t, "gm", id)
	if err := w.grants.Revoke(t.Context(), id); err != nil || w.document(t, store.Doc("accountSecrets", id)) != nil {
		t.Errorf("given back: %v", err)
	}
}

func TestRevoke_ErrorsHoldNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account, err := w.accounts.Link(t.Context(), "gm", identity("gm"), "1//planted-secret", scopes)
	if err != nil {
		t.Fatal(err)
	}
	w.unlink(t, "gm", account.ID)
	err = w.newGrants(w.accounts, answering(502, "1//planted-secret")).Revoke(t.Context(), account.ID)
	if err == nil || strings.Contains(err.Error(), "planted") {
		t.Errorf("it says %v", err)
	}
}

func TestUnlinkedAccounts_GoAfterThirtyDaysWithTheirSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone, back, kept := w.link(t, "gm", "gm").ID, w.link(t, "ana", "ana").ID, w.link(t, "ben", "ben").ID
	w.unlink(t, "gm", gone)
	w.unlink(t, "ana", back)
	remove := func(want int) {
		t.Helper()
		if removed, err := accounts.RemoveUnlinked(t.Context(), w.store, w.now(), 10); removed != want || err != nil {
			t.Errorf("%d were removed, want %d; %v", removed, want, err)
		}
	}
	w.advance(30 * 24 * time.Hour)
	remove(0)
	w.relink(t, "ana", "ana")
	w.advance(time.Second)
	remove(1)
	remove(0)
	if _, err := w.accounts.Get(t.Context(), gone); !fault.Is(err, fault.NotFound) {
		t.Errorf("the account: %v", err)
	}
	if w.document(t, store.Doc("accountSecrets", gone)) != nil {
		t.Error("its secret is left")
	}
	w.wantOK(t, back)
	w.wantOK(t, kept)
}

// slowly has each call take some time by the world's clock.
type slowly struct {
	w     *world
	takes time.Duration
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s *slowly) RoundTrip(request *http.Request) (*http.Response, error) {
	s.w.advance(s.takes)
	return s.next.RoundTrip(request)
}

// However many accounts there are, one call ends within what a task may take, and
// the next goes on; where nobody answers it is left to the next time.
func TestCheckUntouched_OutOfTime_ReportsMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		w.link(t, fmt.Sprintf("person-%d", i), fmt.Sprintf("name-%d", i))
	}
	w.advance(25 * time.Hour)
	grants := w.newGrants(w.accounts, &slowly{w, 9 * time.Second, http.DefaultTransport})
	check := func(want accounts.Checked) {
		t.Helper()
		if got, err := grants.CheckUntouched(t.Context()); got != want || err != nil {
			t.Errorf("checked: %+v, want %+v; %v", got, want, err)
		}
	}
	check(accounts.Checked{Live: 2, More: true})
	w.plant(t, control.Rule{Match: "oauth.token", Status: 503, Times: 2})
	check(accounts.Checked{Failed: 2})
	check(accounts.Checked{Live: 2, More: true})
	check(accounts.Checked{Live: 1})
	check(accounts.Checked{})
}

func TestCheckUntouched_FindsADeadGrantBeforeItIsNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	live, dead := w.link(t, "gm", "gm").ID, w.link(t, "ana", "ana").ID
	check := func(want accounts.Checked) {
		t.Helper()
		if got, err := w.grants.CheckUntouched(t.Context()); got != want || err != nil {
			t.Errorf("checked: %+v, want %+v; %v", got, want, err)
		}
	}
	w.advance(23 * time.Hour)
	check(accounts.Checked{})
	if err := w.google.Revoke("ana"); err != nil {
		t.Fatal(err)
	}
	w.advance(2 * time.Hour)
	w.plant(t, control.Rule{Match: "oauth.token", Status: 503, Times: 2})
	check(accounts.Checked{Failed: 2})
	check(accounts.Checked{Live: 1, Dead: 1})
	check(accounts.Checked{})
	if got := w.get(t, dead); got.Status != accounts.Revoked || got.Due.IsZero() {
		t.Errorf("the dead one is %s, due %v", got.Status, got.Due)
	}
	w.wantOK(t, live)
	w.advance(25 * time.Hour)
	check(accounts.Checked{Live: 1})
}
