package mappings_test

import (
	"testing"

	"questscheduler/internal/accounts"
)

// Google knew nobody of an address, and its account was created since: a person who loads by
// hand has it tried again, and the job alone does not.
func TestReload_AfterGoogleRefusedAnAddress_TriesItAgain(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "bo")
	w.refresh()
	for _, name := range []string{"ana", "cho"} {
		account, err := w.accounts.Delegate(w.ctx, name+"@north.example")
		must(t, err)
		_, err = w.accounts.MarkRevoked(w.ctx, account.ID, account.Grant)
		must(t, err)
	}
	w.refresh()
	equal(t, "active after the job", w.delegated("ana", "bo", "cho"), []string{"bo"})
	_, err := w.mappings.Reload(w.ctx, mapped, "")
	must(t, err)
	equal(t, "active after loading by hand", w.delegated("ana", "bo", "cho"), []string{"ana", "bo"})
	account, err := accounts.Load(w.ctx, w.memory, accounts.DelegatedID("ana@north.example"))
	must(t, err)
	equal(t, "due", account.Due.IsZero(), false)
}

func TestReload_ThatFails_TriesRefusedAddressesAgain(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana")
	w.refresh()
	account, err := w.accounts.Delegate(w.ctx, "ana@north.example")
	must(t, err)
	_, err = w.accounts.MarkRevoked(w.ctx, account.ID, account.Grant)
	must(t, err)
	w.sheet.set()
	if _, err := w.mappings.Reload(w.ctx, mapped, ""); err == nil {
		t.Error("an empty sheet was loaded")
	}
	equal(t, "active", w.delegated("ana"), []string{"ana"})
}

func TestRevive_OfLinkedAccounts_LeavesThemAlone(t *testing.T) {
	t.Parallel()
	for delegated, want := range map[bool]int{true: 1, false: 0} {
		w := newMappingWorld(t, delegated)
		for _, name := range []string{"ana", "cho"} {
			account, err := w.accounts.Delegate(w.ctx, name+"@north.example")
			if name == "cho" {
				account, err = w.accounts.Link(
					w.ctx, "cho", accounts.Identity{Provider: accounts.Google, Sub: "cho", Email: "cho@north.example"}, "refresh",
					[]string{accounts.ScopeCalendar},
				)
			}
			must(t, err)
			_, err = w.accounts.MarkRevoked(w.ctx, account.ID, account.Grant)
			must(t, err)
		}
		tried, err := w.mappings.Revive(w.ctx, mapped)
		must(t, err)
		equal(t, "tried again", tried, want)
	}
}
