package calendarsync_test

import (
	"testing"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// relinks links a person's account again, and nothing follows from that at once.
func relinks(t *testing.T, w *worldtest.World, person string) {
	t.Helper()
	grant, err := w.Google.NewGrant(person)
	if err != nil {
		t.Fatal(err)
	}
	identity := accounts.Identity{Provider: accounts.Google, Sub: "sub-" + person, Email: worldtest.Person(person).Email}
	if _, err := w.Accounts.Link(t.Context(), person, identity, grant.RefreshToken, grant.Scopes); err != nil {
		t.Fatal(err)
	}
}

// carriesOn carries on the last change of gm's account.
func carriesOn(t *testing.T, w *worldtest.World) func() error {
	t.Helper()
	id := w.Account("gm")
	return func() error { return w.Links.Follow(t.Context(), id, worldtest.Cause) }
}

// An account whose loss cannot be carried on stays due, whichever read failed.
func TestLinks_OfALoss_ReadsFailAnywhere_SaySo(t *testing.T) {
	t.Parallel()
	for code, lose := range map[rules.ErrorCode]func(t *testing.T, w *worldtest.World){
		rules.CalendarUnlinked: func(t *testing.T, w *worldtest.World) { t.Helper(); unlinks(t, w, "gm") },
		rules.TokenExpired: func(t *testing.T, w *worldtest.World) {
			t.Helper()
			account, err := w.Accounts.Get(t.Context(), w.Account("gm"))
			if err != nil {
				t.Fatal(err)
			}
			if revoked, err := w.Accounts.MarkRevoked(t.Context(), account.ID, account.Grant); err != nil || !revoked {
				t.Fatal(revoked, err)
			}
		},
	} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			w, p := fallible(t)
			pollID, _, _ := w.Finalised()
			w.Run(time.Minute)
			lose(t, w)
			p.NoneUnread(t, 12, carriesOn(t, w))
			lost(t, w, pollID, code)
			same(t, "what the owner was sent", w.Notices("gm"), []string{"CALENDAR_SYNC_ERROR"})
			atRest(t, w)
		})
	}
}

// A calendar that cannot be watched while its account is linked again is watched by the next sweep;
// where another read fails, the account stays due.
func TestLinks_OfARelinkedAccount_ReadsFailAnywhere_AreCarriedOn(t *testing.T) {
	t.Parallel()
	n, reached := 1, true
	for ; reached && n <= worldtest.MostPoints; n++ {
		w, p := fallible(t)
		pollID, _, _ := w.Finalised()
		deleted, _, _ := w.Finalised()
		w.Revoke("gm")
		if _, err := w.Cancel(deleted); err != nil {
			t.Fatal(err)
		}
		w.Run(2 * time.Minute)
		equal(t, "intents that wait", len(w.Intents()), 1)
		relinks(t, w, "gm")
		follow := carriesOn(t, w)
		p.FailAt(n)
		err := follow()
		reached = p.Reached()
		p.FailAt(0)
		if err != nil {
			w.Run(time.Minute)
		}
		w.RunDue()
		equal(t, "intents that wait", len(w.Intents()), 0)
		w.Run(2 * time.Minute)
		w.Sweep()
		w.Run(2 * time.Minute)
		stands(t, w, pollID, rules.StateOK, ten.Start)
		atRest(t, w)
	}
	points.Struck(t, n-2, 15)
}
