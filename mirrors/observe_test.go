package mirrors_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/storetest"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
)

const thursday, friday = "2026-03-05T09:00:00Z", "2026-03-06T09:00:00Z"

func TestPolicy_EventsThatExist_AreMirrored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.insert(work, "Long ago", "2025-03-05T09:00:00Z")
	w.insert(work, "Far away", "2028-03-05T09:00:00Z")
	w.mirrorWork()
	w.settle()
	w.wantTitles(home, "Stand-up")
	if known := len(w.canonical(work)); known != 3 {
		t.Errorf("%d canonical events, want all 3", known)
	}
}

func TestSync_ChangesOfTheOrigin_ReachTheMirror(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	event := w.insert(work, "Stand-up", thursday)
	w.sync(work)
	w.wantTitles(home, "Stand-up")

	content := plan.Shown(*event.Details)
	content.Summary, content.Start, content.End = "Retrospective", at(friday), at("2026-03-06T10:00:00Z")
	_, err := w.full.PatchContent(w.ctx, refTo(work), event.ID, "", content)
	w.must(err)
	w.sync(work)
	w.wantTitles(home, "Retrospective")
	if start := w.atHome().Details.Start; !start.Time.Equal(at(friday).Time) {
		t.Errorf("it starts at %v", start)
	}

	_, err = w.full.DeleteQuietly(w.ctx, refTo(work), event.ID, "")
	w.must(err)
	w.sync(work)
	w.wantTitles(home)
	w.must(w.clock.Advance(2 * time.Hour))
	w.drain()
	w.settle()
	if left := w.canonical(work); len(left) > 0 || len(w.mirrors()) > 0 {
		t.Errorf("left are %+v and %+v", left, w.mirrors())
	}
}

func TestSync_OwnEventsInTheTarget_AreNoOrigins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.mirrorWork(
		mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.PrimaryTarget},
		mirror.Edge{FromAccountID: home, ToAccountID: work, Detail: mirror.Full, Target: mirror.PrimaryTarget},
	)
	w.settle()
	w.insert(work, "Stand-up", thursday)
	w.insert(home, "Dentist", friday)
	for range 3 {
		w.sync(work)
		w.sync(home)
	}
	w.wantTitles(work, "Dentist", "Stand-up")
	w.wantTitles(home, "Dentist", "Stand-up")
}

func TestSync_NothingNew_WritesNoMirror(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.insert(work, "Weekly", friday, "RRULE:FREQ=WEEKLY")
	w.mirrorWork()
	w.settle()
	w.sync(home) // the echoes
	before := w.state()
	for _, account := range []string{work, home} {
		w.relist(account)
		w.counter.Reset()
		w.sync(account)
		// The run's own writes, and for each event the calendar, what is known of it and of its copy.
		if cost := w.counter.Reset(); cost.Writes > 2 || cost.Deletes > 0 || cost.Reads > 23 {
			t.Errorf("a listing of %s that shows nothing new costs %+v", account, cost)
		}
	}
	if after := w.state(); after != before {
		t.Errorf("changed from\n%s\nto\n%s", before, after)
	}
}

