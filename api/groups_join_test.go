package api_test

import (
	"net/http"
	"testing"

	"questscheduler/internal/poll"
)

// joinOf is who takes part from a group's channel, as the group's creator reads it.
func (w *world) joinOf(group string) string {
	w.t.Helper()
	var read struct{ Discord struct{ Join string } }
	w.want(200, call{as: "gm", method: "GET", path: "/v1/groups/" + group}, &read)
	return read.Discord.Join
}

func TestGroupJoin_IsSetByTheCreatorAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.newGroup()
	w.joinGroup(group, "ana")
	if got := w.joinOf(group); got != "members" {
		t.Errorf("a new group says %q", got)
	}
	toChannel := map[string]any{"join": "channel"}
	for _, row := range []struct {
		as      string
		discord map[string]any
		status  int
	}{
		{"ana", toChannel, 403}, {"admin", toChannel, 403}, {"admin", with(here, "join", "channel"), 403}, {"eve", toChannel, 404},
		{"gm", map[string]any{"join": "everybody"}, 400},
		{"gm", with(here, "join", "channel"), 403}, // the channel is the admins'
	} {
		w.want(row.status, call{as: row.as, method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"discord": row.discord}}, nil)
		if got := w.joinOf(group); got != "members" {
			t.Errorf("after %s gave %v it says %q", row.as, row.discord, got)
		}
	}
	w.patchGroup(group, map[string]any{"discord": toChannel})
	if got := w.joinOf(group); got != "channel" {
		t.Errorf("the creator's choice is shown as %q", got)
	}
	w.patchGroup(group, map[string]any{"discord": map[string]any{"join": "members"}})
	if got := w.joinOf(group); got != "members" {
		t.Errorf("taken back it is shown as %q", got)
	}

	var made groupJSON
	w.want(http.StatusCreated,
		call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "Raid", "discord": toChannel}}, &made)
	if got := w.joinOf(made.ID); got != "channel" {
		t.Errorf("made with it, a group says %q", got)
	}
}

// What a creator opened to one channel is not open to one that somebody else chooses.
func TestGroupJoin_HoldsForTheChannelThatItWasSaidOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.channels.guilds["23"] = "1"
	group := w.newGroup()
	set := func(discord map[string]any) {
		w.want(200, call{as: "admin", method: "PATCH", path: "/v1/groups/" + group, body: map[string]any{"discord": discord}}, nil)
	}
	set(with(here, "notifications", map[string]bool{"voteSubmitted": true}))
	w.patchGroup(group, map[string]any{"discord": map[string]any{"join": "channel"}})
	read, err := poll.LoadGroup(t.Context(), w.store, group)
	must(t, err)
	if read.Discord.ChannelID != "22" || read.Discord.GuildID != "1" || !read.Discord.Notifications["voteSubmitted"] {
		t.Errorf("join alone left the rest as %+v", read.Discord)
	}
	set(with(here, "notify_role_id", "none"))
	if got := w.joinOf(group); got != "channel" {
		t.Errorf("after other settings of the channel it says %q", got)
	}
	set(with(here, "channel_id", "23"))
	if got := w.joinOf(group); got != "members" {
		t.Errorf("of a channel that an admin chose it says %q", got)
	}
}
