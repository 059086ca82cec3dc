package discord_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"questscheduler/demo/sim/discord"
)

const (
	commands      = "/api/v10/applications/" + discord.BotID + "/commands"
	guildCommands = "/api/v10/applications/" + discord.BotID + "/guilds/" + guildID + "/commands"
)

// shownCommand is a part of a command.
type shownCommand struct {
	ID, Name, Description, Version string
	GuildID                        string `json:"guild_id"`
	Options                        []any
}

func (s sim) commands(path string) []shownCommand {
	s.t.Helper()
	var list []shownCommand
	s.call(http.MethodGet, path, nil).into(s.t, &list)
	return list
}

func TestCommands_Upsert_ReplacesByName(t *testing.T) {
	t.Parallel()
	for _, path := range []string{commands, guildCommands} {
		s := start(t)
		first := s.call(http.MethodPost, path, `{"name":"quest","description":"Plan"}`)
		other := s.call(http.MethodPost, path, `{"name":"link-group","description":"Link"}`)
		second := s.call(http.MethodPost, path, `{"name":"quest","description":"Plan it",
			"options":[{"type":3,"name":"poll","description":"Which"}]}`)
		if first.status != http.StatusCreated || other.status != http.StatusCreated || second.status != http.StatusOK {
			t.Fatalf("answers %d %s, %d, %d %s", first.status, first.body, other.status, second.status, second.body)
		}
		var one, two shownCommand
		first.into(t, &one)
		second.into(t, &two)
		list := s.commands(path)
		if len(list) != 2 || list[0].ID != one.ID || list[0].Description != "Plan it" || len(list[0].Options) != 1 || one.Version == two.Version {
			t.Errorf("commands %+v", list)
		}
		if (list[0].GuildID == guildID) != (path == guildCommands) {
			t.Errorf("guild %q", list[0].GuildID)
		}
		if a := s.call(http.MethodDelete, path+"/"+one.ID, nil); a.status != http.StatusNoContent || len(s.commands(path)) != 1 {
			t.Errorf("delete: %d %s", a.status, a.body)
		}
		wantRefusal(t, s.call(http.MethodDelete, path+"/"+one.ID, nil), http.StatusNotFound, 10063, "Unknown application command")
	}
}

func TestCommands_Put_DropsWhatItDoesNotName(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.call(http.MethodPost, commands, `{"name":"quest","description":"Plan"}`)
	before := s.commands(commands)
	a := s.call(http.MethodPut, commands, `[{"name":"poll-create","description":"x"},{"name":"unlink-group","description":"y"}]`)
	list := s.commands(commands)
	if a.status != http.StatusOK || len(list) != 2 || list[0].Name != "poll-create" || list[0].ID == list[1].ID {
		t.Errorf("answer %d %s, then %+v", a.status, a.body, list)
	}
	s.call(http.MethodPut, commands, `[{"name":"quest","description":"Plan"},{"name":"poll-create","description":"x"}]`)
	again := s.commands(commands)
	if again[0].ID == before[0].ID || again[1].ID != list[0].ID {
		t.Errorf("commands %+v, then %+v", list, again)
	}
	if a := s.call(http.MethodPut, commands, times(2, `{"name":"q","description":"x"}`)); a.status != http.StatusBadRequest {
		t.Errorf("two of one name: %d %s", a.status, a.body)
	}
}

func TestCommands_Limits(t *testing.T) {
	t.Parallel()
	s := start(t)
	large := `{"type":2,"name":"g","description":"d","options":` +
		times(10, `{"type":1,"name":"s","description":"`+strings.Repeat("d", 100)+`"}`) + `}`
	option := `{"type":3,"name":"o","description":"d"}`
	for _, row := range []struct{ name, path, body, at string }{
		{"no name", commands, `{"description":"d"}`, "name"},
		{"long name", commands, `{"name":"` + strings.Repeat("a", 33) + `","description":"d"}`, "name"},
		{"upper case", commands, `{"name":"Quest","description":"d"}`, "name"},
		{"blank in the name", commands, `{"name":"que st","description":"d"}`, "name"},
		{"no description", commands, `{"name":"n"}`, "description"},
		{"long description", commands, `{"name":"n","description":"` + strings.Repeat("d", 101) + `"}`, "description"},
		{"26 options", commands, `{"name":"n","description":"d","options":` + times(26, option) + `}`, "options"},
		{"a bad option", commands, `{"name":"n","description":"d","options":[{"type":1,"name":"O","description":"d"}]}`, "options"},
		{"contexts in a guild", guildCommands, `{"name":"n","description":"d","contexts":[0]}`, "contexts"},
		{"a user command", commands, `{"name":"n","description":"d","type":2}`, "type"},
		{"too many characters", commands, `{"name":"n","description":"d","options":` + times(8, large) + `}`, "name"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := wantRefusal(t, s.call(http.MethodPost, row.path, row.body), http.StatusBadRequest, 50035, "Invalid Form Body")
			if !strings.HasPrefix(string(r.Errors), `{"`+row.at+`":`) {
				t.Errorf("errors %s", r.Errors)
			}
		})
	}
}

func TestCommands_HundredAndOne_AreTooMany(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 100 {
		if a := s.call(http.MethodPost, commands, `{"name":"c`+strconv.Itoa(i)+`","description":"d"}`); a.status != http.StatusCreated {
			t.Fatalf("command %d: %d %s", i, a.status, a.body)
		}
	}
	a := s.call(http.MethodPost, commands, `{"name":"c100","description":"d"}`)
	wantRefusal(t, a, http.StatusBadRequest, 30032, "Maximum number of application commands reached (100)")
	if a := s.call(http.MethodPost, commands, `{"name":"c1","description":"e"}`); a.status != http.StatusOK {
		t.Errorf("an update of one: %d %s", a.status, a.body)
	}
}

func TestCommands_OtherApplicationOrGuild_IsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	wantRefusal(t, s.call(http.MethodGet, "/api/v10/applications/5/commands", nil), 404, 10002, "Unknown Application")
	wantRefusal(t, s.call(http.MethodGet, strings.Replace(guildCommands, guildID, "5", 1), nil), 403, 50001, "Missing Access")
}
