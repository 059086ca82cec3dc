package discord_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
)

const hello = `{"type":4,"data":{"content":"hello","flags":64}}`

// payload is a part of what the endpoint gets.
type payload struct {
	ID             string
	Token          string
	ApplicationID  string `json:"application_id"`
	Type, Version  int
	GuildID        string `json:"guild_id"`
	ChannelID      string `json:"channel_id"`
	Locale         string
	GuildLocale    string `json:"guild_locale"`
	AppPermissions string `json:"app_permissions"`
	Data           struct {
		ID            string
		CustomID      string `json:"custom_id"`
		ComponentType int    `json:"component_type"`
	}
	Member *struct {
		User        discord.User
		Permissions string
		Nick        *string
	}
	User    *discord.User
	Message *discord.Message
}

func (e *endpoint) last(t *testing.T) payload {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.received) == 0 {
		t.Fatal("no interaction came")
	}
	var p payload
	if err := json.Unmarshal([]byte(e.received[len(e.received)-1]), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestInteraction_Command_IsSignedAndWhole(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := s.answering(hello)
	var c shownCommand
	s.call(http.MethodPost, commands, `{"name":"quest","description":"Plan"}`).into(t, &c)
	status, r := s.act(2, `{"name":"quest","options":[]}`, `"locale":"de"`)
	if status != http.StatusOK || r.Status != http.StatusOK || string(r.Answer) != hello || r.Error != "" {
		t.Fatalf("answer %d %+v", status, r)
	}
	p := e.last(t)
	id, _ := s.Application()
	switch {
	case p.ID != r.ID || p.Token != r.Token || p.ApplicationID != id || p.Type != 2 || p.Version != 1:
		t.Errorf("payload %+v, answer %+v", p, r)
	case p.GuildID != guildID || p.ChannelID != channel || p.Locale != "de" || p.GuildLocale != "en-US" || p.Data.ID != c.ID:
		t.Errorf("payload %+v", p)
	case p.User != nil || p.Member == nil || p.Member.User.ID != userID || *p.Member.User.GlobalName != "GM" || p.Member.Nick != nil:
		t.Errorf("member %+v, user %+v", p.Member, p.User)
	case p.Member.Permissions != "84992" || p.AppPermissions != "17592186268672":
		t.Errorf("permissions %s, of the app %s", p.Member.Permissions, p.AppPermissions)
	}
	if list := s.ephemerals(); len(list) != 1 || list[0].Content != "hello" || len(s.Messages(channel)) != 0 {
		t.Errorf("ephemerals %+v", list)
	}
}

func TestInteraction_DirectMessage_HasAUser(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := s.answering(`{"type":4,"data":{"content":"hello"}}`)
	s.call(http.MethodPost, "/_sim/interactions", `{"user":{"id":"`+userID+`"},"channel_id":"800","type":2,"data":{"name":"quest"}}`)
	if p := e.last(t); p.User == nil || p.User.ID != userID || p.Member != nil || p.GuildID != "" {
		t.Errorf("payload %+v", p)
	}
	if list := s.ephemerals(); len(list) != 1 || list[0].ChannelID != "800" {
		t.Errorf("messages %+v", list)
	}
}

func TestInteraction_ImpossibleAct_IsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	if status, r := s.act(2, `{}`); status != http.StatusBadRequest || !strings.Contains(r.Error, "no endpoint") {
		t.Errorf("without an endpoint: %d %+v", status, r)
	}
	e := s.answering(hello)
	m := s.post(`{"content":"x","components":[{"type":1,"components":[{"type":2,"style":1,"label":"a","custom_id":"off","disabled":true}]}]}`)
	on := `"message_id":"` + m.ID + `"`
	for _, row := range []struct{ name, body, says string }{
		{"a PING", actBody(1, `{}`), "type:"},
		{"no data", actBody(2, `null`), "data:"},
		{"no user", `{"user":{"id":"x"},"channel_id":"800","type":2,"data":{}}`, "user:"},
		{"channel of no guild", strings.Replace(actBody(2, `{}`), guildID, "5", 1), "channel_id:"},
		{"channel of a guild", strings.Replace(actBody(2, `{}`), guildID, "", 1), "guild_id:"},
		{"no permissions", actBody(2, `{}`, `"permissions":"x"`), "permissions:"},
		{"no message", actBody(3, `{"custom_id":"off"}`), "message_id:"},
		{"another message", actBody(3, `{"custom_id":"off"}`, `"message_id":"5"`), "message_id:"},
		{"no such component", actBody(3, `{"custom_id":"on"}`, on), "no component"},
		{"a disabled component", actBody(3, `{"custom_id":"off"}`, on), "disabled"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := s.call(http.MethodPost, "/_sim/interactions", row.body)
			var r result
			a.into(t, &r)
			if a.status != http.StatusBadRequest || !strings.Contains(r.Error, row.says) {
				t.Errorf("answer %d %s", a.status, a.body)
			}
		})
	}
	if len(e.received) != 0 {
		t.Errorf("sent %v", e.received)
	}
}

