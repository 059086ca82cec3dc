package interactions_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/interactions"
)

const (
	strangerUser = "3300000000000000002"
	guestUser    = "3300000000000000005"
)

// subcommand is a subcommand of /quest by a user, in the party's channel.
func (d *desk) subcommand(user, name, option, value string) map[string]any {
	return d.press(2, map[string]any{"name": "quest", "options": []any{map[string]any{"name": name, "type": 1, "options": []any{
		map[string]any{"name": option, "type": 3, "value": value},
	}}}}, asUser(user))
}

// typing is an autocompletion, as Discord sends one while a user types.
func (d *desk) typing(user, name, option, typed string) map[string]any {
	return d.press(4, map[string]any{"name": "quest", "options": []any{map[string]any{"name": name, "type": 1, "options": []any{
		map[string]any{"name": option, "type": 3, "value": typed, "focused": true},
	}}}}, asUser(user))
}

// offered are the names and values of an autocompletion's answer.
func (d *desk) offered(in map[string]any) (names, values []string) {
	d.t.Helper()
	status, answer := d.send(in)
	if status != 200 || answer.Kind != 8 || answer.Data.Choices == nil {
		d.t.Fatalf("answered %d %+v, want choices", status, answer)
	}
	for _, choice := range *answer.Data.Choices {
		names, values = append(names, choice.Name), append(values, choice.Value)
		if longer(choice.Name, 100) || choice.Name == "" || len(choice.Value) > 100 || choice.Value == "" {
			d.t.Errorf("a choice is %+v", choice)
		}
	}
	return names, values
}

// titled makes a poll of gm, of the party unless ask says otherwise, later than those before.
func (d *desk) titled(title string, ask scheduler.Create) string {
	d.t.Helper()
	d.after(time.Second)
	ask.Title = title
	if ask.GroupID == "" {
		ask.GroupID = d.world.View(d.poll).Poll.GroupID
	}
	id, _ := d.world.PollOf("gm", ask)
	return id
}

func TestAutocomplete_OffersTheChannelsPolls_NewestFirst(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	tower := d.titled("The Glass <Tower> @everyone", scheduler.Create{})
	archived := d.titled("The old one", scheduler.Create{})
	d.world.Edit(poll.Path(archived), store.Set("status", "ARCHIVED"))
	d.world.Edit(poll.Path(d.poll), store.Set("status", "CANCELLED"))
	names, values := d.offered(d.typing(anaUser, "who", "poll", ""))
	if want := []string{"The Glass <Tower> @everyone (open)", "Session nine (cancelled)"}; !slices.Equal(names, want) {
		t.Errorf("offers %q, want %q", names, want)
	}
	if want := []string{tower, d.poll}; !slices.Equal(values, want) {
		t.Errorf("offers %q, want %q", values, want)
	}
	if _, values := d.offered(d.typing(anaUser, "who", "poll", " gLASS ")); !slices.Equal(values, []string{tower}) {
		t.Errorf("for a part of a title it offers %q", values)
	}
	d.world.Edit(poll.Path(tower), store.Set("title", strings.Repeat("Ö", 200)))
	d.world.Edit(poll.Path(d.poll), store.Set("title", " "))
	d.offered(d.typing(anaUser, "who", "poll", ""))
}

// A list holds at most 25.
func TestAutocomplete_OffersNoMoreThanDiscordTakes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for i := range 30 {
		d.write(store.Doc("schedulers", fmt.Sprintf("00000000-0000-4000-8000-%012d", i)), store.Set("title", "x"), store.Set("creatorId", "gm"),
			store.Set("status", "OPEN"), store.Set("createdAt", d.world.Clock.Now()),
			store.Set("questingGroupId", d.world.View(d.poll).Poll.GroupID))
	}
	if names, _ := d.offered(d.typing(anaUser, "who", "poll", "")); len(names) != 25 {
		t.Errorf("offers %d", len(names))
	}
}

