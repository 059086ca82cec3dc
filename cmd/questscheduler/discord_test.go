package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// acts has a member of the party do something with the bot, and returns the answer, which the
// simulator held to Discord's limits.
func (o *outside) acts(who string, kind int, data map[string]any) map[string]any {
	o.t.Helper()
	sent := o.do("POST", o.ready.Discord+"/_sim/interactions", "", map[string]any{
		"user":     map[string]any{"id": o.ready.Users[who].DiscordUserID, "username": who},
		"guild_id": o.ready.DiscordGuild, "channel_id": o.ready.DiscordChannel, "type": kind, "data": data,
	}).want(o.t, http.StatusOK)
	answer, _ := sent.body["answer"].(map[string]any)
	return answer
}

// TestQuestPoll_OverDiscord_MakesAPollWithACard: a person makes a poll in the channel, whose
// form and answers keep Discord's limits.
func TestQuestPoll_OverDiscord_MakesAPollWithACard(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	command := func(name string, options ...any) map[string]any {
		return map[string]any{"name": "quest", "options": []any{map[string]any{"name": name, "type": 1, "options": options}}}
	}
	form := o.acts("ana", 2, command("poll",
		map[string]any{"name": "title", "type": 3, "value": "The Glass Tower"}, map[string]any{"name": "from", "type": 3, "value": "2030-05-01"}))
	asked, _ := form["data"].(map[string]any)
	label := func(component map[string]any) map[string]any {
		return map[string]any{"type": 18, "component": component}
	}
	typed := func(id, value string) map[string]any {
		return label(map[string]any{"type": 4, "custom_id": id, "value": value})
	}
	submit := func(times string) map[string]any {
		t.Helper()
		return o.acts("ana", 5, map[string]any{"custom_id": asked["custom_id"], "components": []any{
			typed("title", "The Glass Tower"), label(map[string]any{"type": 3, "custom_id": "days", "values": []string{"2030-05-01", "2030-05-03"}}),
			typed("times", times), typed("length", "4h"), typed("description", ""),
		}})
	}
	submit("in the evening")
	ana := o.ready.Users["ana"].DiscordUserID
	shown := list(o.do("GET", o.ready.Discord+"/_sim/ephemerals/"+ana, "", nil).want(t, http.StatusOK).body["list"])
	again := o.do("POST", o.ready.Discord+"/_sim/interactions", "", map[string]any{
		"user": map[string]any{"id": ana, "username": "ana"}, "guild_id": o.ready.DiscordGuild, "channel_id": o.ready.DiscordChannel,
		"type": 3, "data": map[string]any{"custom_id": asked["custom_id"]}, "message_id": shown[len(shown)-1]["id"],
	}).want(t, http.StatusOK)
	if text := fmt.Sprint(again.body["answer"]); !strings.Contains(text, "in the evening") || !strings.Contains(text, "The Glass Tower") {
		t.Errorf("opened again, the form is %s", text)
	}
	said := submit("19:00")
	if data, _ := said["data"].(map[string]any); data["flags"] != float64(64) {
		t.Errorf("everybody sees %v", said)
	}
	made := o.do("GET", o.ready.API+"/v1/polls?role=creator&limit=10", "Bearer "+o.ready.Users["ana"].Token, nil).want(t, http.StatusOK)
	data, _ := made.body["data"].(map[string]any)
	polls := list(data["polls"])
	if len(polls) != 1 || polls[0]["title"] != "The Glass Tower" {
		t.Fatalf("ana's polls are %v", polls)
	}
	s := &session{outside: o, id: polls[0]["id"].(string), title: "The Glass Tower"}
	eventually(t, "its card", func() error {
		_, err := s.card()
		return err
	})
	listed := o.acts("ana", 4, command("manage", map[string]any{"name": "poll", "type": 3, "value": "glass", "focused": true}))
	offered, _ := listed["data"].(map[string]any)
	if choices := list(offered["choices"]); len(choices) != 1 || choices[0]["value"] != s.id {
		t.Errorf("while ana types, %v is listed", listed)
	}
	for _, name := range []string{"me", "me-code", "who", "manage"} {
		if answer := o.acts("ana", 2, command(name)); answer["type"] != float64(4) {
			t.Errorf("/quest %s answers %v", name, answer)
		}
	}
}