// What is new on a page of a full listing, or known already, is read together: what is known of
// each event, a mirror and its copy, and once more to find those that are missing.
func TestSync_AFullPage_CostsFewReadsAnEvent(t *testing.T) {
	t.Parallel()
	const events, run = 20, 15
	for name, row := range map[string]struct {
		account, day string
		most         []storetest.Cost
	}{
		"of events": { // of the past, so that they have no mirrors
			work, "2025-03-05T09:00:00Z",
			[]storetest.Cost{{Reads: 3*events + run, Writes: 2*events + run}, {Reads: 2*events + run, Writes: 3}},
		},
		"of mirrors": {home, friday, []storetest.Cost{{Reads: 5*events + run, Writes: events + run}, {Reads: 5*events + run, Writes: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			for i := range events {
				w.insert(work, fmt.Sprint("Event ", i), row.day)
			}
			if row.account == home {
				w.sync(work)
			}
			for i, most := range row.most {
				w.relist(row.account)
				w.counter.Reset()
				w.sync(row.account)
				if cost := w.counter.Reset(); !cost.Within(most) {
					t.Errorf("listing %d costs %+v, want at most %+v", i, cost, most)
				}
			}
		})
	}
}

func TestSync_AnEventChangedInTheTarget_IsReverted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.mirrorWork()
	w.settle()
	w.change(w.atHome(), "Mine")
	w.sync(home)
	w.wantTitles(home, "Stand-up")
	w.delete(w.atHome())
	w.sync(home)
	w.wantTitles(home, "Stand-up")
	w.delete(w.atHome())
	w.sync(home)
	w.wantTitles(home)
	if m := w.only(); m.State != mirror.Suppressed {
		t.Errorf("the mirror is %s", m.State)
	}
}

func TestSync_SeriesAndExceptions_AreMirrored(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=4")
	w.sync(work)
	second, err := w.full.Instance(w.ctx, refTo(work), series.ID, at("2026-03-12T09:00:00Z"))
	w.must(err)
	content := plan.Shown(*second.Details)
	content.Summary = "Weekly, with cake"
	_, err = w.full.PatchContent(w.ctx, refTo(work), second.ID, "", content)
	w.must(err)
	third, err := w.full.Instance(w.ctx, refTo(work), series.ID, at("2026-03-19T09:00:00Z"))
	w.must(err)
	_, err = w.full.DeleteQuietly(w.ctx, refTo(work), third.ID, "")
	w.must(err)
	w.sync(work)
	w.sync(home)
	w.run(10 * time.Minute)
	w.wantTitles(home, "Weekly", "Weekly, with cake")
	copied := w.masterAtHome()
	gone, err := w.full.Instance(w.ctx, refTo(home), copied.ID, at("2026-03-19T09:00:00Z"))
	w.must(err)
	if gone.Details.Status != "cancelled" {
		t.Errorf("the third occurrence is %s", gone.Details.Status)
	}

	_, err = w.full.DeleteQuietly(w.ctx, refTo(work), series.ID, "")
	w.must(err)
	w.sync(work)
	w.run(10 * time.Minute)
	w.wantTitles(home)
	w.must(w.clock.Advance(2 * time.Hour))
	for range 2 {
		w.drain()
		w.settle()
	}
	if left := w.canonical(work); len(left) > 0 {
		t.Errorf("left are %+v\n%s", left, w.log.String())
	}
}

// Only polls follow the club's calendar: its events cost mirroring no read, however many
// they are.
func TestSync_CalendarOfPollsAlone_CostsMirrorsNothing(t *testing.T) {
	t.Parallel()
	var costs []storetest.Cost
	for _, events := range []int{0, 20} {
		w := newMirroringWorld(t)
		club, clubs := refTo(club), calendars.Calendar{AccountID: club, CalendarID: refTo(club).Calendar}
		w.set(store.Doc("calendars", w.key(club.Account)), clubs.Link(cause.Request(w.clock.Now()), gm, "")...)
		for i := range events {
			w.insert(club.Account, fmt.Sprint("Match ", i), thursday)
		}
		w.counter.Reset()
		w.sync(club.Account)
		costs = append(costs, w.counter.Reset())
		if known := w.canonical(club.Account); len(known) > 0 {
			t.Errorf("known are %+v", known)
		}
	}
	if costs[0] != costs[1] {
		t.Errorf("costs %+v", costs)
	}
}

func TestSync_OtherPeople_AreApart(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	event := w.insert(work, "Stand-up", thursday)
	w.sync(work)
	known := w.canonical(work)
	if len(known) != 1 || known[0].EventID != event.ID || known[0].OwnerID != gm {
		t.Fatalf("known are %+v", known)
	}
	w.wantTitles(annes)
	theirs, err := mirror.InState(w.ctx, w.memory, ana, 10, mirror.Active, mirror.Pending)
	w.must(err)
	if len(theirs) > 0 {
		t.Errorf("ana has %+v", theirs)
	}
}

