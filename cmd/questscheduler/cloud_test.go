package main

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"questscheduler/internal/test/emulator"
)

// onCloud are settings as in production: documents in Firestore, tasks in Cloud Tasks,
// users who sign in with Firebase; each part is an emulator.
func onCloud(t *testing.T) []string {
	t.Helper()
	queues := emulator.CloudTasks(t, kinds...)
	return slices.Concat(onFirestore(t), onAuthEmulator, []string{
		"QS_QUEUE=cloudtasks", "QS_CLOUDTASKS_QUEUE=" + queues.Prefix, "QS_CLOUDTASKS_ENDPOINT=" + queues.Host,
		"QS_TASKS_SERVICE_ACCOUNT=tasks@party.example", "QS_MACHINE_ISSUER=" + queues.Issuer,
	})
}

// onVariable selects what the demos of these tests run on: "cloud" is onCloud, as in
// `make test-cloud`; otherwise the embedded store and queue.
const onVariable = "QUESTSCHEDULER_TESTS_ON"

// place is what the demos of a folder run on: extra settings and the address. Cloud
// Tasks delivers to the address that a task was handed over with, so on the cloud it
// stays the same.
type place struct {
	addr     string
	settings []string
	locks    *locks // on the cloud, once a demo runs there that can be killed
}

// places are those of this process by folder, so that a restarted demo finds its data.
var places sync.Map

// placeOf is what onVariable selects for the demos of a folder, if the test names no
// store or address.
func placeOf(t *testing.T, dir string, own []string) *place {
	t.Helper()
	for _, setting := range own {
		if addr, is := strings.CutPrefix(setting, "QS_ADDR="); is {
			return &place{addr: addr}
		}
	}
	if os.Getenv(onVariable) != "cloud" ||
		slices.ContainsFunc(own, func(setting string) bool { return strings.HasPrefix(setting, "QS_STORE=") }) {
		return &place{addr: "127.0.0.1:0"}
	}
	if kept, ok := places.Load(dir); ok {
		return kept.(*place)
	}
	first := &place{addr: freeAddress(t), settings: onCloud(t)}
	places.Store(dir, first)
	return first
}

// mortal are the settings of a demo that a test kills: on the cloud, it reaches
// Firestore through a proxy that frees its locks afterwards.
func (p *place) mortal(t *testing.T) []string {
	t.Helper()
	if len(p.settings) == 0 {
		return nil
	}
	if p.locks == nil {
		var endpoint string
		p.locks, endpoint = newLocks(t, of(p.settings, "QS_FIRESTORE_ENDPOINT"), of(p.settings, "QS_FIRESTORE_PROJECT"))
		p.settings = append(p.settings, "QS_FIRESTORE_ENDPOINT="+endpoint)
	}
	return p.settings
}

// of is the value of a setting in a list; the last one counts.
func of(settings []string, name string) (value string) {
	for _, setting := range settings {
		if is, found := strings.CutPrefix(setting, name+"="); found {
			value = is
		}
	}
	return value
}

func TestMainJob_OnCloud(t *testing.T) {
	t.Parallel()
	environ := onCloud(t)
	job := newMainJob(&outside{t, startDemo(t, t.TempDir(), environ...)})
	walk(t, job)
	beside := settings(t.TempDir(), append(environ, "QS_PUBLIC_URL=http://127.0.0.1:1")...)
	run(t, beside, "explain", job.pollID, "--replay").want(t, exitOK, "agrees: the journal gives back the stored poll")
	run(t, beside, "doctor").want(t, exitFailed, "warning  queue           an emulator stands in for Cloud Tasks",
		"warning  sign-in         unsigned tokens", "wrong    machines        nobody may start the timers' jobs")
	run(t, append(beside, "QS_MACHINE_ACCOUNTS=clock@party.example", "QS_CLOUDTASKS_QUEUE=projects/p/locations/l/queues/none"), "doctor").
		want(
			t, exitFailed, "wrong    queue           Cloud Tasks: list the tasks of projects/p/locations/l/queues/none-",
			"ok       machines        1 may start",
		)
}
