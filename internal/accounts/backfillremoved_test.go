package accounts_test

import (
	"testing"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
)

// removeUnlinked is what the cleanup does once those that are unlinked have been so for long.
func (w *world) removeUnlinked(t *testing.T, want int) {
	t.Helper()
	w.advance(accounts.Keep + time.Hour)
	if removed, err := accounts.RemoveUnlinked(t.Context(), w.store, w.now(), 10); removed != want || err != nil {
		t.Errorf("%d were removed, want %d; %v", removed, want, err)
	}
}

// adoptedAnew gives a person's accounts after another backfill.
func (w *world) adoptedAnew(t *testing.T, person string) []accounts.Account {
	t.Helper()
	w.backfill(t, accounts.Backfill{})
	all, err := w.accounts.List(t.Context(), person)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The web app keeps its copy of the token until --remove-old, and its age is that of the first link.
func TestBackfill_ARemovedAccount_DoesNotComeBack(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		ofToken string    // the web app's address of the Google account
		saved   time.Time // zero: it does not say
	}{"with an address": {"gm@example.test", noon}, "without an address": {"", noon}, "of unknown age": {"gm@example.test", time.Time{}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			account := w.adopt(t, "gm", "gm", row.ofToken)
			if row.saved.IsZero() {
				w.put(t, store.Doc("userSecrets", "gm"), map[string]any{"googleCalendar": map[string]any{"refreshToken": "1//old"}})
			}
			w.unlink(t, "gm", account.ID)
			w.removeUnlinked(t, 1)
			for range 2 {
				if all := w.adoptedAnew(t, "gm"); len(all) != 0 {
					t.Errorf("it is linked again: %+v", all)
				}
			}
			w.advance(time.Hour)
			again := w.adopt(t, "gm", "gm", row.ofToken) // the person links it in the web app
			if all := w.adoptedAnew(t, "gm"); len(all) != 1 || all[0].ID != again.ID {
				t.Errorf("a new consent became %+v", all)
			}
			if got, want := w.backfill(t, accounts.Backfill{RemoveOld: true}), (accounts.Backfilled{Read: 2, Already: 2, Removed: 1}); got != want {
				t.Errorf("last run: %+v, want %+v", got, want)
			}
		})
	}
}

// An account that went before the first backfill had the token as well.
func TestBackfill_AnAccountRemovedBeforeTheFirst_DoesNotComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.old(t, "gm", func(token string) any { return token })
	w.unlink(t, "gm", w.link(t, "gm", "gm").ID)
	w.removeUnlinked(t, 1)
	if all := w.adoptedAnew(t, "gm"); len(all) != 0 {
		t.Errorf("it is linked again: %+v", all)
	}
	how, want := accounts.Backfill{RemoveOld: true}, accounts.Backfilled{Read: 1, Already: 1, Removed: 1}
	if got := w.backfill(t, how); got != want {
		t.Errorf("the token that stays is removed by %+v, want %+v", got, want)
	}
}

// Another account of the person was removed, and other people's, and the service account's.
func TestBackfill_WhereAnotherAccountWasRemoved_LinksTheToken(t *testing.T) {
	t.Parallel()
	w := newDelegation(t)
	for _, person := range []string{"gm", "ana", "ben"} {
		w.old(t, person, func(token string) any { return token })
	}
	w.unlink(t, "gm", w.link(t, "gm", "other").ID)
	w.unlink(t, "cho", w.link(t, "cho", "cho").ID)
	w.delegate(t, "ana@example.test")
	if err := w.accounts.Undelegate(t.Context(), "ana@example.test"); err != nil {
		t.Fatal(err)
	}
	w.removeUnlinked(t, 3)
	for _, person := range []string{"gm", "ana", "ben"} {
		if all := w.adoptedAnew(t, person); len(all) != 1 || all[0].Email != person+"@example.test" {
			t.Errorf("%s has %+v", person, all)
		}
	}
	if mark := w.document(t, store.Doc("backfills", "token-cho")); mark != nil {
		t.Errorf("of a person without a token is kept %v", mark)
	}
}