// A keystroke reads no more polls of many groups than of one.
func TestPollsHere_OfManyGroups_AreNoMoreThanOfOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for i := range 30 {
		group := fmt.Sprintf("group-%d", i)
		d.write(poll.GroupPath(group), store.Set("creatorId", "ana"), store.Set("memberIds", []any{"ana"}),
			store.Set("discord", map[string]any{"guildId": worldtest.Guild, "channelId": otherChannel}))
		for j := range 4 {
			d.write(poll.Path(fmt.Sprintf("%s-%d", group, j)), store.Set("creatorId", "ana"), store.Set("questingGroupId", group),
				store.Set("createdAt", d.world.Clock.Now()))
		}
	}
	polls, err := d.world.Scheduler.PollsHere(t.Context(), worldtest.Person("ana"), scheduler.Place{GuildID: worldtest.Guild})
	of := map[string]bool{}
	for _, p := range polls {
		of[p.GroupID] = true
	}
	if err != nil || len(polls) > 50 || len(of) != 20 {
		t.Errorf("it reads %d polls of %d groups, %v", len(polls), len(of), err)
	}
}

// One is offered what one could find over the API, and nothing besides.
func TestAutocomplete_OffersWhatOneMaySee(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.link(strangerUser, "stranger")
	d.link(guestUser, "dana")
	shared := d.titled("For dana", scheduler.Create{ParticipantIDs: []string{"dana"}})
	d.world.Edit(poll.Path(shared), store.Set("allowLinkSharing", true))
	name := "The others"
	other, err := d.world.Scheduler.CreateGroup(t.Context(), worldtest.Person("gm"), scheduler.EditGroup{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	d.write(poll.GroupPath(other.ID), store.Set("discord", map[string]any{"guildId": "4400000000000000001", "channelId": otherChannel}))
	elsewhere := d.titled("In another guild", scheduler.Create{GroupID: other.ID})
	in := func(channel string, in map[string]any) map[string]any {
		in["channel_id"] = channel
		return in
	}
	thread := func(in map[string]any) map[string]any {
		in["channel_id"], in["channel"] = "4400000000000000777", map[string]any{"parent_id": worldtest.Channel}
		return in
	}
	for name, row := range map[string]struct {
		in   map[string]any
		want []string
	}{
		"to a member":                          {d.typing(anaUser, "who", "poll", ""), []string{shared, d.poll}},
		"to a participant":                     {d.typing(guestUser, "who", "poll", ""), []string{shared}},
		"to a stranger":                        {d.typing(strangerUser, "who", "poll", ""), nil},
		"to somebody who is not linked":        {d.typing("3300000000000000077", "who", "poll", ""), nil},
		"to the creator":                       {d.typing(gmUser, "manage", "poll", ""), []string{shared, d.poll}},
		"to a member, of what they created":    {d.typing(anaUser, "manage", "poll", ""), nil},
		"in a thread":                          {thread(d.typing(guestUser, "who", "poll", "")), []string{shared}},
		"in a channel of no group":             {in("4400000000000000888", d.typing(anaUser, "who", "poll", "")), []string{shared, d.poll}},
		"in a channel of no group, a stranger": {in("4400000000000000888", d.typing(strangerUser, "who", "poll", "")), nil},
		"in a channel of another guild":        {in(otherChannel, d.typing(gmUser, "who", "poll", "")), []string{shared, d.poll}},
		"for no option":                        {d.typing(gmUser, "who", "zone", ""), nil},
	} {
		if _, got := d.offered(row.in); !slices.Equal(got, row.want) {
			t.Errorf("%s: offers %q, want %q", name, got, row.want)
		}
	}
	outside := d.typing(gmUser, "who", "poll", "")
	delete(outside, "guild_id")
	if _, got := d.offered(outside); got != nil {
		t.Errorf("outside of guilds: offers %q", got)
	}
	if said := d.says(d.subcommand(gmUser, "who", "poll", elsewhere)); !strings.Contains(said, "another server") {
		t.Errorf("of another guild's poll it said %q", said)
	}
}

func TestAutocomplete_OfAGroup_OffersThoseThatOneCreated(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	group := d.world.View(d.poll).Poll.GroupID
	names, values := d.offered(d.typing(gmUser, "link", "group", "part"))
	if !slices.Equal(values, []string{group}) || !slices.Equal(names, []string{"The party"}) {
		t.Errorf("the creator is offered %q", names)
	}
	if names, _ := d.offered(d.typing(anaUser, "link", "group", "")); names != nil {
		t.Errorf("a member is offered %q", names)
	}
}

// A stranger who invites somebody into many groups hides none of theirs.
func TestGroups_ThatStrangersInviteTo_HideNone(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	for i := range 100 {
		d.write(poll.GroupPath(fmt.Sprintf("0-%d", i)), store.Set("creatorId", "stranger"), store.Set("pendingMemberIds", []any{"gm"}))
	}
	if names, _ := d.offered(d.typing(gmUser, "link", "group", "")); !slices.Equal(names, []string{"The party"}) {
		t.Errorf("the creator is offered %q", names)
	}
	if _, answer := d.send(d.subcommand(gmUser, "poll", "title", "x")); answer.Kind != 9 {
		t.Errorf("/quest poll answers %+v", answer)
	}
}

// An autocompletion cannot say why it fails; it offers nothing.
func TestAutocomplete_ThatFails_OffersNothing(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(o *interactions.Options){
		"by a store that is away": func(o *interactions.Options) {
			o.Polls = noPolls{o.Polls, fault.Wrap(fault.Unavailable, errors.New("away"), "The store is away.")}
		},
		"by a fault of the program": func(o *interactions.Options) { o.Polls = noPolls{o.Polls, errors.New("a bug")} },
		"by a user who types too often": func(o *interactions.Options) {
			o.LimitUser = func(_ echo.Context, user string) error {
				if user == "autocomplete:"+anaUser {
					return fault.New(fault.RateLimited, "Wait.")
				}
				return nil
			}
		},
	} {
		d := newDesk(t, set)
		if names, _ := d.offered(d.typing(anaUser, "who", "poll", "")); names != nil {
			t.Errorf("%s: offers %q", name, names)
		}
		if said := d.says(d.button("qs:who:" + d.poll)); !strings.Contains(said, "voted") {
			t.Errorf("%s: a press said %q", name, said)
		}
	}
}

// noPolls lists none.
type noPolls struct {
	interactions.Polls
	err error
}

func (n noPolls) PollsHere(context.Context, scheduler.Person, scheduler.Place) ([]poll.Poll, error) {
	return nil, n.err
}

// A poll is chosen by its id, or by what tells its title from others; without either it is the
// open one.
func TestQuestWho_FindsThePoll(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	wants := func(option, value, want string) {
		t.Helper()
		if said := d.says(d.subcommand(anaUser, "who", option, value)); !strings.Contains(said, want) {
			t.Errorf("%q: said %q, want %q", value, said, want)
		}
	}
	wants("poll", "", "3 of 4 have voted")
	tower := d.titled("Session ten", scheduler.Create{ParticipantIDs: []string{}})
	wants("poll", "", "Several polls fit")
	wants("poll", "Session", "Several polls fit")
	wants("poll", "session NINE", "3 of 4 have voted")
	wants("poll", "ten", "0 of 3 have voted")
	wants("poll", tower, "0 of 3 have voted")
	wants("poll", "eleven", "No poll of yours")
	wants("poll", d.poll[:35]+"x", "No poll of yours")
	d.titled("Session", scheduler.Create{})
	wants("poll", "session", "3 of 4 have voted") // the whole title counts before a part
	d.link(strangerUser, "stranger")
	for _, named := range []string{"Session nine", "", d.poll} {
		said := d.says(d.subcommand(strangerUser, "who", "poll", named))
		if !strings.Contains(said, "No poll of yours") && !strings.Contains(said, "no such poll") {
			t.Errorf("a stranger asks of %q: said %q", named, said)
		}
	}
	if said := d.says(d.subcommand("3300000000000000077", "who", "poll", "")); !strings.Contains(said, "not linked") {
		t.Errorf("who is not linked: said %q", said)
	}
}

func TestQuestManage_OffersWhatTheMenuDoes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	_, byButton := d.send(d.button("qs:menu:"+d.poll, byGM))
	for _, named := range []string{"", "nine", d.poll} {
		if _, answer := d.send(d.subcommand(gmUser, "manage", "poll", named)); !reflect.DeepEqual(answer, byButton) {
			t.Errorf("%q: answered %+v, want %+v", named, answer, byButton)
		}
	}
	if said := d.says(d.subcommand(anaUser, "manage", "poll", "")); !strings.Contains(said, "No poll of yours") {
		t.Errorf("a member was told %q", said)
	}
	if said := d.says(d.subcommand(anaUser, "manage", "poll", d.poll)); !strings.Contains(said, "Only the creator") {
		t.Errorf("a member was told %q", said)
	}
}
