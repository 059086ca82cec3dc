package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/config"
	"questscheduler/internal/test/tokentest"
	"questscheduler/operations/health"
	"questscheduler/web-hooks/documentchanges"
	"questscheduler/web-hooks/timers"
)

// clockOfGoogle is a doctor of a deployment whose jobs and document changes come from
// Google, with its documents in a file in dir, at a time.
func clockOfGoogle(dir string, at time.Time) doctor {
	cfg := config.Default()
	cfg.SQLitePath, cfg.Queue = filepath.Join(dir, demoStore), config.QueueCloudTasks
	d := newDoctor(cfg, nil)
	d.Now = func() time.Time { return at }
	return d
}

// clockLines are the lines of what comes by the clock and of document changes.
func clockLines(t *testing.T, d doctor) string {
	t.Helper()
	var all, of strings.Builder
	_ = d.Report(t.Context(), &all) // an error counts what other lines say
	for line := range strings.Lines(all.String()) {
		if what := strings.Fields(line)[1]; what == "timers" || what == "hints" {
			of.WriteString(line)
		}
	}
	return of.String()
}

func TestDoctor_OfADeployment_NamesJobsThatDoNotCome(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Now()
	if said := clockLines(t, clockOfGoogle(dir, now)); said != "" {
		t.Errorf("before there are documents it says\n%s", said)
	}
	run(t, settings(dir), "sweep", "drain").want(t, exitOK)
	said := clockLines(t, clockOfGoogle(dir, now))
	for _, want := range []string{
		`warning  timers          renew-watches never ran`, `warning  timers          poll-fallback never ran`,
		`warning  timers          cleanup never ran`, `warning  timers          health never ran`,
		"gcloud scheduler jobs describe questscheduler-cleanup", `warning  hints           Eventarc never delivered a document change`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q but\n%s", want, said)
		}
	}
	run(t, settings(dir), "sweep", "cleanup").want(t, exitOK)
	if said := clockLines(t, clockOfGoogle(dir, time.Now())); strings.Contains(said, "cleanup") {
		t.Errorf("of a job that just ran it says\n%s", said)
	}
	if said := clockLines(t, clockOfGoogle(dir, now.Add(72*time.Hour))); !strings.Contains(said,
		`warning  timers          cleanup last ran at `+now.UTC().Format("2006-01-02")) {
		t.Errorf("three days later it prints\n%s", said)
	}
	own := clockOfGoogle(dir, now)
	own.Config.Queue = config.QueueEmbedded
	if said := clockLines(t, own); said != "" {
		t.Errorf("of a server that keeps the time itself it says\n%s", said)
	}
}

// TestDoctor_AfterADocumentChange_SaysWhenItCame: the line reports what Eventarc
// delivers to the route.
func TestDoctor_AfterADocumentChange_SaysWhenItCame(t *testing.T) {
	t.Parallel()
	dir, issuer := t.TempDir(), tokentest.NewIssuer(t)
	const machine, audience = "hints@party.iam.gserviceaccount.com", "https://tasks.party.example"
	s := serve(t, settings(dir, "QS_SYNC=on", "QS_PUBLIC_URL=https://quests.example.org",
		"QS_MACHINE_ISSUER="+issuer.URL, "QS_MACHINE_ACCOUNTS="+machine, "QS_TASKS_AUDIENCE="+audience))
	o := &outside{t, demoReady{API: s.url}}
	o.do("POST", s.url+"/webhooks/documents", "Bearer "+issuer.Sign(tokentest.Machine(issuer.URL, machine, audience, time.Now())), nil,
		"Ce-Specversion", "1.0", "Ce-Type", "google.cloud.firestore.document.v1.written", "Ce-Subject",
		"documents/schedulers/poll").want(t, http.StatusAccepted)
	if said := clockLines(t, clockOfGoogle(dir, time.Now())); !strings.Contains(said,
		`ok       hints           Eventarc last delivered a document change at 20`) {
		t.Errorf("it says\n%s", said)
	}
}

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
			d := clockOfGoogle("", noon)
			d.Config.DocumentChanges = row.from
			if found := d.checkDocumentChanges(row.heard); found.verdict != row.verdict {
				t.Errorf("it says %+v", found)
			}
		})
	}
}
