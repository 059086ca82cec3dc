package main

import (
	"context"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store/changes"
	"questscheduler/internal/test/memorystore"
)

// ended is a sign-in service that ended the sign-ins of one person.
type ended string

func (e ended) Revoked(_ context.Context, userID string, _ time.Time) (bool, error) {
	return userID == string(e), nil
}

func TestFeeds_OfTheServer_EndWithTheSignIn(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open(queries())
	if err != nil {
		t.Fatal(err)
	}
	feeds := (&server{documents: changes.New(documents), now: time.Now}).newFeeds(routes{signIn: signIn{revoked: ended("ana")}})
	for person, kind := range map[string]fault.Kind{"ana": fault.NotFound, "ben": fault.Internal} {
		address, err := feeds.Renew(t.Context(), person, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		_, err = feeds.Calendar(t.Context(), strings.TrimSuffix(path.Base(address), ".ics"), func(string) bool { return false })
		if (err != nil) != (kind == fault.NotFound) || err != nil && !fault.Is(err, kind) {
			t.Errorf("%s: %v", person, err)
		}
	}
}

// TestFeed_InTheDemo_HasTheSessions reads a feed as a calendar program does: without a token,
// from the address that the server gives.
func TestFeed_InTheDemo_HasTheSessions(t *testing.T) {
	t.Parallel()
	o := &outside{t, startDemo(t, t.TempDir())}
	made, err := o.v1("ana", "POST", "/feed", nil)
	if err != nil {
		t.Fatal(err)
	}
	address, _ := made["url"].(string)
	secret, ok := strings.CutPrefix(address, o.ready.API+"/feeds/")
	if !ok {
		t.Fatalf("the address is %v", made)
	}
	calendar := page(t, address)
	if !strings.HasPrefix(calendar, "BEGIN:VCALENDAR\r\n") ||
		!strings.Contains(calendar, "UID:"+o.ready.Polls["linked"]+"@questscheduler.app\r\n") {
		t.Errorf("the feed is\n%s", calendar)
	}
	if strings.Contains(calendar, o.ready.Polls["open"]) {
		t.Errorf("the feed has an open poll:\n%s", calendar)
	}
	if figures := page(t, o.ready.API+"/metrics"); strings.Contains(figures, secret[:20]) || strings.Contains(figures, "/feeds/") {
		t.Error("the metrics have the address of a feed")
	}
	if _, err := o.v1("ana", "DELETE", "/feed", nil); err != nil {
		t.Fatal(err)
	}
	o.do("GET", address, "", nil).want(t, http.StatusNotFound)
}
