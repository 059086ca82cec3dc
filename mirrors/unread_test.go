package mirrors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/mirrors"
	"questscheduler/rules"
)

// fallible has reads of the program fail at the points that it returns. No transaction is run
// again for another reason: that would hide the failure.
func (w *world) fallible() *points.Points {
	p := &points.Points{}
	w.service.Store = &points.Reads{Store: w.counter, Points: p}
	return p
}

// unwritable has writes of the program fail at the points that it returns.
func (w *world) unwritable() *points.Points {
	p := &points.Points{}
	w.service.Store = &points.Writes{Store: w.counter, Points: p}
	return p
}

// newShownWorld has an event of work's shown at home, and one of a group's.
func newShownWorld(t *testing.T) *world {
	t.Helper()
	w := newMirroringWorld(t)
	w.connect(home, gm)
	w.put(w.canonicalSession())
	w.insert(work, "Dentist", thursday)
	w.sync(work)
	w.run(2 * time.Minute)
	w.sync(home)
	w.wantTitles(home, "Dentist", "Session")
	return w
}

// idOf is the id of the canonical event of work with a title.
func (w *world) idOf(title string) string {
	w.Helper()
	all := w.canonical(work)
	i := slices.IndexFunc(all, func(e mirror.Event) bool { return e.Title == title })
	if i < 0 {
		w.Fatalf("no event of work is %q", title)
	}
	return all[i].ID
}

// calls are what people and the program ask for in a shown world, with the id of the dentist's event.
func calls() map[string]func(w *world, id string) error {
	title := "Doctor"
	week := mirrors.Range{Start: at(thursday).Time.AddDate(0, 0, -3), End: at(thursday).Time.AddDate(0, 0, 4)}
	request := "request"
	return map[string]func(w *world, id string) error{
		"get": func(w *world, id string) error {
			_, err := w.events().Get(w.ctx, gm, id)
			return err
		},
		"list": func(w *world, _ string) error {
			_, err := w.events().List(w.ctx, gm, week, store.Paging{Limit: 9}, func(mirrors.Shown) (bool, error) { return true, nil })
			return err
		},
		"create": func(w *world, _ string) error {
			_, err := w.events().Create(w.ctx, gm, request, dentist(), cause)
			return err
		},
		"change": func(w *world, id string) error {
			_, err := w.events().Change(w.ctx, gm, id, mirrors.Change{Title: &title}, cause)
			return err
		},
		"delete": func(w *world, id string) error { return w.events().Delete(w.ctx, gm, id, nil, cause) },
		"plan by uid": func(w *world, _ string) error {
			return w.service.PlanUID(w.ctx, gm, w.canonical(work)[0].ICalUID, cause)
		},
		"plan":         func(w *world, _ string) error { return w.service.PlanEvent(w.ctx, "evt_session", cause) },
		"rewrite":      func(w *world, _ string) error { return w.service.Rewrite(w.ctx, gm, cause) },
		"policy":       func(w *world, _ string) error { _, err := w.policies.Create(w.ctx, gm, "Another"); return err },
		"remove stale": func(w *world, _ string) error { _, _, err := w.service.RemoveStale(w.ctx, "", 10, cause); return err },
		"plan one who left": func(w *world, _ string) error {
			w.members(ana)
			return w.service.PlanUID(w.ctx, gm, "evt_session", cause)
		},
		"end an account": func(w *world, _ string) error {
			account, err := accounts.Load(w.ctx, w.memory, work)
			w.must(err)
			return w.service.EndAccount(w.ctx, account, cause)
		},
		"end a connection": func(w *world, _ string) error {
			return w.service.EndConnection(w.ctx, mirror.Connection{GroupID: "party", AccountID: home, OwnerID: gm}, cause)
		},
		"restore kept copies": func(w *world, _ string) error {
			c := mirror.Connection{GroupID: "party", AccountID: home, OwnerID: gm}
			err := w.service.EndConnection(w.ctx, c, cause)
			if err == nil {
				_, err = w.service.RestoreKept(w.ctx, c)
			}
			return err
		},
		"edges": func(w *world, _ string) error {
			all, err := w.policies.List(w.ctx, gm)
			if err != nil {
				return err
			}
			edge := mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Busy, Target: mirror.PrimaryTarget}
			_, err = w.policies.SetEdges(w.ctx, gm, all[0].ID, []mirror.Edge{edge}, cause)
			return err
		},
	}
}

