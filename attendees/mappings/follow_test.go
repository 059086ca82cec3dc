package mappings_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/store"
)

// clearBacklogs has all calendars listed.
func (w *mappingWorld) clearBacklogs() {
	w.Helper()
	must(w.T, w.memory.Run(w.ctx, func(ctx context.Context, tx store.Tx) error {
		docs, err := tx.Query(ctx, allCals.With())
		for _, doc := range docs {
			if err == nil {
				err = tx.Update(doc.Path, store.Set("syncAt", store.Delete), store.Set("syncAsked", store.Delete), store.Set("relist", store.Delete))
			}
		}
		return err
	}))
}

func (w *mappingWorld) relisted() (ids []string) {
	w.Helper()
	for _, calendar := range w.calendars() {
		if calendar.SyncPending && !calendar.Backlogs[mappings.Consumer].Relist.IsZero() {
			ids = append(ids, calendar.CalendarID)
		}
	}
	slices.Sort(ids)
	return ids
}

func TestMappings_AChange_ConcernsWhatChanged(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben", "cho")
	w.refresh()
	w.clearBacklogs()
	soon, past := noon.Add(24*time.Hour), noon.Add(-time.Hour)
	w.record("att_ana", "ana", soon)
	w.record("att_ben", "ben", time.Time{})
	w.record("att_past", "ben", past)
	w.record("att_cho", "cho", soon)
	w.sheet.set("ana", "ben+bo", "dan")
	did := w.refresh()
	equal(t, "did", did, mappings.Refreshed{Loaded: 1, Followed: 1, Relisted: 1, Released: 1, Due: 2})
	equal(t, "listed again", w.relisted(), []string{"ben@north.example", "dan@north.example"})
	for id, due := range map[string]bool{"att_ana": false, "att_ben": true, "att_past": false, "att_cho": true} {
		record := w.load(id)
		equal(t, id+" is due", record.Due.Equal(w.now), due)
		equal(t, id+" has another version", record.Version == 4, due)
		equal(t, id+" says why it is due", record.Trace == mapped.Trace, due)
	}
	equal(t, "written soon", w.woken, []string{"attendees att_ben in 0s", "attendees att_cho in 0s"})
}

func TestMappings_ARemovedAddress_KeepsItsAccountUntilItIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben", "cho")
	w.refresh()
	w.record("att_cho", "cho", time.Time{})
	w.sheet.set("ana", "ben")
	w.refresh()
	equal(t, "delegated while a withdrawal is due", w.delegated("ana", "ben", "cho"), []string{"ana", "ben", "cho"})
	w.counter.Reset()
	w.refresh()
	equal(t, "writes while it waits", w.counter.Total().Writes, 1) // the state of the load
	equal(t, "version", w.load("att_cho").Version, int64(4))

	must(t, w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(attendees.EventPath("att_cho")) }))
	equal(t, "unlinked", w.refresh().Unlinked, 1)
	equal(t, "delegated", w.delegated("ana", "ben", "cho"), []string{"ana", "ben"})
	w.settled("ana", "ben")
}

// An addition for dan to an event of cho can be withdrawn through cho's calendar alone.
func TestMappings_AllRemoved_KeepTheAccountsOfTheirEventsOrganizers(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben", "cho", "dan")
	w.refresh()
	w.record("att_cho", "cho", time.Time{})
	added := w.load("att_cho")
	added.Entries = map[string]attendees.Entry{"dan@south.example": {State: attendees.Added, Primary: "dan@north.example", At: noon}}
	must(t, w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Set(attendees.EventPath("att_cho"), attendees.EncodeEvent(added))
	}))
	w.sheet.set("ana", "ben")
	w.refresh()
	equal(t, "delegated while a withdrawal is due", w.delegated("ana", "ben", "cho", "dan"), []string{"ana", "ben", "cho"})
	must(t, w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(attendees.EventPath("att_cho")) }))
	w.refresh()
	w.settled("ana", "ben")
}

