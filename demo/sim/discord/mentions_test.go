package discord_test

import (
	"net/http"
	"slices"
	"testing"

	"questscheduler/demo/sim/discord"
)

// simPinged is what /_sim/channels/{id}/messages says of the only message.
func (s sim) simPinged() []string {
	s.t.Helper()
	var list []struct {
		Pinged []string `json:"_sim_pinged"`
	}
	s.call(http.MethodGet, "/_sim/channels/"+channel+"/messages", nil).into(s.t, &list)
	if len(list) != 1 || list[0].Pinged == nil {
		s.t.Fatalf("messages %+v", list)
	}
	return list[0].Pinged
}

const everybody = "@everyone <@&" + roleID + "> <@" + userID + "> <@!" + userID + ">"

// mentionRows say whom each allowed_mentions lets the text above ping.
var mentionRows = []struct {
	name     string
	allowed  string // the member of the body; "" is omitted
	everyone bool
	roles    []string
	users    []string
}{
	{"omitted parses all", "", true, []string{roleID}, []string{userID}},
	{"null parses all", `,"allowed_mentions":null`, true, []string{roleID}, []string{userID}},
	{"an empty parse is nobody", `,"allowed_mentions":{"parse":[]}`, false, nil, nil},
	{"a null parse is nobody", `,"allowed_mentions":{"parse":null}`, false, nil, nil},
	{"an empty object is nobody", `,"allowed_mentions":{}`, false, nil, nil},
	{"everyone alone", `,"allowed_mentions":{"parse":["everyone"]}`, true, nil, nil},
	{"every role", `,"allowed_mentions":{"parse":["roles"]}`, false, []string{roleID}, nil},
	{"every person", `,"allowed_mentions":{"parse":["users"]}`, false, nil, []string{userID}},
	{"that role", `,"allowed_mentions":{"parse":[],"roles":["` + roleID + `"]}`, false, []string{roleID}, nil},
	{"another role", `,"allowed_mentions":{"parse":[],"roles":["1"]}`, false, nil, nil},
	{"that person", `,"allowed_mentions":{"users":["` + userID + `"]}`, false, nil, []string{userID}},
	{"everyone and another person", `,"allowed_mentions":{"parse":["everyone"],"users":["1"]}`, true, nil, nil},
}

func TestMentions_AllowedMentions_LimitPings(t *testing.T) {
	t.Parallel()
	for _, row := range mentionRows {
		body := `{"content":"` + everybody + `"` + row.allowed + `}`
		check := func(t *testing.T, s sim, a answer) {
			t.Helper()
			var m discord.Message
			a.into(t, &m)
			var users, want []string
			for _, u := range m.Mentions {
				users = append(users, u.ID)
			}
			if m.MentionEveryone != row.everyone || !slices.Equal(m.MentionRoles, row.roles) || !slices.Equal(users, row.users) {
				t.Errorf("answer %s", a.body)
			}
			if row.everyone {
				want = append(want, "everyone")
			}
			for _, id := range row.roles {
				want = append(want, "role:"+id)
			}
			for _, id := range row.users {
				want = append(want, "user:"+id)
			}
			if got := s.simPinged(); !slices.Equal(got, want) {
				t.Errorf("pinged %v, want %v", got, want)
			}
		}
		t.Run("post: "+row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			check(t, s, s.call(http.MethodPost, messages, body))
		})
		t.Run("edit: "+row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			m := s.post(`{"content":"quiet","allowed_mentions":{"parse":[]}}`)
			check(t, s, s.call(http.MethodPatch, messages+"/"+m.ID, body))
		})
	}
}

func TestMentions_EditOfTheCardAlone(t *testing.T) {
	t.Parallel()
	const quietPost = `{"content":"@everyone","allowed_mentions":{"parse":[]}}`
	const loudPost = `{"content":"@everyone"}`
	for _, row := range []struct {
		name, post, edit string
		everyone         bool
		pinged           []string
	}{
		{"without allowed_mentions it pings after all", quietPost, `{"embeds":[{"title":"x"}]}`, true, []string{"everyone"}},
		{
			"with allowed_mentions it leaves a quiet message quiet", quietPost,
			`{"embeds":[{"title":"x"}],"allowed_mentions":{"parse":[]}}`, false, []string{},
		},
		{
			"with allowed_mentions it keeps a mention", loudPost, `{"embeds":[{"title":"x"}],"allowed_mentions":{"parse":[]}}`,
			true, []string{"everyone"},
		},
		{
			"a quiet edit of the text takes no ping back", loudPost, `{"content":"@here","allowed_mentions":{"parse":[]}}`, false,
			[]string{"everyone"},
		},
		{"a loud edit adds its ping", loudPost, `{"content":"@here"}`, true, []string{"everyone", "here"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			m := s.post(row.post)
			s.call(http.MethodPatch, messages+"/"+m.ID, row.edit).into(t, &m)
			if got := s.simPinged(); m.MentionEveryone != row.everyone || !slices.Equal(got, row.pinged) {
				t.Errorf("mention_everyone %v, pinged %v", m.MentionEveryone, got)
			}
		})
	}
}

func TestMentions_WhatIsAMention(t *testing.T) {
	t.Parallel()
	for content, want := range map[string][]string{
		"@here and @everyone":              {"here", "everyone"},
		"mail@everyone.example":            {"everyone"},
		`\\@everyone`:                      {"everyone"},
		"`@everyone`":                      {"everyone"},
		"@Everyone @every one":             {},
		"@\u200beveryone":                  {},
		"<@&x> <@> <@&" + roleID:           {},
		"<@" + userID + "> <@" + "5" + ">": {"user:" + userID, "user:5"},
	} {
		t.Run(content, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.post(map[string]any{"content": content})
			if got := s.simPinged(); !slices.Equal(got, want) {
				t.Errorf("pinged %v, want %v", got, want)
			}
		})
	}
	t.Run("text of embeds never pings", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		s.post(embeds(map[string]any{"title": everybody, "description": everybody}))
		if got := s.simPinged(); len(got) != 0 {
			t.Errorf("pinged %v", got)
		}
	})
}

func TestMentions_RolesAndPermissions(t *testing.T) {
	t.Parallel()
	const closed, unknown = "700000000000000005", "700000000000000006"
	roles := []discord.Role{{ID: roleID, Name: "Players", Mentionable: true}, {ID: closed, Name: "Staff"}}
	const content = "@everyone <@&" + roleID + "> <@&" + closed + "> <@&" + unknown + ">"
	for _, row := range []struct {
		name   string
		denied []discord.Permission
		want   []string
	}{
		{"a bot that may mention everyone pings every role there is", nil, []string{"everyone", "role:" + roleID, "role:" + closed}},
		{"a bot that may not pings mentionable roles alone", []discord.Permission{discord.MentionEveryone}, []string{"role:" + roleID}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			if err := s.AddGuild(guildID, "Party", roles...); err != nil {
				t.Fatal(err)
			}
			if err := s.AddChannel(discord.Channel{ID: channel, GuildID: guildID, Denied: row.denied}); err != nil {
				t.Fatal(err)
			}
			s.post(map[string]any{"content": content})
			if got := s.simPinged(); !slices.Equal(got, row.want) {
				t.Errorf("pinged %v, want %v", got, row.want)
			}
		})
	}
}
