package webapp_test

import (
	"os"
	"strings"
	"testing"

	"questscheduler/internal/test/webapp"
)

// TestFind_ClientIsHere is what `make test` prints a line of where it is skipped.
func TestFind_ClientIsHere(t *testing.T) {
	t.Parallel()
	if err := webapp.Find(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: tests with the official Firebase client, since " + err.Error())
	}
}

// No host of a registry is named: who installs chooses where from.
func TestLock_NamesNoRegistry(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `"resolved"`) || !strings.Contains(string(text), `"integrity"`) {
		t.Error("the lock names where packages come from, or not what they are; make it anew with: npm install " +
			"--package-lock-only --omit-lockfile-registry-resolved")
	}
}
