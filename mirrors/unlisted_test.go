package mirrors_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
)

// lose deletes an event so that no incremental listing shows it.
func (w *world) lose(account, eventID string) {
	w.Helper()
	_, err := w.full.DeleteQuietly(w.ctx, refTo(account), eventID, "")
	w.must(err)
	w.relist(account)
}

// mirroredEvents makes "Event 0" and so on in work, which mirrors show at home.
func (w *world) mirroredEvents(count int) (ids []string) {
	w.Helper()
	for i := range count {
		ids = append(ids, w.insert(work, fmt.Sprint("Event ", i), thursday).ID)
	}
	w.mirrorWork()
	w.settle()
	return ids
}

func TestUnlisted_EventsThatAreGone_TakeTheirMirrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone := w.insert(work, "Gone", thursday)
	w.insert(work, "Stays", thursday)
	w.insert(work, "Stays too", thursday)
	w.mirrorWork()
	w.settle()
	w.lose(work, gone.ID)
	w.sync(work)
	w.wantTitles(home, "Stays", "Stays too")
}

func TestUnlisted_AMirrorThatIsGone_IsRecreated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.insert(home, "Dentist", friday)
	w.mirrorWork()
	w.settle()
	w.lose(home, w.only().EventID)
	w.wantTitles(home, "Dentist")
	w.sync(home)
	w.wantTitles(home, "Dentist", "Stand-up")
}

// Also one whose last change failed.
func TestUnlisted_AFailedMirrorThatIsGone_IsRecreated(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	meeting := w.insert(work, "Stand-up", thursday)
	w.sync(work)
	w.sync(home)
	w.must(w.google.Control().Plant(control.Rule{Match: "events.patch", Calendar: homeMail, Status: 400, Reason: "invalid"}))
	w.turn(meeting, "Retrospective", thursday)
	w.sync(work)
	if m := w.only(); m.State != mirror.Failed {
		t.Fatalf("the mirror is %+v", m)
	}
	w.google.Control().Clear()
	w.lose(home, w.only().EventID)
	w.sync(home)
	w.wantTitles(home, "Retrospective")
}

func TestUnlisted_ManyGoneAtOnce_NeedASecondListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.mirroredEvents(5)
	for _, id := range ids {
		w.lose(work, id)
	}
	w.sync(work)
	w.run(30 * time.Minute)
	if shown := w.titles(home); len(shown) != 5 {
		t.Fatalf("home shows %v after one listing\n%s", shown, w.log.String())
	}
	w.must(w.clock.Advance(time.Hour))
	w.sync(work)
	w.run(10 * time.Minute)
	w.wantTitles(home)
	person, err := mirror.LoadPerson(w.ctx, w.memory, gm)
	w.must(err)
	if len(person.HeldSince) > 0 {
		t.Errorf("still held: %v", person.HeldSince)
	}
}

// What a second listing misses beside other events was missed by no listing before.
func TestUnlisted_OthersGoneAnHourLater_NeedAnotherListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.mirroredEvents(10)
	for _, id := range ids[:6] {
		w.lose(work, id)
	}
	w.sync(work)
	for _, id := range ids[6:] {
		w.lose(work, id)
	}
	for _, shown := range []int{10, 0} {
		w.must(w.clock.Advance(time.Hour))
		w.sync(work)
		if titles := w.titles(home); len(titles) != shown {
			t.Fatalf("home shows %v, want %d\n%s", titles, shown, w.log.String())
		}
	}
	if person := w.personPlan(); len(person.HeldSince) > 0 || len(person.HeldEvents) > 0 {
		t.Errorf("still held: %v, %v", person.HeldSince, person.HeldEvents)
	}
}

// An event that Google neither lists nor gives keeps no other one's copy, and is fetched again.
func TestUnlisted_AnEventThatFails_DelaysNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.mirroredEvents(6)
	w.lose(work, ids[0])
	w.lose(work, ids[2])
	w.must(w.google.Control().Plant(control.Rule{Match: "events.get", Event: ids[0], Status: 503}))
	w.sync(work)
	w.wantTitles(home, "Event 0", "Event 1", "Event 3", "Event 4", "Event 5")
	if w.calendar(work).Backlogs[mirror.Consumer].Relist.IsZero() {
		t.Error("the event is given up")
	}
	w.google.Control().Clear()
	w.must(w.clock.Advance(time.Hour))
	w.sync(work)
	w.wantTitles(home, "Event 1", "Event 3", "Event 4", "Event 5")
}

