package main

import (
	"path/filepath"
	"testing"

	"questscheduler/demo"
	"questscheduler/internal/test/emulator"
)

// onFirestore are settings that keep the documents in a project of the emulator.
func onFirestore(t *testing.T) []string {
	t.Helper()
	host, project := emulator.Project(t)
	return []string{"QS_STORE=firestore", "QS_FIRESTORE_ENDPOINT=" + host, "QS_FIRESTORE_PROJECT=" + project}
}

// TestMainJob_OnFirestore runs the main job with the documents in Firestore, and the
// operator's commands beside it.
func TestMainJob_OnFirestore(t *testing.T) {
	t.Parallel()
	environ, dir := onFirestore(t), t.TempDir()
	job := newMainJob(&outside{t, startDemo(t, dir, environ...)})
	walk(t, job)

	beside := append(environ, "QS_SQLITE_PATH="+filepath.Join(dir, demo.StoreFile))
	run(t, beside, "explain", job.pollID, "--replay").want(t, exitOK, "agrees: the journal gives back the stored poll")
	run(t, beside, "backup", filepath.Join(t.TempDir(), "copy.db")).want(t, exitUsage, "gcloud firestore export")
	run(t, settings(dir, environ...), "doctor").want(t, exitOK,
		"warning  store           an emulator stands in for Firestore", "ok       work            ")
	run(t, settings(t.TempDir(), environ...), "sweep", "drain").want(t, exitOK, "HANDED OVER")
}

// TestDemo_OnFirestore_GoesOnAfterARestart: the documents survive the process, as in a
// file.
func TestDemo_OnFirestore_GoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	environ, dir := onFirestore(t), t.TempDir()
	var linked string
	for range 2 {
		t.Run("run", func(t *testing.T) {
			world := &outside{t, startDemo(t, dir, environ...)}
			if linked == "" {
				linked = world.ready.Polls["linked"]
			}
			poll, err := world.poll(linked)
			if err != nil || poll["status"] != "FINALIZED" {
				t.Errorf("%v, %v", poll, err)
			}
		})
	}
}

func TestFirestore_WhatCannotBeUsed_IsSaid(t *testing.T) {
	t.Parallel()
	chosen := []string{"QS_STORE=firestore", "QS_FIRESTORE_PROJECT=p"}
	for name, row := range map[string]struct {
		more []string
		args []string
		code int
		says []string
	}{
		"an emulator by the variable of Google's own clients": {
			[]string{"FIRESTORE_EMULATOR_HOST=127.0.0.1:1"}, []string{"serve"}, exitUsage,
			[]string{"FIRESTORE_EMULATOR_HOST is set", "QS_FIRESTORE_ENDPOINT"},
		},
		"that variable, and a poll to explain": {
			[]string{"FIRESTORE_EMULATOR_HOST=127.0.0.1:1"}, []string{"explain", "x"}, exitUsage, []string{"FIRESTORE_EMULATOR_HOST is set"},
		},
		"that variable, with doctor": {
			[]string{"FIRESTORE_EMULATOR_HOST=127.0.0.1:1"}, []string{"doctor"}, exitFailed,
			[]string{"wrong    settings        FIRESTORE_EMULATOR_HOST is set"},
		},
		"no emulator there": {
			[]string{"QS_FIRESTORE_ENDPOINT=127.0.0.1:1"}, []string{"doctor"}, exitFailed,
			[]string{"wrong    store           projects/p/databases/(default): try the indexes: ", "Firestore does not answer"},
		},
		"credentials that are none": {
			[]string{"QS_FIRESTORE_CREDENTIALS=" + secretKey}, []string{"doctor"}, exitFailed,
			[]string{"wrong    store           Firestore: the credentials are not the JSON key of a service account"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, settings(t.TempDir(), append(chosen, row.more...)...), row.args...).want(t, row.code, row.says...)
		})
	}
}
