package main

import (
	"slices"
	"strings"
	"testing"

	"questscheduler/attendees"
	"questscheduler/web-hooks/timers"
)

// Without a sheet or file, second addresses have no job, no work and no consumer; with one
// they have each. The cleanup releases what they followed before they were switched off.
func TestAttendees_SwitchedOff_RegisterNothing(t *testing.T) {
	t.Parallel()
	for on, more := range map[bool][]string{false: nil, true: {"QS_ATTENDEES_CSV=users.csv", "QS_ATTENDEES_DOMAINS=north.example"}} {
		p := openTestServer(t, append([]string{"QS_PUBLIC_URL=https://quests.example.org", "QS_SYNC=on"}, more...)...)
		job := slices.ContainsFunc(p.timers.Jobs, func(job timers.Job) bool { return job.Name == timers.RefreshMappings })
		handled := slices.Contains(p.outbox.Kinds(), attendees.Kind)
		ours := func(what string) bool { return strings.Contains(what, "second addresses") }
		drained := slices.ContainsFunc(counted(t, p, timers.Drain), ours)
		cleaned := counted(t, p, timers.Cleanup)
		released := slices.ContainsFunc(cleaned, func(what string) bool { return strings.HasPrefix(what, "what followed calendars") })
		for what, is := range map[string]bool{
			"a job": job, "a kind of work": handled, "a queue": slices.Contains(kindsOf(p.config), attendees.Kind),
			"a part of the drain": drained, "no release": !released,
		} {
			if is != on {
				t.Errorf("switched on is %t, and there is %s: %t", on, what, is)
			}
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
}

// counted names what a run of a job counts.
func counted(t *testing.T, p *program, job string) (all []string) {
	t.Helper()
	did, err := p.timers.RunNow(t.Context(), job, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range did {
		all = append(all, count.What)
	}
	return all
}