// An event of which the store refuses what it becomes, be it gone or there, delays no other and is tried
// again.
func TestUnlisted_AnEventThatCannotBeStored_DelaysNoOther(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change      func(w *world, ids []string)
		then, later []string
	}{
		"gone": {
			func(w *world, ids []string) {
				for _, id := range ids {
					w.lose(work, id)
				}
			},
			[]string{"Event 0", "Event 3", "Event 4", "Event 5", "Event 6", "Event 7"},
			[]string{"Event 3", "Event 4", "Event 5", "Event 6", "Event 7"},
		},
		"there": {
			func(w *world, ids []string) {
				for _, id := range ids {
					event, err := w.full.Get(w.ctx, refTo(work), id)
					w.must(err)
					w.turn(event, "Changed "+event.Details.Summary, thursday)
				}
				w.relist(work)
				empty := json.RawMessage(`{"accessRole": "owner", "items": [], "nextSyncToken": "none"}`)
				w.must(w.google.Control().Plant(control.Rule{Match: "events.list", Body: empty, Times: 1}))
			},
			[]string{"Changed Event 1", "Changed Event 2", "Event 0", "Event 3", "Event 4", "Event 5", "Event 6", "Event 7"},
			[]string{"Changed Event 0", "Changed Event 1", "Changed Event 2", "Event 3", "Event 4", "Event 5", "Event 6", "Event 7"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.service.HoldMin = 8
			ids := w.mirroredEvents(8)
			row.change(w, ids[:3])
			first, err := mirror.LoadEvent(w.ctx, w.memory, w.idOf("Event 0"))
			w.must(err)
			refused := &refusing{Store: w.service.Store, kind: fault.TooLarge, uids: map[string]bool{first.ICalUID: true}}
			w.service.Store = refused
			w.sync(work)
			w.wantTitles(home, row.then...)
			if w.calendar(work).Backlogs[mirror.Consumer].Relist.IsZero() {
				t.Error("the event is given up")
			}
			clear(refused.uids)
			w.must(w.clock.Advance(time.Hour))
			w.sync(work)
			w.wantTitles(home, row.later...)
		})
	}
}

// An event that cannot be fetched may be gone as well, and keeps a mass deletion held no longer
// than any.
func TestUnlisted_ManyGoneOrFailing_NeedASecondListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.mirroredEvents(5)
	for _, id := range ids[:3] {
		w.lose(work, id)
	}
	w.must(w.google.Control().Plant(control.Rule{Match: "events.get", Event: ids[1], Status: 503}))
	w.sync(work)
	if shown := w.titles(home); len(shown) != 5 {
		t.Errorf("home shows %v", shown)
	}
	w.must(w.clock.Advance(time.Hour))
	w.sync(work)
	w.wantTitles(home, "Event 1", "Event 3", "Event 4")
}

func TestUnlisted_ManyGoneThatComeBack_KeepTheirMirrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		w.insert(work, fmt.Sprint("Event ", i), thursday)
	}
	w.mirrorWork()
	w.settle()
	w.set(mirror.PersonPath(gm), store.Update{Path: store.Field("heldSince", w.key(work)), Value: stageStart.Add(-2 * time.Hour)})
	w.relist(work)
	w.sync(work)
	person, err := mirror.LoadPerson(w.ctx, w.memory, gm)
	w.must(err)
	if len(person.HeldSince) > 0 || len(w.titles(home)) != 5 {
		t.Errorf("held: %v; home shows %v", person.HeldSince, w.titles(home))
	}
}

func TestAccount_UnlinkedAndBack_FollowsItsEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.mirrorWork()
	w.settle()
	w.account(work, accounts.Unlinked)
	account := accounts.Account{ID: work, OwnerID: gm, Status: accounts.Unlinked, UnlinkedAt: w.clock.Now()}
	w.must(w.service.EndAccount(w.ctx, account, cause))
	w.settle()
	w.wantTitles(home)
	w.wantFollowed()
	if known := w.canonical(work); len(known) > 0 {
		t.Errorf("still known are %+v", known)
	}
	w.account(work, accounts.Active)
	w.must(w.service.ResumeAccount(w.ctx, account, cause))
	w.settle()
	w.wantTitles(home, "Stand-up")
}

// A group's event reaches the accounts that its members connected, each by their own
// mirrors, and their own edges project it further.
func TestPlanEvent_AGroupsEvent_ReachesItsMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(home, gm)
	w.connect(annes, ana)
	event := w.canonicalSession()
	w.put(event)
	w.drain()
	w.settle()
	w.wantTitles(home, "Session")
	w.wantTitles(annes, "Session")
	w.mirrorWork(mirror.Edge{FromAccountID: home, ToAccountID: work, Detail: mirror.Full, Target: mirror.PrimaryTarget})
	w.settle()
	w.wantTitles(work, "Session")

	event, err := mirror.LoadEvent(w.ctx, w.memory, event.ID)
	w.must(err)
	if event.PlanAt.Equal(stageStart) {
		t.Error("it is still due")
	}
	event.Status, event.PlanAt, event.Version = "cancelled", w.clock.Now(), 2
	w.put(event)
	w.must(w.service.PlanEvent(w.ctx, event.ID, cause))
	w.settle()
	w.wantTitles(home)
	w.wantTitles(annes)
	w.wantTitles(work)
	w.must(w.clock.Advance(2 * time.Hour))
	w.drain()
	w.settle()
	if doc, err := w.memory.Get(w.ctx, mirror.EventPath(event.ID)); err != nil || doc.Exists() {
		t.Errorf("it is still there: %v, %v", doc.Data, err)
	}
}

