package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"questscheduler/demo"
)

// TestDemo_Announcements_PingTheGroupsRole: of the messages about a session, a move and
// a cancellation ping the role alone, a restore nobody.
func TestDemo_Announcements_PingTheGroupsRole(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	s := newSession(o, "gm")
	s.move(2 * time.Hour)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
	s.move(0)
	s.becomesAnnounced("SESSION_RESTORED", 1)
	s.google("DELETE", nil).want(t, http.StatusNoContent)
	s.becomesAnnounced("SESSION_CANCELLED", 1)

	mention := "<@&" + demo.RoleID + "> "
	start, later := timeTag(s.start), timeTag(s.start.Add(2*time.Hour))
	want := []struct{ content, pings string }{
		{
			mention + "Session '" + s.title + "' has been rescheduled to " + later + ": 2 hours later, same day. It was planned for " + start + ".",
			"[role:" + demo.RoleID + "]",
		},
		{"Session '" + s.title + "' has been restored to " + start + ", its original time. " + later + " is no longer valid.", "[]"},
		{mention + "Session '" + s.title + "' has been cancelled. It was planned for " + start + ".", "[role:" + demo.RoleID + "]"},
	}
	got := o.do("GET", o.ready.Discord+"/_sim/channels/"+o.ready.DiscordChannel+"/messages", "", nil).want(t, http.StatusOK)
	sent := slices.DeleteFunc(list(got.body["list"]), func(message map[string]any) bool { return message["content"] == "" })
	if len(sent) != len(want) {
		t.Fatalf("%d messages are in the channel, want %d: %v", len(sent), len(want), sent)
	}
	for i, message := range sent {
		if message["content"] != want[i].content || fmt.Sprint(message["_sim_pinged"]) != want[i].pings {
			t.Errorf("message %d is %q and pings %v, want %v", i+1, message["content"], message["_sim_pinged"], want[i])
		}
	}
}

// timeTag is Discord's markup for a moment.
func timeTag(at time.Time) string { return fmt.Sprintf("<t:%d:F>", at.Unix()) }
