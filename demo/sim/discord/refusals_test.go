package discord_test

import (
	"net/http"
	"strings"
	"testing"

	"questscheduler/demo/sim/discord"
)

func TestToken_WithoutTheRightOne_Is401AndChangesNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, header := range []string{"", token, "Bearer " + token, "Bot ", "Bot other", "bot " + token} {
		req, err := http.NewRequest(http.MethodPost, s.url+messages, strings.NewReader(`{"content":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", header)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%q is answered %d", header, res.StatusCode)
		}
	}
	if got := s.Messages(channel); len(got) != 0 {
		t.Errorf("messages %+v", got)
	}
	session := s.session()
	session.Token = "Bot other"
	_, err := session.ChannelMessageSend(channel, "x")
	wantRESTError(t, err, http.StatusUnauthorized, 0)
}

func TestUnknownIDs_OnEveryRoute_HaveDiscordsCodes(t *testing.T) {
	t.Parallel()
	s := start(t)
	const nowhere, ghost = "/api/v9/channels/999999999999999999", messages + "/999999999999999999"
	for _, row := range []struct {
		verb, path string
		body       any
		status     int
		code       int
		message    string
	}{
		{http.MethodPost, nowhere + "/messages", `{"content":"x"}`, 404, 10003, "Unknown Channel"},
		{http.MethodPost, nowhere + "/messages", `{"content":""}`, 404, 10003, "Unknown Channel"},
		{http.MethodGet, nowhere + "/messages", nil, 404, 10003, "Unknown Channel"},
		{http.MethodGet, nowhere + "/messages/1", nil, 404, 10003, "Unknown Channel"},
		{http.MethodGet, nowhere, nil, 404, 10003, "Unknown Channel"},
		{http.MethodGet, ghost, nil, 404, 10008, "Unknown Message"},
		{http.MethodPatch, ghost, `{"content":"x"}`, 404, 10008, "Unknown Message"},
		{http.MethodDelete, ghost, nil, 404, 10008, "Unknown Message"},
		{http.MethodGet, "/api/v9/channels/nope", nil, 400, 50035, "Invalid Form Body"},
		{http.MethodGet, messages + "/nope", nil, 400, 50035, "Invalid Form Body"},
		{http.MethodGet, "/api/v9/nothing", nil, 404, 0, "404: Not Found"},
		{http.MethodGet, "/api/v8/channels/" + channel, nil, 404, 0, "404: Not Found"},
		{http.MethodPut, messages, nil, 405, 0, "405: Method Not Allowed"},
		{http.MethodPost, messages, `{"content":`, 400, 50109, "The request body contains invalid JSON."},
		{http.MethodPost, messages, `["x"]`, 400, 50109, "The request body contains invalid JSON."},
		{http.MethodPost, messages, `{}`, 400, 50006, "Cannot send an empty message"},
		{http.MethodPost, messages, `{"content":" \n"}`, 400, 50006, "Cannot send an empty message"},
		{http.MethodPost, messages, `{"components":[` + voteRow + `]}`, 400, 50006, "Cannot send an empty message"},
		{http.MethodPost, messages, `{"content":"` + strings.Repeat("x", 1<<20) + `"}`, 413, 40005, "Request entity too large"},
	} {
		t.Run(row.verb+" "+row.path+" "+row.message, func(t *testing.T) {
			t.Parallel()
			wantRefusal(t, s.call(row.verb, row.path, row.body), row.status, row.code, row.message)
		})
	}
}

func TestPost_WithoutJSONContentType_IsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	req, err := http.NewRequest(http.MethodPost, s.url+messages, strings.NewReader("content=x"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bot "+token)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("answer %d", res.StatusCode)
	}
}

func TestPermissions_EachMissingOne_IsRefusedAsByDiscord(t *testing.T) {
	t.Parallel()
	const plain, embed = `{"content":"x"}`, `{"embeds":[{"title":"x"}]}`
	for _, row := range []struct {
		name   string
		denied discord.Permission
		verb   string
		one    bool // the call is about the message that is there
		body   any
		status int
		code   int
	}{
		{"not visible: post", discord.ViewChannel, http.MethodPost, false, plain, 403, 50001},
		{"not visible: list", discord.ViewChannel, http.MethodGet, false, nil, 403, 50001},
		{"not visible: edit", discord.ViewChannel, http.MethodPatch, true, plain, 403, 50001},
		{"not writable: post", discord.SendMessages, http.MethodPost, false, plain, 403, 50013},
		{"not writable: edit of one's own", discord.SendMessages, http.MethodPatch, true, plain, 200, 0},
		{"no embeds: post", discord.EmbedLinks, http.MethodPost, false, embed, 403, 50013},
		{"no embeds: plain post", discord.EmbedLinks, http.MethodPost, false, plain, 200, 0},
		{"no embeds: edit", discord.EmbedLinks, http.MethodPatch, true, embed, 403, 50013},
		{"no history: one message", discord.ReadMessageHistory, http.MethodGet, true, nil, 403, 50013},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			path := messages
			if m := s.post(plain); row.one {
				path += "/" + m.ID
			}
			a := s.call(http.MethodPut, "/_sim/channels/"+channel, map[string]any{"denied": []discord.Permission{row.denied}})
			if a.status != http.StatusOK {
				t.Fatalf("deny: %d %s", a.status, a.body)
			}
			a = s.call(row.verb, path, row.body)
			var r refusal
			a.into(t, &r)
			if a.status != row.status || r.Code != row.code {
				t.Errorf("answer %d %s; want %d with code %d", a.status, a.body, row.status, row.code)
			}
		})
	}
}

func TestPermissions_WithoutHistory_AListingIsEmpty(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.post(`{"content":"x"}`)
	c := discord.Channel{ID: channel, GuildID: guildID, Name: "quests", Denied: []discord.Permission{discord.ReadMessageHistory}}
	if err := s.AddChannel(c); err != nil {
		t.Fatal(err)
	}
	if a := s.call(http.MethodGet, messages, nil); a.status != http.StatusOK || strings.TrimSpace(string(a.body)) != "[]" {
		t.Errorf("answer %d %s", a.status, a.body)
	}
}
