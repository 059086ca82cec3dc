package discord_test

import (
	"net/http"
	"testing"

	"questscheduler/demo/sim/discord"
)

func TestGuild_Get_NamesItsRoles(t *testing.T) {
	t.Parallel()
	s := start(t)
	if err := s.AddGuild(guildID, "Party", discord.Role{ID: roleID, Name: "players", Mentionable: true}); err != nil {
		t.Fatal(err)
	}
	guild, err := s.session().Guild(guildID)
	if err != nil {
		t.Fatal(err)
	}
	if guild.Name != "Party" || len(guild.Roles) != 2 {
		t.Fatalf("the guild is %+v", guild)
	}
	if everyone := guild.Roles[0]; everyone.ID != guildID || everyone.Name != "@everyone" || everyone.Mentionable {
		t.Errorf("the role of everyone is %+v", everyone)
	}
	if role := guild.Roles[1]; role.ID != roleID || role.Name != "players" || !role.Mentionable {
		t.Errorf("the role is %+v", role)
	}
	wantRefusal(t, s.call(http.MethodGet, "/api/v9/guilds/700000000000000099", nil), http.StatusNotFound, 10004, "Unknown Guild")
}
