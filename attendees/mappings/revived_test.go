package mappings_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/accounts"
)

// revoke has Google refuse the accounts of the service account for addresses of those names,
// which are made if there are none.
func (w *mappingWorld) revoke(names ...string) {
	w.Helper()
	for _, name := range names {
		account, err := w.accounts.Delegate(w.ctx, name+"@north.example")
		must(w.T, err)
		_, err = w.accounts.MarkRevoked(w.ctx, account.ID, account.Grant)
		must(w.T, err)
	}
}

// manyNames are more than Revive tries at once.
func manyNames() (names []string) {
	for i := range 101 {
		names = append(names, fmt.Sprintf("p%03d", i))
	}
	return names
}

// Google knew nobody of an address, and its account was created since: a person who loads by
// hand has it tried again, and the job alone does not.
func TestReload_AfterGoogleRefusedAnAddress_TriesItAgain(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "bo")
	w.refresh()
	w.revoke("ana", "cho")
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
	w.revoke("ana")
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
		w.sheet.set("ana", "cho")
		w.refresh()
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

// People leave accounts revoked for as long as they like, and none of these is ours to try.
func TestRevive_BehindManyRevokedAccountsOfPeople_TriesTheAddress(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana")
	w.refresh()
	for _, name := range manyNames() {
		account := w.link(name, name)
		_, err := w.accounts.MarkRevoked(w.ctx, account.ID, account.Grant)
		must(t, err)
	}
	w.revoke("ana")
	_, err := w.mappings.Revive(w.ctx, mapped)
	must(t, err)
	equal(t, "active", w.delegated("ana"), []string{"ana"})
}

// Google refuses each of them again, and their ids do not say which had a turn.
func TestRevive_OfMoreThanOneCallTries_GivesEachItsTurn(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	names := manyNames()
	w.sheet.set(names...)
	w.refresh()
	w.revoke(names...)
	for range 3 { // and from the beginning
		turns := map[string]int{}
		for range 2 {
			w.now = w.now.Add(time.Hour)
			n, err := w.mappings.Revive(w.ctx, mapped)
			must(t, err)
			tried := w.delegated(names...)
			equal(t, "tried at once", []int{n, len(tried)}, []int{100, 100})
			for _, name := range tried {
				turns[name]++
			}
			w.revoke(tried...)
		}
		for _, name := range names {
			if turns[name] == 0 {
				t.Errorf("%s had no turn", name)
			}
		}
	}
}

// Addresses that are mapped no longer, and that no carrying out unlinked, do not come before others
// for ever; nor are they tried.
func TestRevive_OfAddressesNoLongerMapped_UnlinksThem(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	names := manyNames()[:100]
	w.revoke(names...)
	w.sheet.set("ana")
	w.refresh()
	w.revoke("ana")
	for _, want := range []int{0, 1} {
		tried, err := w.mappings.Revive(w.ctx, mapped)
		must(t, err)
		equal(t, "tried", tried, want)
	}
	equal(t, "active", w.delegated(append(slices.Clone(names), "ana")...), []string{"ana"})
	account, err := accounts.Load(w.ctx, w.memory, accounts.DelegatedID(names[0]+"@north.example"))
	must(t, err)
	equal(t, "one that is not mapped", account.Status, accounts.Unlinked)
}
