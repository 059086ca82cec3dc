package main

import (
	"net/http"
	"strings"
	"testing"
)

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
	if !strings.HasPrefix(calendar, "BEGIN:VCALENDAR\r\n") || !strings.Contains(calendar, "UID:"+o.ready.Polls["linked"]+"@questscheduler.app\r\n") {
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