// The web app removes members without ending their connections.
func TestGroupEvent_SomebodyLeft_SeesNoChangeOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(home, gm)
	w.connect(annes, ana)
	event := w.canonicalSession()
	w.put(event)
	w.run(2 * time.Minute)
	w.wantTitles(home, "Session")
	w.members(ana)
	event.Title, event.PlanAt, event.Version = "Surprise for the game master", w.clock.Now(), 2
	w.put(event)
	w.run(2 * time.Minute)
	w.wantTitles(annes, "Surprise for the game master")
	w.wantTitles(home)
	if shown, err := w.events().Get(w.ctx, gm, event.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the former member reads %q, %v", shown.Title, err)
	}
	day := event.Start.Time.Truncate(24 * time.Hour)
	_, err := w.events().List(w.ctx, gm, mirrors.Range{Start: day, End: day.Add(24 * time.Hour)}, store.Paging{Limit: 10},
		func(one mirrors.Shown) (bool, error) {
			t.Errorf("the former member lists %q", one.Title)
			return true, nil
		})
	w.must(err)
}

// Google answers an account 600 calls a minute, so one run reads 200 of the events that a listing
// lacks. Those that are left need no confirmation of their own.
func TestUnlisted_MoreGoneThanARunReads_GoInSeveral(t *testing.T) {
	if testing.Short() {
		t.Skip("many events")
	}
	t.Parallel()
	for name, row := range map[string]struct{ all, gone, syncs int }{
		"few of all": {450, 215, 0}, "most of all": {220, 215, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var ids []string
			for i := range row.all {
				ids = append(ids, w.insert(work, fmt.Sprint("Event ", i), thursday).ID)
			}
			w.mirrorWork()
			w.run(5 * time.Minute)
			for _, id := range ids[:row.gone] {
				_, err := w.full.DeleteQuietly(w.ctx, refTo(work), id, "")
				w.must(err)
			}
			w.relist(work)
			w.google.Control().ResetCalls()
			w.sync(work)
			for range row.syncs {
				w.run(10 * time.Minute)
				w.must(w.clock.Advance(50 * time.Minute))
				w.sync(work)
			}
			w.run(10 * time.Minute)
			if shown := len(w.titles(home)); shown != row.all-row.gone {
				t.Errorf("home shows %d", shown)
			}
			if calls := w.google.Control().Calls()["events.get"]; calls > row.gone+20 {
				t.Errorf("%d events were read", calls)
			}
			person, err := mirror.LoadPerson(w.ctx, w.memory, gm)
			w.must(err)
			if len(person.HeldSince) > 0 {
				t.Errorf("held are %v", person.HeldSince)
			}
		})
	}
}

// Those that could not be read when the others' absence was confirmed were missed by both listings
// too, also where that ended the run.
func TestUnlisted_SomeOfManyFail_NeedNoFurtherConfirmation(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]control.Rule{
		"each":        {Status: 503},
		"the account": {Status: 403, Reason: "rateLimitExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ids := w.mirroredEvents(12)
			for _, id := range ids[:10] {
				w.lose(work, id)
			}
			w.sync(work)
			for _, id := range ids[4:10] {
				refused.Match, refused.Event = "events.get", id
				w.must(w.google.Control().Plant(refused))
			}
			w.must(w.clock.Advance(time.Hour))
			w.sync(work)
			if shown := len(w.titles(home)); shown != 8 {
				t.Errorf("home shows %d after six could not be read", shown)
			}
			w.google.Control().Clear()
			w.must(w.clock.Advance(15 * time.Minute))
			w.sync(work)
			w.wantTitles(home, "Event 10", "Event 11")
		})
	}
}

// That more are missing than a run reads hides no failure of one that it read.
func TestUnlisted_OneOfMoreThanARunReadsFails_IsLogged(t *testing.T) {
	if testing.Short() {
		t.Skip("many events")
	}
	t.Parallel()
	w := newWorld(t)
	w.service.HoldMin = 1000
	var ids []string
	for i := range 205 {
		ids = append(ids, w.insert(work, fmt.Sprint("Event ", i), thursday).ID)
	}
	w.mirrorWork()
	w.run(3 * time.Minute)
	for _, id := range ids {
		_, err := w.full.DeleteQuietly(w.ctx, refTo(work), id, "")
		w.must(err)
	}
	w.relist(work)
	w.must(w.google.Control().Plant(control.Rule{Match: "events.get", Status: 503, Times: 5}))
	w.sync(work)
	if !strings.Contains(w.log.String(), "a consumer failed") {
		t.Errorf("the log says\n%s", w.log.String())
	}
}
