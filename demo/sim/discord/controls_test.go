package discord_test

import (
	"net/http"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
)

func TestClock_AdvancedOverHTTP_MovesNonceAndStamps(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := map[string]any{"content": "x", "nonce": "n", "enforce_nonce": true}
	first := s.post(body)
	if a := s.call(http.MethodPost, "/_sim/clock", `{"advance":"72h"}`); a.status != http.StatusOK {
		t.Fatalf("clock: %d %s", a.status, a.body)
	}
	second := s.post(body)
	if second.ID == first.ID || second.Timestamp.Sub(first.Timestamp.Time) != 72*time.Hour {
		t.Errorf("posted %v, then %v", first.Timestamp, second.Timestamp)
	}
}

func TestClock_Shared_MovesWithItsOwner(t *testing.T) {
	t.Parallel()
	shared := control.NewClock(newClock().Now)
	s := start(t, func(o *discord.Options) { o.Clock = shared; o.Dir = t.TempDir() })
	if err := shared.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	if m := s.post(`{"content":"x"}`); !m.Timestamp.Equal(newClock().Now().Add(time.Hour)) {
		t.Errorf("posted at %v", m.Timestamp)
	}
}

func TestSimChannel_NamedFields_AreChanged(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/_sim/channels/" + channel
	s.post(`{"content":"x"}`)

	s.call(http.MethodPut, path, `{"denied":["SEND_MESSAGES"]}`)
	var c discord.Channel
	s.call(http.MethodPut, path, `{"gone":true}`).into(t, &c)
	if !c.Gone || c.Name != "quests" || c.GuildID != guildID || len(c.Denied) != 1 {
		t.Errorf("channel %+v", c)
	}
	wantRefusal(t, s.call(http.MethodGet, messages, nil), http.StatusNotFound, 10003, "Unknown Channel")
	if n := len(s.Messages(channel)); n != 1 {
		t.Errorf("%d messages left of a channel that is gone", n)
	}
	s.call(http.MethodPut, path, `{"gone":false,"denied":[]}`)
	s.post(`{"content":"y"}`)

	s.call(http.MethodPut, "/_sim/channels/800", `{"guild_id":"`+guildID+`","name":"new"}`)
	if a := s.call(http.MethodPost, "/api/v9/channels/800/messages", `{"content":"x"}`); a.status != http.StatusOK {
		t.Errorf("a new channel answers %d %s", a.status, a.body)
	}
	for at, body := range map[string]string{
		path:                 `{"denied":["FLY"]}`,
		"/_sim/channels/801": `{"name":"no guild"}`,
		"/_sim/channels/x":   `{"guild_id":"` + guildID + `"}`,
	} {
		if a := s.call(http.MethodPut, at, body); a.status != http.StatusBadRequest {
			t.Errorf("%s at %s is answered %d", body, at, a.status)
		}
	}
	if a := s.call(http.MethodGet, "/_sim/channels/801/messages", nil); a.status != http.StatusNotFound {
		t.Errorf("a channel that was never added is answered %d", a.status)
	}
}

func TestNew_WithoutAToken_IsRefused(t *testing.T) {
	t.Parallel()
	if _, err := discord.New(discord.Options{}); err == nil {
		t.Error("no error")
	}
}

func TestAddGuild_AndAddChannel_RefuseWhatCannotBe(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, err := range map[string]error{
		"guild without a number":   s.AddGuild("party", "x"),
		"role without a number":    s.AddGuild(guildID, "x", discord.Role{ID: "players"}),
		"channel without a number": s.AddChannel(discord.Channel{ID: "quests", GuildID: guildID}),
		"channel of no guild":      s.AddChannel(discord.Channel{ID: "1", GuildID: "2"}),
		"unknown permission":       s.AddChannel(discord.Channel{ID: "1", GuildID: guildID, Denied: []discord.Permission{"FLY"}}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
