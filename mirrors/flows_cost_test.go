package mirrors_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/mirrors"
)

// Each row is a flow with an event of the person's and one of a group's, the calls that all of it
// makes and the documents that it may read and write at most.
func TestFlows_Each_CostsNoMoreThanItsCalls(t *testing.T) {
	t.Parallel()
	cost := func(reads, writes, deletes int) storetest.Cost {
		return storetest.Cost{Reads: reads, Writes: writes, Deletes: deletes}
	}
	party := mirror.Connection{GroupID: "party", AccountID: home, OwnerID: gm}
	week := mirrors.Range{Start: at(thursday).Time.AddDate(0, 0, -3), End: at(thursday).Time.AddDate(0, 0, 4)}
	for name, row := range map[string]struct {
		do    func(w *world)
		calls string
		most  storetest.Cost
	}{
		"one is made": {func(w *world) {
			w.insert(work, "Stand-up", thursday)
			w.sync(work)
		}, "map[events.insert:2 events.list:1]", cost(21, 9, 0)},
		"one is changed": {func(w *world) {
			w.turn(w.shown(work, workMail)[0], "Doctor", friday)
			w.sync(work)
		}, "map[events.list:2 events.patch:2]", cost(18, 8, 0)},
		"one is deleted": {func(w *world) {
			w.erase(work, "event1")
			w.sync(work)
		}, "map[events.delete:2 events.list:1]", cost(30, 7, 2)},
		"one is missing": {func(w *world) {
			w.lose(work, "event1")
			w.sync(work)
		}, "map[events.delete:2 events.get:1 events.list:2]", cost(35, 7, 2)},
		"copies are listed": {func(w *world) { w.relist(home); w.sync(home) }, "map[events.list:1]", cost(17, 2, 0)},
		"a copy is changed": {func(w *world) {
			w.change(w.copyAtHome("Dentist"), "Mine")
			w.sync(home)
		}, "map[events.list:2 events.patch:2]", cost(12, 7, 0)},
		"one is planned": {func(w *world) {
			w.must(w.service.PlanUID(w.ctx, gm, w.canonical(work)[0].ICalUID, cause))
		}, "map[]", cost(9, 0, 0)},
		"the session is planned": {func(w *world) {
			w.must(w.service.PlanEvent(w.ctx, "evt_session", cause))
		}, "map[]", cost(21, 0, 0)},
		"all are planned": {func(w *world) {
			w.must(w.service.Rewrite(w.ctx, gm, cause))
			w.settle()
		}, "map[]", cost(56, 5, 0)},
		"nothing is due": {func(w *world) { w.drain(); w.settle() }, "map[]", cost(3, 0, 0)},
		"a connection ends": {func(w *world) {
			w.must(w.service.EndConnection(w.ctx, party, cause))
			w.settle()
		}, "map[events.delete:1]", cost(70, 9, 2)},
		"an account ends": {func(w *world) {
			w.account(work, accounts.Unlinked)
			account, err := accounts.Load(w.ctx, w.memory, work)
			w.must(err)
			w.must(w.service.EndAccount(w.ctx, account, cause))
			w.settle()
		}, "map[events.delete:1]", cost(79, 9, 2)},
		"nothing is stale": {func(w *world) { w.removeStale() }, "map[]", cost(2, 0, 0)},
		"one is shown": {func(w *world) {
			_, err := w.events().Get(w.ctx, gm, w.idOf("Dentist"))
			w.must(err)
		}, "map[]", cost(2, 0, 0)},
		"a week is listed": {func(w *world) {
			_, err := w.events().List(w.ctx, gm, week, store.Paging{Limit: 9}, func(mirrors.Shown) (bool, error) { return true, nil })
			w.must(err)
		}, "map[]", cost(9, 0, 0)},
		"one is renamed over REST": {func(w *world) {
			_, err := w.events().Change(w.ctx, gm, w.idOf("Dentist"), mirrors.Change{Title: new("Doctor")}, cause)
			w.must(err)
			w.settle()
		}, "map[events.get:1 events.patch:2]", cost(18, 6, 0)},
		"one is deleted over REST": {func(w *world) {
			w.must(w.events().Delete(w.ctx, gm, w.idOf("Dentist"), nil, cause))
			w.settle()
		}, "map[events.delete:2 events.get:2]", cost(29, 5, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newShownWorld(t)
			w.run(2 * time.Minute)
			w.service.Store = w.counter
			w.google.Control().ResetCalls()
			w.counter.Reset()
			row.do(w)
			calls, did := fmt.Sprint(w.google.Control().Calls()), w.counter.Reset()
			if calls != row.calls || !did.Within(row.most) {
				t.Errorf("it made the calls %s, want %s, and costs %+v, want at most %+v", calls, row.calls, did, row.most)
			}
		})
	}
}

// erase deletes an event from an account's calendar.
func (w *world) erase(account, eventID string) {
	w.Helper()
	_, err := w.full.DeleteQuietly(w.ctx, refTo(account), eventID, "")
	w.must(err)
}
