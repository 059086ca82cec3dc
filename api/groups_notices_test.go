package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"questscheduler/notify"
)

// A group names 499 people over REST, and a poll in it becomes news: one of them has
// accepted and hears of it, and nobody else does, in whatever the creator does.
func TestGroup_InvitedPeople_GetNoNotice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inApp := &notify.InApp{Store: w.store, Now: w.options.Now}
	announcer := &notify.Announcer{
		Store: w.store, Now: w.options.Now, Channels: []notify.Channel{inApp}, PerHour: 20, Log: slog.New(slog.DiscardHandler),
	}
	w.outbox.Add(announcer.Work())
	people := []string{"ana"}
	for i := range 498 {
		people = append(people, fmt.Sprint("stranger-", i))
	}
	var made groupJSON
	w.want(
		http.StatusCreated,
		call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "The party", "member_ids": people}},
		&made,
	)
	p := w.newPoll(map[string]any{"group_id": made.ID, "participant_ids": []string{}, "pending_invites": []string{}})
	notices := func() int {
		w.want(http.StatusOK, finaliseCall(p), nil)
		w.announce(nil)
		w.want(http.StatusOK, commandsOn(p)["cancel"], nil)
		heard := w.announce(people)
		w.want(http.StatusOK, commandsOn(p)["reopen"], nil)
		return heard
	}
	if got := notices(); got != 0 {
		t.Errorf("%d notices to people who have not accepted", got)
	}
	w.want(http.StatusOK, call{as: "ana", method: "POST", path: "/v1/groups/" + made.ID + "/accept-invite"}, nil)
	if got := notices(); got != 1 {
		t.Errorf("%d notices, want ana's alone", got)
	}
}
