package mirrors_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
)

func TestPolicies_CreatedAndSet_AreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := w.mirrorWork(mirror.Edge{FromAccountID: work, FromCalendarID: workMail, ToAccountID: home, Detail: mirror.Busy})
	want := mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Busy, Target: mirror.Overlay}
	if len(policy.Edges) != 1 || policy.Edges[0] != want || policy.Version != 2 {
		t.Errorf("stored as %+v", policy)
	}
	all, err := w.policies.List(w.ctx, gm)
	w.must(err)
	if len(all) != 1 || fmt.Sprint(all[0]) != fmt.Sprint(policy) {
		t.Errorf("listed as %+v", all)
	}
	if _, err := w.policies.Get(w.ctx, ana, policy.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("ana reads it: %v", err)
	}
	if _, err := w.policies.SetEdges(w.ctx, ana, policy.ID, nil, cause); !fault.Is(err, fault.NotFound) {
		t.Errorf("ana sets it: %v", err)
	}
	if all, err := w.policies.List(w.ctx, ana); err != nil || len(all) > 0 {
		t.Errorf("ana lists %+v, %v", all, err)
	}
}

func TestCreate_BadName_IsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"", " ", strings.Repeat("ä", 101), "Work\nhome", "Work\u202eemoh"} {
		if _, err := w.policies.Create(w.ctx, gm, name); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for range mirrors.MaxPolicies {
		_, err := w.policies.Create(w.ctx, gm, strings.Repeat("ä", 100))
		w.must(err)
	}
	if _, err := w.policies.Create(w.ctx, gm, "one more"); fault.CodeOf(err) != mirrors.CodeTooMany {
		t.Errorf("one more: %v", err)
	}
}

// Each row has a fault of its own, and nothing is written.
func TestSetEdges_AFault_IsNamedAndNothingWritten(t *testing.T) {
	t.Parallel()
	good := mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Busy, Target: mirror.Overlay}
	change := func(do func(e *mirror.Edge)) []mirror.Edge {
		edge := good
		do(&edge)
		return []mirror.Edge{edge}
	}
	for name, c := range map[string]struct {
		edges []mirror.Edge
		kind  fault.Kind
		code  string
	}{
		"from another person's account": {change(func(e *mirror.Edge) { e.FromAccountID = annes }), fault.NotFound, plan.CodeUnknownAccount},
		"to another person's account":   {change(func(e *mirror.Edge) { e.ToAccountID = annes }), fault.NotFound, plan.CodeUnknownAccount},
		"to itself":                     {change(func(e *mirror.Edge) { e.ToAccountID = work }), fault.Invalid, plan.CodeEdgeToItself},
		"without a detail":              {change(func(e *mirror.Edge) { e.Detail = "" }), fault.Invalid, plan.CodeBadEdge},
		"given twice":                   {[]mirror.Edge{good, good}, fault.Invalid, plan.CodeDuplicateEdge},
		"twice, by the primary's id": {
			[]mirror.Edge{good, {FromAccountID: work, FromCalendarID: workMail, ToAccountID: home, Detail: mirror.Full}},
			fault.Conflict, plan.CodeContradiction,
		},
		"against another policy": {
			[]mirror.Edge{{FromAccountID: home, ToAccountID: work, Detail: mirror.Full, Target: mirror.PrimaryTarget}},
			fault.Conflict, plan.CodeContradiction,
		},
		"from a calendar that is not known": {
			change(func(e *mirror.Edge) { e.FromCalendarID = "x@example.test" }), fault.Invalid, mirrors.CodeUnknownCalendar,
		},
		"from an overlay calendar": {
			change(func(e *mirror.Edge) { e.FromCalendarID = "overlay" }), fault.Invalid, mirrors.CodeOverlaySource,
		},
		"to a revoked account": {
			change(func(e *mirror.Edge) { e.ToAccountID = club }), fault.Revoked, accounts.CodeTokenExpired,
		},
		"without the scope for an overlay": {
			[]mirror.Edge{{FromAccountID: work, ToAccountID: "acc_narrow", Detail: mirror.Busy}}, fault.Invalid, accounts.CodeScopesInsufficient,
		},
		"too many": {make([]mirror.Edge, mirrors.MaxEdges+1), fault.Invalid, mirrors.CodeTooMany},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mirrorWork(mirror.Edge{FromAccountID: home, ToAccountID: work, Detail: mirror.Busy, Target: mirror.PrimaryTarget})
			policy, err := w.policies.Create(w.ctx, gm, "Another")
			w.must(err)
			w.account(club, accounts.Revoked)
			w.account("acc_narrow", accounts.Active)
			w.set(mirror.PersonPath(gm), mirror.WriteOverlay(gm, work, mirror.OverlayCalendar{CalendarID: "overlay", Generation: 1}, stageStart)...)
			w.counter.Reset()
			_, err = w.policies.SetEdges(w.ctx, gm, policy.ID, c.edges, cause)
			if !fault.Is(err, c.kind) || fault.CodeOf(err) != c.code {
				t.Errorf("%v, kind %s, code %s", err, fault.KindOf(err), fault.CodeOf(err))
			}
			if cost := w.counter.Reset(); cost.Writes+cost.Deletes > 0 {
				t.Errorf("it wrote %+v", cost)
			}
		})
	}
}

