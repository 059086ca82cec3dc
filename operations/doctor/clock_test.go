package doctor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/config"
	"questscheduler/operations/health"
	"questscheduler/web-hooks/documentchanges"
	"questscheduler/web-hooks/timers"
)

// Each row is the record of an hourly job and what doctor says of it at noon.
func TestLateness(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	for name, row := range map[string]struct {
		record timers.Record
		says   string
	}{
		"in time":          {timers.Record{StartedAt: ago(time.Hour), SucceededAt: ago(time.Hour)}, ""},
		"one is under way": {timers.Record{StartedAt: ago(time.Minute), SucceededAt: ago(time.Hour)}, ""},
		"one failed": {
			timers.Record{StartedAt: ago(time.Minute), SucceededAt: ago(time.Hour), Failure: "unavailable", FailedAt: ago(0)}, "",
		},
		"none": {timers.Record{}, "hourly never ran"},
		"none for long": {
			timers.Record{StartedAt: ago(3 * time.Hour), SucceededAt: ago(3 * time.Hour)},
			"hourly last ran at 2026-03-01 09:00 UTC, and is to come every 1h0m0s; ask Cloud Scheduler",
		},
		"each fails": {
			timers.Record{StartedAt: ago(0), SucceededAt: ago(5 * time.Hour), Failure: "unavailable", FailedAt: ago(0)},
			"hourly last began at 2026-03-01 12:00 UTC, and failed (unavailable) at 2026-03-01 12:00 UTC, and the last that came to " +
				"its end did so at 2026-03-01 07:00 UTC; the server's log",
		},
		"none was ever at end": {timers.Record{StartedAt: ago(0)}, "hourly last began at 2026-03-01 12:00 UTC, and none came to its end yet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if said := lateness(health.JudgeJob(
				timers.Job{Name: "hourly", Every: time.Hour}, row.record, noon, 0,
			)); !strings.HasPrefix(said, row.says) || said != "" && row.says == "" {
				t.Errorf("it says %q", said)
			}
		})
	}
}

// Each row is a configuration and its further jobs: one that doctor does not look up would
// never be missed.
func TestDoctor_Jobs_AreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		config config.Config
		want   []string
	}{
		"polls and mirrors": {config.Config{Sync: config.SyncOn}, []string{timers.ReconcileMirrors}},
		"second addresses": {
			config.Config{Sync: config.SyncOn, AttendeesCSV: "people.csv"}, []string{timers.ReconcileMirrors, timers.RefreshMappings},
		},
		"no sync": {config.Config{Sync: config.SyncOff, AttendeesCSV: "people.csv"}, nil},
	} {
		var got []string
		for _, job := range (Doctor{Config: row.config}).jobs() {
			got = append(got, job.Name)
		}
		always := []string{timers.RenewWatches, timers.PollFallback, timers.PlanUpcoming, timers.Cleanup}
		want := slices.Concat(always, row.want, []string{timers.Health})
		if !slices.Equal(got, want) {
			t.Errorf("%s: it looks up %q, want %q", name, got, want)
		}
	}
}

// Each row is the configured source of document changes and what is stored of them.
func TestDoctor_DocumentChanges_ChecksTheirSource(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, row := range map[string]struct {
		from    string
		heard   documentchanges.Activity
		verdict string
	}{
		"an instance that listens":   {config.ChangesListen, documentchanges.Activity{ListensUntil: noon.Add(time.Minute)}, fine},
		"an instance that is gone":   {config.ChangesListen, documentchanges.Activity{ListensUntil: noon.Add(-time.Minute)}, warning},
		"an instance that never was": {config.ChangesListen, documentchanges.Activity{ChangedAt: noon}, warning},
		"Eventarc":                   {config.ChangesOff, documentchanges.Activity{ChangedAt: noon.Add(-time.Hour)}, fine},
		"Eventarc, none delivered":   {config.ChangesOff, documentchanges.Activity{ListensUntil: noon.Add(time.Minute)}, warning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Doctor{Config: config.Config{DocumentChanges: row.from}, Now: func() time.Time { return noon }}
			if found := d.checkDocumentChanges(row.heard); found.verdict != row.verdict {
				t.Errorf("it says %+v", found)
			}
		})
	}
}
