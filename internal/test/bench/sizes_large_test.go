package main

import (
	"io"
	"path/filepath"
	"testing"
)

func TestALargeFile_IsStoppedOnAndIndexed(t *testing.T) {
	t.Parallel()
	const calendars = 60
	path := filepath.Join(t.TempDir(), "60.db")
	if _, err := ofSize(t.Context(), path, calendars); err != nil {
		t.Fatal(err)
	}
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := stops(t.Context(), r, path, calendars*pollsOfACalendar); err != nil {
		t.Fatal(err)
	}
	if err := buildsIndex(t.Context(), r, path, calendars); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"of_600_polls_stop", "new_index_of_600_polls", "new_index_of_600_polls_requests_in_between",
		"new_index_of_600_polls_longest_read", "new_index_of_600_polls_longest_write",
	} {
		if r.known[name] <= 0 {
			t.Errorf("%s is %v", name, r.known[name])
		}
	}
}