// TestLinkGroup_OverDiscord_GivesTheChannelByACode: a code that REST gave moves the channel to
// another group.
func TestLinkGroup_OverDiscord_GivesTheChannelByACode(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	token := "Bearer " + o.ready.Users["gm"].Token
	o.do("PUT", o.ready.Discord+"/_sim/members/"+o.ready.Users["ben"].DiscordUserID, "", map[string]any{"permissions": "16"}).want(t, http.StatusOK)
	group := o.do("POST", o.ready.API+"/v1/groups", token, map[string]any{"name": "The Tavern"}).want(t, http.StatusCreated)
	data, _ := group.body["data"].(map[string]any)
	made := o.do("POST", o.ready.API+"/v1/groups/"+data["id"].(string)+"/discord-link-code", token, nil).want(t, http.StatusCreated)
	data, _ = made.body["data"].(map[string]any)
	says := func(want, name string, options ...any) {
		t.Helper()
		answer, _ := o.acts("ben", 2, map[string]any{"name": name, "options": options})["data"].(map[string]any)
		if said, _ := answer["content"].(string); !strings.Contains(said, want) {
			t.Errorf("/%s says %q, want %q", name, said, want)
		}
	}
	code := map[string]any{"name": "code", "type": 3, "value": data["code"]}
	says("Another group has this channel", "link-group", code)
	says("belongs to no group any more", "unlink-group")
	for range 2 { // the first answer may be lost
		says("The polls of **The Tavern** are shown here", "link-group", code)
	}
	says("no such code", "link-group", map[string]any{"name": "code", "type": 3, "value": "DEADBEEF"})
}

// TestDiscordRegister_TouchesWhatIsOurs: /quest is registered and removed, repeatedly; commands
// and addresses of others stay.
func TestDiscordRegister_TouchesWhatIsOurs(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	bot, app := "Bot "+o.ready.DiscordToken, o.ready.Discord+"/api/v10/applications/"+o.ready.DiscordApplication
	commands := func() string {
		t.Helper()
		var names []string
		for _, command := range list(o.do("GET", app+"/commands", bot, nil).want(t, http.StatusOK).body["list"]) {
			names = append(names, command["name"].(string))
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	endpoint := func() any {
		t.Helper()
		at := o.do("GET", o.ready.Discord+"/api/v10/applications/@me", bot, nil).want(t, http.StatusOK)
		return at.body["interactions_endpoint_url"]
	}
	environ := []string{
		"QS_DISCORD_BOT_TOKEN=" + o.ready.DiscordToken, "QS_DISCORD_APPLICATION_ID=" + o.ready.DiscordApplication,
		"QS_DISCORD_PUBLIC_KEY=" + o.ready.DiscordPublicKey, "QS_DISCORD_ENDPOINT=" + o.ready.Discord, "QS_PUBLIC_URL=" + o.ready.API,
	}
	o.do("POST", app+"/commands", bot, map[string]any{"name": "poll-create", "type": 1, "description": "The app's"})
	ours := endpoint()
	register := func(code int, says string, args ...string) {
		t.Helper()
		run(t, environ, append([]string{"discord", "register"}, args...)...).want(t, code, says)
	}
	register(exitOK, "would do: /quest removed in every guild", "--remove", "--dry-run")
	register(exitOK, "/quest registered in every guild")
	register(exitOK, "interactions are sent to", "--endpoint")
	if got := commands(); got != "link-group poll-create quest unlink-group" || endpoint() != ours {
		t.Errorf("registered are %s, at %v", got, endpoint())
	}
	run(t, append(settings(t.TempDir()), environ...), "doctor").want(t, exitOK, "Discord sends them here, and /quest is registered")
	environ[4] = "QS_PUBLIC_URL=http://elsewhere.example"
	register(exitOK, "stays", "--remove", "--endpoint")
	if got := commands(); got != "poll-create" || endpoint() != ours {
		t.Errorf("left are %s, at %v", got, endpoint())
	}
	register(exitOK, "/quest is not registered", "--remove")
	register(exitFailed, "", "--endpoint") // nothing answers there
	environ[1] = ""
	register(exitUsage, "QS_DISCORD_APPLICATION_ID")
}
