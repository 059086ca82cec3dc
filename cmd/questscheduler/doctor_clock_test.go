package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/demo"
	"questscheduler/internal/config"
	"questscheduler/internal/test/tokentest"
	"questscheduler/operations/doctor"
)

// clockOfGoogle is a doctor of a deployment whose jobs and document changes come from
// Google, with its documents in a file in dir, at a time.
func clockOfGoogle(dir string, at time.Time) doctor.Doctor {
	cfg := config.Default()
	cfg.SQLitePath, cfg.Queue = filepath.Join(dir, demo.StoreFile), config.QueueCloudTasks
	d := newDoctor(cfg, nil)
	d.Now = func() time.Time { return at }
	return d
}

// clockLines are the lines of what comes by the clock and of document changes.
func clockLines(t *testing.T, d doctor.Doctor) string {
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
	o := &outside{t, demo.Ready{API: s.url}}
	o.do("POST", s.url+"/webhooks/documents", "Bearer "+issuer.Sign(tokentest.Machine(issuer.URL, machine, audience, time.Now())), nil,
		"Ce-Specversion", "1.0", "Ce-Type", "google.cloud.firestore.document.v1.written", "Ce-Subject",
		"documents/schedulers/poll").want(t, http.StatusAccepted)
	if said := clockLines(t, clockOfGoogle(dir, time.Now())); !strings.Contains(said,
		`ok       hints           Eventarc last delivered a document change at 20`) {
		t.Errorf("it says\n%s", said)
	}
}
