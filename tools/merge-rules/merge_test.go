package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden file anew")

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The golden file has a few lines in place of our rules.
const ours = `service cloud.firestore {
  match /databases/{database}/documents {
    function signedIn() { return request.auth != null; }
    match /schedulers/{id} { allow read: if signedIn() && data.signedIn(); }
  }
}
`

func TestMerge_FileOfTheAppsShape_IsTheGolden(t *testing.T) {
	t.Parallel()
	merged, err := merge(ours, read(t, "testdata/app.rules"))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "merged.rules")
	if *update {
		if err := os.WriteFile(golden, []byte(merged), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if merged != read(t, golden) {
		t.Errorf("the merged file is\n%s", merged)
	}
	if _, err := merge(ours, merged); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("merging twice: %v", err)
	}
}

// Our real rules are read whole, and no function of theirs is lost.
func TestMerge_OurRules_AreThere(t *testing.T) {
	t.Parallel()
	merged, err := merge(read(t, "../../firestore.rules"), read(t, "testdata/app.rules"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(merged, "match /calendarSyncSnapshots/{snapshotId}") || strings.Contains(merged, "&& signedIn() && takesPart(poll)") {
		t.Errorf("the merged file is\n%s", merged)
	}
}

func TestMerge_AllOfACollectionThatWeDoNotKnow_Stays(t *testing.T) {
	t.Parallel()
	const friends = "    match /friends/{id}/{rest=**} { allow read: if true; }"
	apps := "service cloud.firestore {\n  match /databases/{database}/documents {\n" + friends + "\n  }\n}\n"
	if merged, err := merge(ours, apps); err != nil || !strings.Contains(merged, friends) {
		t.Errorf("%v\n%s", err, merged)
	}
}

func TestMerge_WhatCannotBeMerged_IsRefused(t *testing.T) {
	t.Parallel()
	in := func(rules string) string {
		return "service cloud.firestore {\n  match /databases/{database}/documents {\n" + rules + "\n  }\n}\n"
	}
	for name, row := range map[string]struct{ apps, says string }{
		"a rule for everything": {in("match /{document=**} { allow read: if me(); }"), "line 3: a match of /{document=**} allows"},
		"votes of everything":   {in("match /{path=**}/votes/{id} { allow read; }"), "line 3: a match of /{path=**}/votes/{id} allows"},
		"all of a poll":         {in("match /schedulers/{id}/{rest=**} { allow read; }"), "line 3: a match of /schedulers/{id}/{rest=**} allows"},
		"no block of documents": {"service cloud.firestore { }", "has no block"},
		"something else":        {in("let x = 1;"), "line 3: no service"},
		"no end":                {"service cloud.firestore {\n match /a/{b} {", "line 1: its block has no end"},
		"an allow without end":  {in("allow read: if true"), "there is no ;"},
	} {
		if merged, err := merge(ours, row.apps); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v\n%s", name, err, merged)
		}
	}
}
