package main

import (
	"strings"
	"testing"
	"time"

	"questscheduler/demo"
	"questscheduler/internal/signin"
)

// onAuthEmulator are development settings with which users sign in at the Firebase Auth
// emulator.
var onAuthEmulator = []string{"QS_AUTH=firebase", "QS_FIREBASE_PROJECT=demo-party", "FIREBASE_AUTH_EMULATOR_HOST=127.0.0.1:9099"}

func TestServe_TakesTheTokensOfTheAuthEmulator_AndNoneOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := run(t, settings(dir), "token", "--user", "gm")
	own.want(t, exitOK)
	s := serve(t, settings(dir, onAuthEmulator...))
	emulator, err := signin.NewUnsigned("demo-party", false, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	token, err := emulator.Issue(signin.Person{UID: "gm"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	o := &outside{t, demo.Ready{API: s.url}}
	o.do("GET", s.url+"/v1/polls", "Bearer "+token, nil).want(t, 200)
	o.do("GET", s.url+"/v1/polls", "Bearer "+strings.TrimSpace(own.out), nil).want(t, 401)
}

func TestFirebase_WhatCannotBeUsed_IsSaid(t *testing.T) {
	t.Parallel()
	chosen := []string{"QS_AUTH=firebase", "QS_FIREBASE_PROJECT=quest-party"}
	for name, row := range map[string]struct {
		more []string
		args []string
		code int
		says []string
	}{
		"a token of our own": {chosen, []string{"token", "--user", "gm"}, exitUsage, []string{"QS_AUTH is firebase: people sign in there"}},
		"a token of our own on Cloud Run": {
			[]string{"K_SERVICE=quests"}, []string{"token", "--user", "gm"}, exitUsage, []string{"QS_AUTH is local, and this is Cloud Run"},
		},
		"a demo among real people": {
			chosen, []string{"demo", "--addr", "127.0.0.1:0"}, exitUsage, []string{"Firebase does not know the demo's people"},
		},
		"unsigned tokens in production": {
			append([]string{"K_SERVICE=quests"}, onAuthEmulator...), []string{"serve"}, exitUsage,
			[]string{"FIREBASE_AUTH_EMULATOR_HOST is set, by which anybody could speak for anybody, and this is Cloud Run"},
		},
		"doctor, of Firebase": {
			chosen, []string{"doctor"}, exitOK,
			[]string{"ok       sign-in         Firebase's people of quest-party; who is disabled"},
		},
		"doctor, of revocations too": {
			append(chosen, "QS_FIREBASE_REVOCATION=on"), []string{"doctor"}, exitOK,
			[]string{"ok       sign-in         Firebase's people of quest-party, until"},
		},
		"doctor, of the emulator": {onAuthEmulator, []string{"doctor"}, exitOK, []string{"warning  sign-in         unsigned tokens"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, settings(t.TempDir(), row.more...), row.args...).want(t, row.code, row.says...)
		})
	}
}
