package cost_test

import (
	"testing"

	"questscheduler/internal/test/cost"
	"questscheduler/internal/test/storetest"
)

// The page of costs tells of a thousand polls by what one more of them adds.
func TestAMonth_GrowsByTheSameWithEachOfItsParts(t *testing.T) {
	t.Parallel()
	month, err := cost.CountMonth(t)
	if err != nil {
		t.Fatal(err)
	}
	got, err := cost.Quiet(t, []cost.Followed{{Owner: "gm", Polls: 1}, {Owner: "ana", Polls: 7}, {Owner: "ben", Polls: 3}, {Owner: "cho"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := month.Of(1, 3, 11); got != want {
		t.Errorf("it costs %+v, and its parts %+v: %+v", got, want, month)
	}
	if month.Poll.Writes != 0 || month.Poll.Deletes != 0 {
		t.Errorf("a poll that nobody touches is written: %+v", month.Poll)
	}
}

// Most polls of a large deployment are such.
func TestASweep_OfPollsLongPast_OnlyReads(t *testing.T) {
	t.Parallel()
	var reads [2]int
	for i, archived := range []bool{false, true} {
		got, err := cost.SweepOfPast(t, archived)
		if err != nil {
			t.Fatal(err)
		}
		if got.Reads == 0 || got.Writes != 0 || got.Deletes != 0 {
			t.Errorf("archived %v: a sweep costs %+v for each poll long past", archived, got)
		}
		reads[i] = got.Reads
	}
	if reads[1] >= reads[0] || reads[0] > reads[1]+3 { // the poll, the entry that its event lacks, its slot
		t.Errorf("a sweep reads %d documents for each poll long past, and %d for an archived one", reads[0], reads[1])
	}
}

// On SQLite each transaction that writes waits for the disk, on Firestore for the network.
func TestFlow_TakesNoMoreTransactionsThanItHasTo(t *testing.T) {
	t.Parallel()
	for _, f := range cost.Flows {
		if f.Commits == 0 {
			continue
		}
		got, err := f.Count(t, cost.Place{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d transactions, of which %d write", f.Name, len(got.Runs), got.Commits())
		if got.Commits() != f.Commits {
			t.Errorf("%s takes %d transactions that write, want %d: %+v", f.Name, got.Commits(), f.Commits, got.Runs)
		}
	}
}

func TestFlows_CostLittleMoreThanTheLeastPossible(t *testing.T) {
	t.Parallel()
	bounded := 0
	for _, f := range cost.Flows {
		if f.Least == (storetest.Cost{}) {
			continue
		}
		bounded++
		got, err := f.Count(t, cost.Place{})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Total.Within(f.Allowed()) || !f.Least.Within(got.Total) {
			t.Errorf("%s costs %+v, want %+v at least and %+v at most", f.Name, got.Total, f.Least, f.Allowed())
		}
	}
	if bounded == 0 {
		t.Error("no flow is bounded")
	}
}

// What one change of a linked event costs, as the one transaction that applies
// it, and what one that is of no poll.
func TestSyncRun_CostsNoMoreThanItHasTo(t *testing.T) {
	t.Parallel()
	for _, f := range cost.Flows {
		if f.Most == (storetest.Cost{}) {
			continue
		}
		got, err := f.Count(t, cost.Place{})
		if err != nil {
			t.Fatal(err)
		}
		if transition, ok := f.Transition(got.Runs); !ok {
			t.Errorf("%s takes the transactions %+v", f.Name, got.Runs)
		} else if !transition.Within(f.Most) {
			t.Errorf("%s costs %+v, want %+v at most", f.Name, transition, f.Most)
		}
	}
	var syncs []storetest.Cost
	for _, name := range []string{cost.UnrelatedChange, cost.UnrelatedChanges} {
		got, err := cost.Named(name).Count(t, cost.Place{})
		if err != nil {
			t.Fatal(err)
		}
		syncs = append(syncs, got.Total)
	}
	if syncs[0] != syncs[1] {
		t.Errorf("a sync run costs %+v with one unrelated change, %+v with %d", syncs[0], syncs[1], cost.ManyChanges)
	}
}