// A call that took a document that could not be read for one that is not there would delete
// what it shows.
func TestCalls_DocumentUnread_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	for name, call := range calls() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newShownWorld(t)
			id := w.idOf("Dentist")
			w.fallible().NoneUnread(t, 1, func() error { return call(w, id) })
		})
	}
}

func TestCalls_DocumentUnwritten_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	for name, call := range calls() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newShownWorld(t)
			id := w.idOf("Dentist")
			w.unwritable().NoneUnread(t, 0, func() error { return call(w, id) })
		})
	}
}

func TestOccurrences_DocumentUnread_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	title := "Surgeon"
	for name, call := range map[string]func(w *world, address string) error{
		"get": func(w *world, address string) error { _, err := w.events().Get(w.ctx, gm, address); return err },
		"change": func(w *world, address string) error {
			_, err := w.events().Change(w.ctx, gm, address, mirrors.Change{Title: &title}, cause)
			return err
		},
		"delete": func(w *world, address string) error { return w.events().Delete(w.ctx, gm, address, nil, cause) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			series, _ := w.weekly()
			w.fallible().NoneUnread(t, 1, func() error { return call(w, series.ID+"_20260312T090000Z") })
		})
	}
}

// What a read that fails interrupts is done later.
func TestFlows_ReadFails_AreDoneLater(t *testing.T) {
	t.Parallel()
	toOverlay := mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full, Target: mirror.Overlay}
	again := func(w *world, ask func() error) { // the person does, if it failed
		if err := ask(); err != nil {
			w.must(ask())
		}
		w.settle()
	}
	setEdge := func(w *world) {
		again(w, func() error {
			all, err := mirror.PoliciesOf(w.ctx, w.memory, gm)
			w.must(err)
			_, err = w.policies.SetEdges(w.ctx, gm, all[0].ID, []mirror.Edge{toOverlay}, cause)
			return err
		})
	}
	party := mirror.Connection{GroupID: "party", AccountID: home, OwnerID: gm}
	disconnected := func(w *world) {
		w.wantTitles(home, "Dentist")
		left, err := w.memory.Get(w.ctx, mirror.ConnectionPath(party.GroupID, party.AccountID))
		w.must(err)
		if left.Exists() {
			w.Errorf("the connection is left: %v", left.Data)
		}
	}
	weekly := func(w *world) { // with its second occurrence moved
		series := w.insert(work, "Weekly", thursday, "RRULE:FREQ=WEEKLY;COUNT=3")
		second, err := w.full.Instance(w.ctx, refTo(work), series.ID, at("2026-03-12T09:00:00Z"))
		w.must(err)
		w.turn(second, "Late", "2026-03-12T15:00:00Z")
		w.sync(work)
	}
	flows := map[string]struct {
		do    func(w *world)
		want  func(w *world)
		begin func(w *world)
	}{
		"one is made": {do: func(w *world) {
			w.insert(work, "Stand-up", thursday)
			w.sync(work)
		}, want: func(w *world) { w.wantTitles(home, "Dentist", "Session", "Stand-up") }},
		"one is deleted": {do: func(w *world) {
			_, err := w.full.DeleteQuietly(w.ctx, refTo(work), "event1", "")
			w.must(err)
			w.sync(work)
		}, want: func(w *world) { w.wantTitles(home, "Session") }},
		"one is in no listing any more": {do: func(w *world) {
			w.lose(work, "event1")
			w.sync(work)
		}, want: func(w *world) { w.wantTitles(home, "Session") }},
		"all are listed anew": {do: func(w *world) {
			w.relist(home)
			w.sync(home)
		}, want: func(w *world) { w.wantTitles(home, "Dentist", "Session") }},
		"to an overlay calendar": {do: setEdge, want: func(w *world) {
			w.wantTitles(home, "Session")
			if found := w.overlays(); len(found) != 1 || w.person().CalendarID != found[0].ID {
				w.Errorf("the overlay calendars are %+v, recorded is %+v", found, w.person())
			}
		}},
		"a series is made, with a moved occurrence": {do: weekly, want: func(w *world) {
			w.wantTitles(home, "Dentist", "Late", "Session", "Weekly")
		}},
		"an occurrence of a copy is deleted": {begin: func(w *world) { weekly(w); w.run(2 * time.Minute); w.sync(home) }, do: func(w *world) {
			third, err := w.full.Instance(w.ctx, refTo(home), w.copyAtHome("Weekly").ID, at("2026-03-19T09:00:00Z"))
			w.must(err)
			w.delete(third)
			w.sync(home)
		}, want: func(w *world) {
			w.wantTitles(home, "Dentist", "Late", "Session", "Weekly")
			third, err := w.full.Instance(w.ctx, refTo(home), w.copyAtHome("Weekly").ID, at("2026-03-19T09:00:00Z"))
			if err != nil || third.EventState == rules.Gone {
				w.Errorf("the third occurrence is %+v, %v", third, err)
			}
		}},
		"a stray is found": {do: func(w *world) {
			w.stray(1, "here")
			w.sync(home)
		}, want: func(w *world) { w.wantTitles(home, "Dentist", "Session") }},
		"a connection ends with a kept copy": {begin: func(w *world) {
			kept := w.mirrorOf("evt_session")
			kept.Generation++
			w.keep(kept)
		}, do: func(w *world) {
			again(w, func() error { return w.service.EndConnection(w.ctx, party, cause) })
		}, want: disconnected},
		"somebody leaves the group": {do: func(w *world) {
			w.members(ana)
			w.replan()
			w.drain()
			w.settle()
		}, want: disconnected},
		"a policy is deleted": {do: func(w *world) {
			again(w, func() error {
				all, err := mirror.PoliciesOf(w.ctx, w.memory, gm)
				w.must(err)
				return w.policies.Delete(w.ctx, gm, all[0].ID, cause)
			})
		}, want: func(w *world) {
			w.wantTitles(home, "Session")
			if left := w.canonical(work); len(left) > 0 {
				w.Errorf("known are %+v", left)
			}
		}},
		"the overlay calendar is deleted by its owner": {begin: func(w *world) {
			setEdge(w)
			w.run(2 * time.Minute)
		}, do: func(w *world) {
			w.deleteCalendar(w.person().CalendarID)
			w.insert(work, "Stand-up", thursday)
			w.sync(work)
		}, want: func(w *world) {
			w.wantTitles(home, "Session")
			if found := w.overlays(); len(found) != 0 || !w.person().Suppressed {
				w.Errorf("the overlay calendars are %+v, recorded is %+v", found, w.person())
			}
		}},
	}
	for name, flow := range flows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				w := newShownWorld(t)
				if flow.begin != nil {
					flow.begin(w)
				}
				p := w.fallible()
				p.FailAt(n)
				flow.do(w)
				w.run(30 * time.Minute)
				flow.want(w)
				for _, m := range w.mirrors() {
					if (m.State != mirror.Active && m.State != mirror.Suppressed) || !m.Due.IsZero() {
						t.Errorf("the mirror %s is %s, due %v: %s", m.CanonicalID, m.State, m.Due, m.LastError)
					}
				}
				if t.Failed() {
					t.Fatalf("that is with read %d failing", n)
				}
				if !p.Reached() {
					points.Struck(t, n-1, 9)
					return
				}
			}
		})
	}
}