func TestSetEdges_TheCalendarsConcerned_AreFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.set(accounts.Path(work), store.Set("calendarIds", []string{"project"}))
	policy := w.mirrorWork(mirror.Edge{FromAccountID: work, FromCalendarID: "project", ToAccountID: home, Detail: mirror.Busy})
	w.wantFollowed("acc_home/home@example.test", "acc_work/project")
	_, err := w.policies.SetEdges(w.ctx, gm, policy.ID, []mirror.Edge{{FromAccountID: home, ToAccountID: work, Detail: mirror.Busy}}, cause)
	w.must(err)
	w.wantFollowed("acc_home/home@example.test", "acc_work/work@example.test")
	_, err = w.policies.SetEdges(w.ctx, gm, policy.ID, nil, cause)
	w.must(err)
	w.wantFollowed()
}

func (w *world) wantFollowed(want ...string) {
	w.Helper()
	all, err := calendars.OfOwner(w.ctx, w.memory, gm)
	w.must(err)
	followed := map[string]bool{}
	for _, c := range all {
		if c.Interests[mirror.Consumer] > 0 {
			followed[c.AccountID+"/"+c.CalendarID] = true
		}
	}
	for _, name := range want {
		if !followed[name] {
			w.Errorf("%s is not followed", name)
		}
	}
	if len(followed) != len(want) {
		w.Errorf("followed are %v, want %v", followed, want)
	}
}

func TestSetEdges_WithoutEdges_RemovesMirrorsAndWhatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 50 {
		w.insert(work, fmt.Sprint("Event ", i), thursday)
	}
	policy := w.mirrorWork()
	w.run(2 * time.Minute)
	if shown := w.titles(home); len(shown) != 50 {
		t.Fatalf("home shows %d\n%s", len(shown), w.log.String())
	}
	_, err := w.policies.SetEdges(w.ctx, gm, policy.ID, nil, cause)
	w.must(err)
	w.settle()
	w.wantTitles(home)
	if known := len(w.canonical(work)) + len(w.canonical(home)); known+len(w.mirrors()) > 0 {
		t.Errorf("%d events are still known, and %d mirrors", known, len(w.mirrors()))
	}
}

func TestSetEdges_AgainDuringPlanning_PlansWithTheLatest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.insert(work, "Stand-up", thursday)
	policy := w.mirrorWork()
	w.settle()
	for _, detail := range []mirror.Detail{mirror.Busy, mirror.Title, mirror.Busy} {
		_, err := w.policies.SetEdges(w.ctx, gm, policy.ID,
			[]mirror.Edge{{FromAccountID: work, ToAccountID: home, Detail: detail, Target: mirror.PrimaryTarget}}, cause)
		w.must(err)
	}
	w.settle()
	if m := w.only(); m.Detail != mirror.Busy || m.State != mirror.Active {
		t.Errorf("the mirror is %+v", m)
	}
	if title := w.atHome().Details.Summary; strings.Contains(title, "Stand-up") {
		t.Errorf("home shows %q", title)
	}
}

func TestSetEdges_CalendarMadeAfterLinking_IsFoundByOneListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.google.AddCalendar(google.Calendar{ID: "made", Summary: "Made later", Owner: work}))
	policy := w.mirrorWork(
		mirror.Edge{FromAccountID: work, FromCalendarID: "made", ToAccountID: home, Detail: mirror.Busy},
		mirror.Edge{FromAccountID: work, ToAccountID: home, Detail: mirror.Full},
	)
	w.wantFollowed("acc_home/home@example.test", "acc_work/made", "acc_work/work@example.test")
	set := func(calendarID string) error {
		_, err := w.policies.SetEdges(
			w.ctx, gm, policy.ID,
			[]mirror.Edge{{FromAccountID: work, FromCalendarID: calendarID, ToAccountID: home, Detail: mirror.Busy}}, cause,
		)
		return err
	}
	for range 3 {
		if err := set("none"); fault.CodeOf(err) != mirrors.CodeUnknownCalendar {
			t.Errorf("a calendar that does not exist: %v", err)
		}
	}
	if calls := w.google.Control().Calls()["calendarList.list"]; calls != 1 {
		t.Errorf("%d listings", calls)
	}
	w.must(w.clock.Advance(calendarsync.LookupEvery))
	w.must(w.google.Control().Plant(control.Rule{Match: "calendarList.list", Status: 503}))
	if err := set("none"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("while Google does not answer: %v", err)
	}
	w.must(set("made"))
}

// However a person names an account's primary calendar, its edge is the same.
func TestSetEdges_ThePrimaryByAnyName_IsStoredAsIt(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]string{"primary": workMail, workMail: workMail, "Work@Example.test": "", "main": "main"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.set(accounts.Path(work), store.Set("primaryCalendarId", known))
			policy := w.mirrorWork(mirror.Edge{FromAccountID: work, FromCalendarID: name, ToAccountID: home, Detail: mirror.Busy})
			if from := policy.Edges[0].FromCalendarID; from != "" {
				t.Errorf("it leads from %q", from)
			}
		})
	}
}

// What is refused for its size costs nobody's Google a call.
func TestSetEdges_TooMany_ListsNoCalendars(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy, err := w.policies.Create(w.ctx, gm, "Many")
	w.must(err)
	for extra, listings := range map[int]int{0: 1, 1: 0} {
		calls := 0
		w.policies.FindCalendars = func(context.Context, string, string, ...string) error { calls++; return nil }
		edges := slices.Repeat([]mirror.Edge{{FromAccountID: work, ToAccountID: home, Detail: mirror.Busy}}, mirrors.MaxEdges+extra)
		if _, err := w.policies.SetEdges(w.ctx, gm, policy.ID, edges, cause); !fault.Is(err, fault.Invalid) || calls != listings {
			t.Errorf("with %d edges: %d listings, %v", len(edges), calls, err)
		}
	}
}
