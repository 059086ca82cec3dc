package mirrortest_test

import (
	"testing"

	"questscheduler/internal/test/mirrortest"
	"questscheduler/internal/test/storetest"
)

// What mirroring may cost at most. A figure above these is a query too many; another number of calls means
// that something else was done.
func TestFlows_CostNoMoreThanTheyHaveTo(t *testing.T) {
	t.Parallel()
	most := map[string]mirrortest.Counted{
		mirrortest.MirroredChange: {Cost: storetest.Cost{Reads: 14, Writes: 8}, Calls: 2},
		mirrortest.EchoOfChange:   {Cost: storetest.Cost{Reads: 6, Writes: 3}, Calls: 1}, // one write is what it occupies
		// For the writing of each mirror: the mirror, the event and the account, and the mirror once more.
		mirrortest.FirstListing: {Cost: storetest.Cost{Reads: 4_400, Writes: 7_050}, Calls: 1005},
		mirrortest.Relisting:    {Cost: storetest.Cost{Reads: 1_010, Writes: 2}, Calls: 4}, // each event once
		mirrortest.Availability: {Cost: storetest.Cost{Reads: 123, Writes: 2}},
	}
	for _, f := range mirrortest.Flows {
		got := f.Count(t)
		t.Logf("%s: %+v", f.Name, got)
		if want, ok := most[f.Name]; ok && (!got.Cost.Within(want.Cost) || got.Calls != want.Calls) {
			t.Errorf("%s costs %+v, want %+v at most", f.Name, got, want)
		}
	}
}
