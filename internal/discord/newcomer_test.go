package discord_test

import (
	"context"
	"strconv"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/store"
)

const guild = "700000000000000001"

// make makes a user's person, if it may.
func (l *links) make(user discord.User, in string) error {
	return l.Store.Run(l.t.Context(), func(ctx context.Context, tx store.Tx) error { return l.Make(ctx, tx, user, in) })
}

func TestMake_Again_CountsOnce(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	l.Guilds = []string{guild}
	noa := discord.User{ID: "33", Username: "Noa"}
	for range 60 {
		if err := l.make(noa, guild); err != nil {
			t.Fatal(err)
		}
	}
	if person, err := l.PersonIn(t.Context(), noa, "another"); err != nil || person.UID != "discord:33" || person.New {
		t.Errorf("then noa is %+v (%v), in another guild too", person, err)
	}
	for i := range 49 {
		if err := l.make(discord.User{ID: strconv.Itoa(100 + i)}, guild); err != nil {
			t.Fatal(err)
		}
	}
	l.kind(l.make(discord.User{ID: "200"}, guild), fault.RateLimited)
}

func TestMake_OfSomebodyLinkedSince_IsAConflict(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	l.Guilds = []string{discord.AllGuilds}
	noa := discord.User{ID: "33", Username: "Noa"}
	if _, err := l.Link(t.Context(), "ana", l.issue(noa)); err != nil {
		t.Fatal(err)
	}
	l.kind(l.make(noa, guild), fault.Conflict)
	if l.data("discordUserLinks", "33")["qsUserId"] != "ana" || l.data("users", "discord:33") != nil {
		t.Error("the link moved")
	}
}

func TestMake_InAGuildThatIsNotNamed_MakesNobody(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	l.Guilds = []string{guild}
	for _, in := range []string{"", "*", "7"} {
		l.kind(l.make(discord.User{ID: "33"}, in), fault.NotFound)
		if _, err := l.PersonIn(t.Context(), discord.User{ID: "33"}, in); fault.CodeOf(err) != discord.CodeNotLinked {
			t.Errorf("in %q: %v", in, err)
		}
	}
}

// What names no user of Discord makes no path of anybody else's.
func TestPersonIn_OfNoUser_IsNobody(t *testing.T) {
	t.Parallel()
	l := newLinks(t)
	l.Guilds = []string{discord.AllGuilds}
	for _, id := range []string{"ana", "33a", "-1"} {
		if _, err := l.PersonIn(t.Context(), discord.User{ID: id}, guild); fault.CodeOf(err) != discord.CodeNotLinked {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := l.PersonIn(t.Context(), discord.User{ID: "33"}, ""); fault.CodeOf(err) != discord.CodeNotLinked {
		t.Errorf("in no guild: %v", err)
	}
}
