package mappings_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
)

// noAccounts cannot be reached.
type noAccounts struct{ mappings.MappedAccounts }

func (noAccounts) ByEmail(context.Context, string) ([]accounts.Account, error) {
	return nil, fault.New(fault.Unavailable, "The accounts cannot be read.")
}

// Loading goes on while a version cannot be carried out, so its time says nothing of that.
func TestRefresh_ThatCannotCarryOut_IsPendingSinceTheChange(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "bo")
	w.refresh()
	equal(t, "pending after it was carried out", w.state().PendingSince, time.Time{})
	w.sheet.set("ana", "bo+bea")
	changed := w.now.Add(5 * time.Minute)
	for range 3 {
		w.mappings.Accounts = noAccounts{}
		if _, err := w.tryRefresh(w.mappings); err == nil {
			t.Fatal("it was carried out")
		}
		w.restart(true)
	}
	equal(t, "pending since", w.state().PendingSince.UTC(), changed)
	w.refresh()
	equal(t, "pending after all", w.state().PendingSince, time.Time{})
	w.settled("ana", "bo+bea")
}

func TestRefresh_WithAnAccountThatIsStillNeeded_IsNotPending(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "bo", "cho")
	w.refresh()
	w.record("att_1", "bo", noon.Add(24*time.Hour))
	w.sheet.set("ana", "cho")
	w.refresh()
	equal(t, "accounts", w.delegated("ana", "bo", "cho"), []string{"ana", "bo", "cho"})
	equal(t, "pending", w.state().PendingSince, time.Time{})
}