// Whichever read fails while a page is applied, all that is on it is known in the end.
func TestSync_ReadOfAPageFails_AllIsKnown(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		account, day string
		known        func(w *world) int
	}{
		"of events":        {work, "2025-03-05T09:00:00Z", func(w *world) int { return len(w.canonical(work)) }}, // too old for mirrors
		"of their mirrors": {home, friday, func(w *world) int { return len(w.occupied(home)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				w := newMirroringWorld(t)
				for i := range 10 {
					w.insert(work, fmt.Sprint("Event ", i), row.day)
				}
				if row.account == home {
					w.sync(work)
				}
				w.relist(row.account)
				w.must(w.clock.Advance(2 * time.Second))
				w.requestSync(w.key(row.account))
				p := w.fallible()
				p.FailAt(n)
				_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(row.account))
				w.must(err)
				reached := p.Reached()
				p.FailAt(0)
				w.run(5 * time.Minute)
				if known := row.known(w); known != 10 {
					t.Errorf("with read %d failing %d are known", n, known)
				}
				if !reached {
					points.Struck(t, n-1, 3)
					return
				}
			}
		})
	}
}

func TestCreate_EventDeletedSince_SaysSo(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	request := w.newID()
	made, err := w.events().Create(w.ctx, gm, request, dentist(), cause)
	w.must(err)
	w.must(w.events().Delete(w.ctx, gm, made.ID, nil, cause))
	if again, err := w.events().Create(w.ctx, gm, request, dentist(), cause); !fault.Is(err, fault.NotFound) {
		t.Errorf("the same request again gives %+v, %v", again, err)
	}
}

