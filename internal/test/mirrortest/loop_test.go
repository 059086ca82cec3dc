package mirrortest_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/test/mirrortest"
)

var three = []string{"work", "home", "club"}

// everywhere are edges between all accounts, in both directions.
func everywhere() (edges []mirror.Edge) {
	for _, from := range three {
		for _, to := range three {
			if from != to {
				edges = append(edges, mirror.Edge{FromAccountID: from, ToAccountID: to, Detail: mirror.Full, Target: mirror.PrimaryTarget})
			}
		}
	}
	return edges
}

// pairs are, of each canonical event, the accounts that its mirrors are in.
func pairs(t *testing.T, w *mirrortest.World) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, account := range three {
		for _, m := range w.Mirrors(account) {
			if m.State != mirror.Active || m.Wanted != m.Written {
				t.Errorf("the mirror %s into %s is %s: %s", m.ID, account, m.State, m.LastError)
			}
			found[m.CanonicalID] = append(found[m.CanonicalID], account)
		}
	}
	return found
}

// A thousand events in three accounts, each of which mirrors to both others, have two mirrors
// each and no more, and nothing that is listed again leads to a write.
func TestSixEdges_ThousandEvents_NoLoop(t *testing.T) {
	t.Parallel()
	const events = 1000
	w := mirrortest.New(t, mirrortest.Options{})
	for i, account := range three {
		w.Link("gm", account)
		w.Insert(account, fmt.Sprint("meeting", i, "n"), events/3+min(1, i%2)) // 333, 334, 333
	}
	w.ResetCalls()
	w.Mirror("gm", everywhere()...)
	w.Run(time.Hour)
	for _, account := range three { // the pushes that the mirrors' own events caused
		w.Push(account, false)
	}
	w.Run(10 * time.Minute)

	found := pairs(t, w)
	for _, account := range three {
		for _, event := range w.Events(account) {
			others := slices.DeleteFunc(slices.Clone(three), func(a string) bool { return a == account })
			slices.Sort(others)
			if got := slices.Sorted(slices.Values(found[event.ID])); !slices.Equal(got, others) {
				t.Errorf("the event %s of %s is mirrored in %v", event.EventID, account, got)
			}
			if mirror.IsMirror(event.EventID) {
				t.Errorf("the mirror %s is an origin", event.EventID)
			}
		}
		if got := len(w.Shown(account)); got != events {
			t.Errorf("%s shows %d events, want %d", account, got, events)
		}
	}
	if len(found) != events {
		t.Errorf("%d events have mirrors, want %d", len(found), events)
	}
	calls := w.Calls()
	if calls["events.insert"] != 2*events || calls["events.patch"]+calls["events.update"]+calls["events.delete"] != 0 {
		t.Errorf("calls: %v, want %d inserts and no other write", calls, 2*events)
	}

	// Everything again: sync tokens expired, all listed, all planned, all reconciled.
	w.ResetCalls()
	for _, account := range three {
		w.Push(account, true)
	}
	w.Run(10 * time.Minute)
	listed := w.Documents.Reset()
	if err := w.Service.Rewrite(t.Context(), "gm", mirrortest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(10 * time.Minute)
	planned := w.Documents.Reset()
	if did := w.Reconcile(); did.Checked != 2*events || did.Corrected != 0 || did.Strays != 0 || did.Failed != 0 {
		t.Errorf("reconciled: %+v", did)
	}
	reconciled := w.Documents.Reset()
	read := maps.Clone(w.Calls())
	for _, method := range []string{"events.list", "calendarList.get", "events.get", "channels.watch"} {
		delete(read, method)
	}
	if len(read) != 0 {
		t.Errorf("the second run made calls: %v", read)
	}
	// Bookkeeping: each sync run claims its calendar, renews its lease for each of the further
	// pages, and ends; the planning notes its place for each 20 events or mirrors, and claims each of
	// its runs of 25 such steps.
	t.Logf("listed %+v, planned %+v, reconciled %+v, calls %v", listed, planned, reconciled, w.Calls())
	if pages := (events + 249) / 250; listed.Writes > len(three)*(2+pages) || listed.Deletes != 0 {
		t.Errorf("listing everything again cost %+v", listed)
	}
	if steps := (events + 2*events) / 20; planned.Writes > steps+steps/25+6 || planned.Deletes != 0 {
		t.Errorf("planning everything again cost %+v", planned)
	}
	if reconciled.Writes != 0 || reconciled.Deletes != 0 {
		t.Errorf("reconciling cost %+v", reconciled)
	}
}
