package accounts_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/accounts"
)

// Google refuses the addresses of another domain, which says nothing of any grant. They take one
// run and more, and the next one reaches what is behind them.
func TestCheckUntouched_BehindManyRefused_ReachesTheRest(t *testing.T) {
	t.Parallel()
	w := newDelegation(t)
	for i := range 6 {
		w.delegate(t, fmt.Sprintf("p%d@elsewhere.test", i))
		w.advance(time.Second)
	}
	live, dead := w.link(t, "gm", "gm").ID, w.link(t, "ana", "ana").ID
	if err := w.google.Revoke("ana"); err != nil {
		t.Fatal(err)
	}
	w.advance(accounts.Untouched + time.Hour)
	slow := w.newGrants(w.accounts, &slowly{w, 5 * time.Second, http.DefaultTransport})
	check := func(grants *accounts.Grants, want accounts.Checked) {
		t.Helper()
		if got, err := grants.CheckUntouched(t.Context()); got != want || err != nil {
			t.Errorf("checked: %+v, want %+v; %v", got, want, err)
		}
	}
	check(slow, accounts.Checked{Failed: 4})
	check(slow, accounts.Checked{Failed: 2, Live: 1, Dead: 1})
	if got := w.get(t, dead); got.Status != accounts.Revoked || w.get(t, live).Status != accounts.Active {
		t.Errorf("the dead one is %s", got.Status)
	}
	// None of the refused is known to be good, so each is asked after before a day is over.
	w.advance(accounts.Untouched / 2)
	check(w.grants, accounts.Checked{Failed: 6})
	w.advance(time.Hour)
	check(w.grants, accounts.Checked{})
}

// What fails for all of them says nothing of one: each keeps its place.
func TestCheckUntouched_WhileGoogleIsAway_PutsNothingOff(t *testing.T) {
	t.Parallel()
	for _, status := range []int{503, 429} {
		w := newWorld(t)
		w.link(t, "gm", "gm")
		w.advance(accounts.Untouched + time.Hour)
		w.plant(t, control.Rule{Match: "oauth.token", Status: status, Times: 1})
		for _, want := range []accounts.Checked{{Failed: 1}, {Live: 1}} {
			if got, err := w.grants.CheckUntouched(t.Context()); got != want || err != nil {
				t.Errorf("%d: checked %+v, want %+v; %v", status, got, want, err)
			}
		}
	}
}