// Nothing revives it while its address is not mapped, so it withdraws nothing.
func TestMappings_ARefusedAccountOfARemovedAddress_IsUnlinked(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana", "ben", "cho")
	w.refresh()
	w.record("att_cho", "cho", time.Time{})
	account, err := w.accounts.Get(w.ctx, accounts.DelegatedID("cho@north.example"))
	must(t, err)
	_, err = w.accounts.MarkRevoked(w.ctx, account.ID, account.Grant)
	must(t, err)
	w.sheet.set("ana", "ben")
	w.refresh()
	w.settled("ana", "ben")
}

func TestMappings_AnAddressThatReturns_IsFollowedAgain(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	for _, waits := range []bool{true, false} { // its account is still there, or not
		w.sheet.set("ana", "ben", "cho")
		w.refresh()
		if waits {
			w.record("att_cho", "cho", time.Time{})
		}
		w.sheet.set("ana", "ben")
		w.refresh()
		w.sheet.set("ana", "ben", "cho")
		w.refresh()
		w.settled("ana", "ben", "cho")
		equal(t, "delegated", w.delegated("ana", "ben", "cho"), []string{"ana", "ben", "cho"})
		must(t, w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(attendees.EventPath("att_cho")) }))
	}
}

// A version that is replaced while it is carried out leaves nothing behind.
func TestMappings_ReplacedWhileTheyAreCarriedOut_LeaveNothing(t *testing.T) {
	t.Parallel()
	many := []string{"ana", "ben", "cho"}
	for i := range 65 {
		many = append(many, "many"+string(rune('a'+i/26))+string(rune('a'+i%26)))
	}
	for _, next := range [][]string{{"ana", "ben", "cho"}, {"ben", "cho+chi", "dan"}} {
		w := newMappingWorld(t, true)
		w.sheet.set(many[:46]...)
		w.refresh()
		w.sheet.set(many...) // less than half as many more
		_, at, err := w.mappings.Refresh(w.ctx, mapped, "", false)
		must(t, err)
		equal(t, "some are left", at != "", true)
		w.sheet.set(next...)
		loaded, err := w.mappings.Reload(w.ctx, mapped, tableOf(next...).Version())
		must(t, err)
		equal(t, "version", loaded.Version, tableOf(next...).Version())
		_, at, err = w.mappings.Refresh(w.ctx, mapped, at, false) // the job's next step
		must(t, err)
		equal(t, "the job's end", at, "")
		w.settled(next...)
		equal(t, "delegated", w.delegated(many...), names(next, many))
	}
}

// names are those of all that are in some, in the order of all.
func names(some, all []string) (in []string) {
	for _, name := range all {
		if mappedIn := tableOf(some...); len(mappedIn.Secondaries(name+"@north.example")) > 0 {
			in = append(in, name)
		}
	}
	return in
}

func TestMappings_LinkedAccounts_AreFollowedAsTheyComeAndGo(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, false)
	w.link("p1", "ana")
	w.sheet.set("ana", "ben")
	w.refresh()
	w.settled("ana", "ben")
	equal(t, "without access", w.state().WithoutAccess, 1)

	ben := w.link("p2", "ben")
	other := w.link("p3", "ben")
	for range 2 {
		must(t, w.mappings.AccountBack(w.ctx, ben, mapped))
	}
	must(t, w.mappings.AccountBack(w.ctx, other, mapped))
	w.settled("ana", "ben")
	equal(t, "without access after a link", w.state().WithoutAccess, 0)
	calendar, _, err := calendars.Load(w.ctx, w.memory, ben.ID, "ben@north.example")
	must(t, err)
	equal(t, "followed by", []any{calendar.Interests[mappings.Consumer], calendar.OwnerID}, []any{1, "p2"})

	for person, account := range map[string]accounts.Account{"p2": ben, "p3": other} {
		left, err := w.accounts.Unlink(w.ctx, person, account.ID)
		must(t, err)
		must(t, w.mappings.AccountLeaving(w.ctx, left, mapped))
		w.settled("ana", "ben")
	}
	equal(t, "without access after unlinking", w.state().WithoutAccess, 1)
}