func TestInteraction_Press_UpdatesItsMessage(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := s.answering(`{"type":7,"data":{"content":"closed","components":[]}}`)
	m := s.post(`{"content":"open","components":[` + voteRow + `]}`)
	status, r := s.act(3, `{"custom_id":"vote"}`, `"message_id":"`+m.ID+`"`)
	if p := e.last(t); status != http.StatusOK || p.Data.ComponentType != 2 || p.Message == nil || p.Message.ID != m.ID {
		t.Errorf("answer %d %+v, payload %+v", status, r, p)
	}
	if list := s.Messages(channel); len(list) != 1 || list[0].Content != "closed" || len(list[0].Components) != 0 {
		t.Errorf("messages %+v", list)
	}
}

func TestInteraction_PressOnAnEphemeral_UpdatesIt(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.asking(func(body string) string {
		if strings.Contains(body, `"type":3,`) {
			return `{"type":7,"data":{"content":"second"}}`
		}
		return `{"type":4,"data":{"content":"first","flags":64,"components":[` + voteRow + `]}}`
	})
	s.act(2, `{"name":"quest"}`)
	first := s.ephemerals()[0]
	status, r := s.act(3, `{"custom_id":"vote"}`, `"message_id":"`+first.ID+`"`)
	if list := s.ephemerals(); status != http.StatusOK || len(list) != 1 || list[0].Content != "second" || list[0].Flags != 64 {
		t.Errorf("answer %d %+v, then %+v", status, r, list)
	}
}

func TestInteraction_Faults(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name             string
		rule             control.Rule
		status, received int
		forged           int
		says             string
	}{
		{"duplicate", control.Rule{Duplicate: 1}, http.StatusOK, 2, 0, ""},
		{"delay", control.Rule{DelayMS: 20}, http.StatusOK, 1, 0, ""},
		{"lost answer", control.Rule{LostAnswer: true}, http.StatusBadGateway, 1, 0, "lost"},
		{"drop", control.Rule{Drop: true}, http.StatusBadGateway, 0, 0, "dropped"},
		{"bad signature", control.Rule{BadSignature: true}, http.StatusBadGateway, 0, 1, "401"},
		{"status", control.Rule{Status: 503}, http.StatusBadGateway, 0, 0, "503"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			e := s.answering(hello)
			forged := e.forged // by the probe
			row.rule.Match, row.rule.Times = "interactions.send", 1
			s.plant(row.rule)
			before := time.Now()
			status, r := s.act(2, `{"name":"quest"}`)
			if status != row.status || len(e.received) != row.received || e.forged-forged != row.forged || !strings.Contains(r.Error, row.says) {
				t.Errorf("answer %d %+v; received %d, forged %d", status, r, len(e.received), e.forged-forged)
			}
			if row.rule.DelayMS > 0 && time.Since(before) < 20*time.Millisecond {
				t.Error("it was not held up")
			}
			if len(e.received) == 2 && e.received[0] != e.received[1] {
				t.Errorf("received %v", e.received)
			}
			if n := len(s.ephemerals()); (n == 1) != (row.status == http.StatusOK) {
				t.Errorf("%d ephemerals", n)
			}
			if s.Control().Calls()["interactions.send"] != 1 {
				t.Errorf("counted %v", s.Control().Calls())
			}
		})
	}
}

func TestMembers_PermissionsAndNick_AreSent(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := s.answering(hello)
	const path = "/_sim/members/" + userID
	sent := func(more ...string) (string, string) {
		s.act(2, `{"name":"quest"}`, more...)
		m := e.last(t).Member
		if m.Nick == nil {
			return m.Permissions, ""
		}
		return m.Permissions, *m.Nick
	}
	for _, row := range []struct{ change, permissions, nick string }{
		{`{"permissions":"16"}`, "16", ""},
		{`{"nick":"Gandalf"}`, "16", "Gandalf"},
		{`{"permissions":"8","guild_id":"` + guildID + `"}`, "8", "Gandalf"},
		{`{"permissions":"","guild_id":"` + guildID + `"}`, "16", "Gandalf"},
	} {
		if a := s.call(http.MethodPut, path, row.change); a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", row.change, a.status, a.body)
		}
		if permissions, nick := sent(); permissions != row.permissions || nick != row.nick {
			t.Errorf("after %s: %s, %q", row.change, permissions, nick)
		}
	}
	if permissions, _ := sent(`"permissions":"32"`); permissions != "32" {
		t.Errorf("of the act's own: %s", permissions)
	}
	for at, body := range map[string]string{path: `{"permissions":"x"}`, path + "?": `{"guild_id":"5"}`, "/_sim/members/x": `{}`} {
		if a := s.call(http.MethodPut, at, body); a.status != http.StatusBadRequest {
			t.Errorf("%s %s: %d %s", at, body, a.status, a.body)
		}
	}
	s.call(http.MethodPut, "/_sim/channels/"+channel, `{"denied":["EMBED_LINKS"]}`)
	sent()
	if p := e.last(t).AppPermissions; p != "17592186252288" {
		t.Errorf("of the app: %s", p)
	}
}