func TestList_ListenerFails_EndsWithItsError(t *testing.T) {
	t.Parallel()
	w := newShownWorld(t)
	week := mirrors.Range{Start: at(thursday).Time.AddDate(0, 0, -3), End: at(thursday).Time.AddDate(0, 0, 4)}
	broken := errors.New("the connection broke")
	taken := 0
	_, err := w.events().List(context.Background(), gm, week, store.Paging{Limit: 9}, func(mirrors.Shown) (bool, error) {
		taken++
		return true, broken
	})
	if !errors.Is(err, broken) || taken != 1 {
		t.Errorf("%d events are passed, and the list ends with %v", taken, err)
	}
}

// What became of a mirror of somebody's is no reason to show them the journal of an event that
// was another's.
func TestJournal_OfADeletedEvent_IsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for mirrorID, shown := range map[string]bool{"": true, "mir_a": false} {
		id := "evt_gone" + mirrorID
		w.must(w.memory.Run(w.ctx, func(_ context.Context, tx store.Tx) error {
			return tx.Create(mirror.EntryPath(id, "jrn_a"), mirror.EncodeEntry(mirror.JournalEntry{
				ID: "jrn_a", EventID: id, OwnerID: gm, At: stageStart, Step: mirror.StepForgotten, MirrorID: mirrorID,
			}))
		}))
		_, err := w.events().Journal(w.ctx, gm, id, store.Paging{Limit: 9}, func(mirror.JournalEntry) (bool, error) { return true, nil })
		if (err == nil) != shown || !shown && !fault.Is(err, fault.NotFound) {
			t.Errorf("with an entry about the mirror %q: %v", mirrorID, err)
		}
	}
}

func TestChange_CalendarThatDoesNotAnswer_IsNotOneThatIsGone(t *testing.T) {
	t.Parallel()
	w := newShownWorld(t)
	id, title := w.idOf("Dentist"), "Doctor"
	w.must(w.google.Control().Plant(control.Rule{Match: "events.get", Status: 404, Times: 1}))
	w.must(w.google.Control().Plant(control.Rule{Match: "events.list", Status: 503}))
	if _, err := w.events().Change(w.ctx, gm, id, mirrors.Change{Title: &title}, cause); !fault.Is(err, fault.Unavailable) {
		t.Errorf("the change gives %v", err)
	}
}

func TestRewrite_OfOneWhoNeverMirrored_WritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.service.Rewrite(w.ctx, ana, cause))
	doc, err := w.memory.Get(w.ctx, mirror.PersonPath(ana))
	w.must(err)
	if doc.Exists() {
		t.Errorf("ana has the document %+v", doc.Data)
	}
}