// While an account was not usable, an event that a guest showed was left alone, and the calendar that
// could be changed may have nothing new to show.
func TestMappings_AnAccountThatIsLinkedAgain_HasItsCalendarListedAgain(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, false)
	ana := w.link("p1", "ana")
	w.sheet.set("ana")
	w.refresh()
	w.clearBacklogs()
	must(t, w.mappings.AccountBack(w.ctx, ana, mapped))
	equal(t, "listed again after the first link", w.relisted(), nil)
	_, err := w.accounts.MarkRevoked(w.ctx, ana.ID, ana.Grant)
	must(t, err)
	w.now = w.now.Add(time.Hour)
	must(t, w.mappings.AccountBack(w.ctx, w.link("p1", "ana"), mapped))
	equal(t, "listed again", w.relisted(), []string{"ana@north.example"})
	w.settled("ana")
}

func TestMappings_AnAccountThatIsNotMapped_ChangesNothing(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, false)
	w.sheet.set("ana")
	w.refresh()
	zoe := w.link("p9", "zoe")
	w.counter.Reset()
	must(t, w.mappings.AccountBack(w.ctx, zoe, mapped))
	must(t, w.mappings.AccountLeaving(w.ctx, zoe, mapped))
	equal(t, "writes", w.counter.Total().Writes, 0)
	equal(t, "calls", len(w.calls), 0)
}

func TestMappings_AKeyThatComesAndGoes_MovesTheCalendars(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, false)
	w.link("p1", "ana")
	w.sheet.set("ana", "ben")
	w.refresh()
	w.restart(true)
	did := w.refresh()
	w.settled("ana", "ben")
	equal(t, "moved", []int{did.Followed, did.Released}, []int{2, 1})
	equal(t, "delegated", w.delegated("ana", "ben"), []string{"ana", "ben"})
	equal(t, "without access", w.state().WithoutAccess, 0)
	w.restart(false)
	did = w.refresh()
	w.settled("ana", "ben")
	equal(t, "moved back", []int{did.Followed, did.Released, did.Unlinked}, []int{1, 2, 2})
	equal(t, "without access", w.state().WithoutAccess, 1)
}

func TestMappings_ByHand_ReviveWhatGoogleRefused(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana")
	w.refresh()
	account, err := w.accounts.Get(w.ctx, accounts.DelegatedID("ana@north.example"))
	must(t, err)
	_, err = w.accounts.MarkRevoked(w.ctx, account.ID, account.Grant)
	must(t, err)
	w.refresh()
	equal(t, "delegated after a refusal", len(w.delegated("ana")), 0)
	_, at, err := w.mappings.Refresh(w.ctx, mapped, "", true)
	must(t, err)
	equal(t, "the end", at, "")
	equal(t, "delegated after the job by hand", w.delegated("ana"), []string{"ana"})
}

// An account that was made for an address while its mapping went does not stay.
func TestMappings_ADelegatedAccountWithoutMapping_IsUnlinked(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.sheet.set("ana")
	w.refresh()
	late, err := w.accounts.Delegate(w.ctx, "ben@north.example")
	must(t, err)
	must(t, w.mappings.AccountBack(w.ctx, late, mapped))
	equal(t, "delegated", w.delegated("ana", "ben"), []string{"ana"})
}

func TestMappings_WhatGoogleRefuses_IsLeftToTheSweep(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, true)
	w.refuse = fault.New(fault.Unavailable, "Google does not answer.")
	w.sheet.set("ana", "ben")
	equal(t, "not watched yet", w.refresh().Failed, 2)
	w.settled("ana", "ben")
}

func TestMappings_FollowLinkedAndUnlinkedAccounts(t *testing.T) {
	t.Parallel()
	w := newMappingWorld(t, false)
	w.sheet.set("ana")
	w.refresh()
	ana := w.link("p1", "ana")
	must(t, w.mappings.AccountBack(w.ctx, ana, mapped))
	w.settled("ana")
	left, err := w.accounts.Unlink(w.ctx, "p1", ana.ID)
	must(t, err)
	must(t, w.mappings.AccountLeaving(w.ctx, left, mapped))
	w.settled("ana")
}
