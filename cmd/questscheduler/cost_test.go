package main

import (
	"slices"
	"testing"

	"questscheduler/internal/test/cost"
	"questscheduler/web-hooks/timers"
)

// The cost page counts the jobs of a server and the rows of its cleanup.
func TestTimers_AreThoseWhoseCostIsCounted(t *testing.T) {
	t.Parallel()
	s := openTestServer(t)
	t.Cleanup(func() {
		if err := s.closeStores(); err != nil {
			t.Error(err)
		}
	})
	counted := cost.New(t, cost.Place{}).Timers
	if got, want := jobNames(s.timers), jobNames(counted); !slices.Equal(got, want) {
		t.Errorf("the jobs are %v, and the page counts %v", got, want)
	}
	if got, want := cleaned(t, s.timers), cleaned(t, counted); !slices.Equal(got, want) {
		t.Errorf("the rows of the cleanup are %v, and the page counts %v", got, want)
	}
}

func jobNames(t *timers.Timers) (names []string) {
	for _, job := range t.Jobs {
		names = append(names, job.Name)
	}
	return names
}

func cleaned(t *testing.T, of *timers.Timers) (rows []string) {
	t.Helper()
	did, err := of.RunNow(t.Context(), timers.Cleanup, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range did {
		rows = append(rows, row.What)
	}
	return rows
}
