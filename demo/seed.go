package demo

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"questscheduler/demo/sim/discord"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
	discordlinks "questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

// Admin is the person who operates the demo.
const Admin = "admin"

// The party's guild with its channel and the role that is notified, and the first of its users.
const (
	GuildID   = "410000000000000001"
	ChannelID = "410000000000000002"
	RoleID    = "410000000000000003"
	firstUser = uint64(410000000000000010)
)

// Members are the party: a game master and three players.
var Members = []string{"gm", "ana", "ben", "cho"}

// tokensLast is how long bearer tokens last.
const tokensLast = 30 * 24 * time.Hour

// second is the game master's second Google account.
const second = "gm-second"

// spares are Google accounts that nobody has linked yet.
var spares = []string{"spare", "spare2", "spare3"}

// seed fills a new world by the commands that people use.
func (d *Demo) seed(ctx context.Context) error {
	steps := []func(context.Context) error{d.seedPeople, d.seedDiscord, d.seedLinks, d.seedGroup, d.seedPolls, d.program.AwaitIdle}
	if d.place.PeopleOnly {
		steps = []func(context.Context) error{d.seedPeople, d.seedDiscord}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.world.Seeded = true
	return d.world.save(d.place.Dir)
}

// seedPeople gives each member of the party a linked Google account and a token.
func (d *Demo) seedPeople(ctx context.Context) error {
	for _, name := range Members {
		linked, err := d.seedLinked(ctx, name, name)
		if err != nil {
			return err
		}
		token, err := d.program.Issuer.Issue(signin.Person{UID: name, Email: linked.Email, EmailVerified: true, Name: name}, tokensLast)
		if err != nil {
			return err
		}
		d.world.Users[name] = User{ID: name, Token: token, AccountID: linked.AccountID, Account: linked.Account}
	}
	linked, err := d.seedLinked(ctx, "gm", second)
	if err != nil {
		return err
	}
	gm := d.world.Users["gm"]
	gm.Second = &linked
	d.world.Users["gm"] = gm
	for _, name := range spares {
		account, err := d.seedAccount(name)
		if err != nil {
			return err
		}
		d.world.Spares = append(d.world.Spares, account)
	}
	d.world.AdminToken, err = d.program.Issuer.Issue(signin.Person{UID: Admin, Name: "Admin"}, tokensLast)
	return err
}

// seedLinked links a Google account of that name, with all scopes, to a person. The
// server has a grant of its own beside that of the printed token: the page can revoke
// it and still show the calendar.
func (d *Demo) seedLinked(ctx context.Context, person, name string) (Linked, error) {
	account, err := d.seedAccount(name)
	if err != nil {
		return Linked{}, err
	}
	grant, err := d.sims.Google.NewGrant(name)
	if err != nil {
		return Linked{}, err
	}
	who := accounts.Identity{Provider: accounts.Google, Sub: "sub-" + name, Email: account.Email}
	linked, err := d.program.Accounts.Link(ctx, person, who, grant.RefreshToken, grant.Scopes)
	return Linked{AccountID: linked.ID, Account: account}, err
}

func (d *Demo) seedAccount(name string) (Account, error) {
	email := name + "@party.example"
	grant, err := d.sims.Google.AddUser(google.User{Key: name, Sub: "sub-" + name, Email: email, TimeZone: "Europe/Berlin"})
	return Account{Email: email, GoogleToken: grant.AccessToken, CalendarID: email}, err
}

func (d *Demo) seedDiscord(context.Context) error {
	d.world.DiscordChannel = ChannelID
	return errors.Join(
		d.sims.Discord.AddGuild(GuildID, "The Party", discord.Role{ID: RoleID, Name: "Adventurers", Mentionable: true}),
		d.sims.Discord.AddChannel(discord.Channel{ID: ChannelID, GuildID: GuildID, Name: "sessions"}),
	)
}

// seedLinks links each member of the party to their user of Discord, as people do by a code.
func (d *Demo) seedLinks(ctx context.Context) error {
	links := d.program.Links
	for i, name := range Members {
		user := d.world.Users[name]
		user.DiscordUserID = strconv.FormatUint(firstUser+uint64(i), 10)
		code, _, err := links.Issue(ctx, discordlinks.User{ID: user.DiscordUserID, Username: name}, "seed-"+name)
		if err == nil {
			_, err = links.Link(ctx, user.ID, code)
		}
		if err != nil {
			return err
		}
		d.world.Users[name] = user
	}
	return nil
}

// seedGroup creates the party's group, with all its members and its channel.
func (d *Demo) seedGroup(ctx context.Context) error {
	name := "The Party"
	group, err := d.program.Scheduler.CreateGroup(ctx, d.person("gm"), scheduler.EditGroup{Name: &name, MemberIDs: Members})
	if err != nil {
		return err
	}
	d.world.GroupID = group.ID
	for _, player := range Members[1:] {
		if _, err := d.program.Scheduler.AcceptGroup(ctx, d.person(player), group.ID); err != nil {
			return err
		}
	}
	channel := poll.GroupDiscord{GuildID: GuildID, ChannelID: ChannelID, NotifyRoleID: RoleID}
	admin := scheduler.Person{ID: Admin, Admin: true}
	_, err = d.program.Scheduler.UpdateGroup(ctx, admin, group.ID, scheduler.EditGroup{Discord: &channel})
	return err
}

// seedPolls creates three polls with votes: an open one, a finalised one without an
// event, and one that follows a calendar event.
func (d *Demo) seedPolls(ctx context.Context) error {
	cause := scheduler.Cause{Trigger: "seed", Trace: d.program.NewTrace()}
	if _, err := d.seedPoll(ctx, "open", "Session 12: The Sunken Keep", 7, cause); err != nil {
		return err
	}
	finalized, err := d.seedPoll(ctx, "finalized", "Session 10: A Quiet Tavern", 3, cause)
	if err != nil {
		return err
	}
	if _, err := d.program.Scheduler.Finalise(
		ctx, d.person("gm"), finalized.Poll.ID, scheduler.Finalise{SlotID: finalized.Slots[0].ID}, cause,
	); err != nil {
		return err
	}
	if err := d.program.AwaitIdle(ctx); err != nil { // the channel's newest card is the next one
		return err
	}
	linked, err := d.seedPoll(ctx, "linked", "Session 11: The Long Road", 5, cause)
	if err != nil {
		return err
	}
	ask := scheduler.Finalise{SlotID: linked.Slots[0].ID, CreateEvent: true}
	view, err := d.program.Scheduler.Finalise(ctx, d.person("gm"), linked.Poll.ID, ask, cause)
	if err == nil && view.Poll.GoogleEventID == "" {
		return fmt.Errorf("poll %s is not linked", linked.Poll.ID)
	}
	return err
}

// seedPoll creates a poll of the party with three evenings, the first of them so
// many days ahead, for which everybody votes; in the open one the game master has yet to.
func (d *Demo) seedPoll(ctx context.Context, key, title string, days int, cause scheduler.Cause) (scheduler.View, error) {
	first := d.place.Clock.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, days).Add(18 * time.Hour)
	ask := scheduler.Create{
		Title: title, Description: "Bring dice.", Timezone: "Europe/Berlin",
		ParticipantIDs: Members, GroupID: d.world.GroupID,
	}
	for i := range 3 {
		start := first.AddDate(0, 0, i)
		ask.Slots = append(ask.Slots, scheduler.Times{Start: start, End: start.Add(4 * time.Hour)})
	}
	view, err := d.program.Scheduler.Create(ctx, d.person("gm"), ask, cause)
	if err != nil {
		return view, err
	}
	d.world.Polls[key] = view.Poll.ID
	// The card is drawn before anybody votes: a card whose poll keeps changing is given up.
	if err := d.program.AwaitIdle(ctx); err != nil {
		return view, err
	}
	voters := Members
	if key == "open" {
		voters = Members[1:]
	}
	for i, name := range voters {
		choices := map[string]string{view.Slots[0].ID: poll.Feasible, view.Slots[i%len(view.Slots)].ID: poll.Preferred}
		if _, err := d.program.Scheduler.Vote(ctx, d.person(name), view.Poll.ID, scheduler.Vote{Choices: choices}, cause); err != nil {
			return view, err
		}
	}
	return view, d.program.AwaitIdle(ctx)
}

func (d *Demo) person(name string) scheduler.Person {
	return scheduler.Person{ID: name, Email: name + "@party.example"}
}