func TestSync_StrayOfOurs_IsDeleted(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	for installation, id := range map[string]string{"here": "a", "elsewhere": "b"} {
		_, err := w.full.InsertContent(w.ctx, refTo(home), mirror.EventPrefix+id, gcal.Content{
			Summary: installation, Start: at(thursday), End: at(friday), Transparency: "opaque", Visibility: "default",
		}, map[string]string{plan.MarkMirror: "mir_unknown", plan.MarkInstallation: installation})
		w.must(err)
	}
	w.sync(home)
	w.run(10 * time.Minute)
	w.wantTitles(home, "elsewhere")
	known := w.canonical(home)
	if len(known) != 1 || known[0].Kind != mirror.KindCopy {
		t.Errorf("known are %+v", known)
	}
	if left := w.mirrors(); len(left) > 0 {
		t.Errorf("left are %+v", left)
	}
}

func TestCrash_BetweenCommitAndEnqueue_TheDrainGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	w.lossy = true
	w.mirrorWork()
	w.lossy = false
	if _, ok := w.wakes.Next(); ok {
		t.Fatal("something was enqueued")
	}
	if drained := w.drain(); drained[mirrors.PlanKind] != 1 {
		t.Errorf("drained %+v", drained)
	}
	w.settle()
	w.must(w.queueSync(work))
	w.lossy = true // the sync run commits the mirror and dies
	w.settle()
	w.lossy = false
	w.wantTitles(home)
	w.run(time.Minute)
	w.settle()
	w.wantTitles(home, "Stand-up")
	person, err := mirror.LoadPerson(w.ctx, w.memory, gm)
	w.must(err)
	if !person.PlanDue.IsZero() {
		t.Error("planning is still pending")
	}
}

func TestPlanAt_EventsThatComeWithinTheWindow_AreMirrored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Next year", "2027-05-05T09:00:00Z")
	w.mirrorWork()
	w.settle()
	w.wantTitles(home)
	w.must(w.clock.Advance(60 * 24 * time.Hour))
	if drained := w.drain(); drained[mirrors.EventKind] != 1 {
		t.Errorf("drained %+v", drained)
	}
	w.settle()
	w.wantTitles(home, "Next year")
	if drained := w.drain(); drained[mirrors.EventKind] != 0 {
		t.Errorf("drained %+v", drained)
	}
}

// Somebody changes or deletes a copy, and the sync run is faster than the record of the
// insert's answer.
func TestSync_BeforeAnInsertIsRecorded_IsNotForgotten(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *world){
		"deleted": func(w *world) { w.delete(w.atHome()) },
		"changed": func(w *world) { w.change(w.atHome(), "Mine") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMirroringWorld(t)
			w.insert(work, "Stand-up", thursday)
			w.writer.Google = &googlePoints{Google: w.client, points: w.points, after: func() {
				w.must(w.clock.Advance(time.Millisecond))
				act(w)
				w.must(w.queueSync(home))
				w.runSyncs()
			}}
			w.sync(work)
			w.run(time.Minute)
			w.wantTitles(home, "Stand-up")
			if m := w.only(); m.State != mirror.Active || !m.DeletedAt.IsZero() != (name == "deleted") {
				t.Errorf("the mirror is %+v", m)
			}
		})
	}
}

// runSyncs runs the sync runs that are due, and nothing else.
func (w *world) runSyncs() {
	w.Helper()
	w.must(w.clock.Advance(2 * time.Second))
	for _, task := range w.wakes.Due(w.clock.Now()) {
		if task.Kind != calendars.SyncKind {
			continue
		}
		if run, ok := w.wakes.Take(task.ID); ok {
			run.Settle(w.outbox.Run(w.ctx, run.Kind, run.Entry))
		}
	}
}
