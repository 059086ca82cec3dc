package interactions_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// openDesk is a desk whose group opened its polls to its channel, where the poll has a card. eve is
// linked, and belongs to nothing.
func openDesk(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t, nil)
	d.link(eveUser, "eve")
	d.open(poll.JoinChannel)
	d.card(d.poll, worldtest.Channel)
	return d
}

// open has gm say who takes part from the channel of the party.
func (d *desk) open(to string) {
	d.t.Helper()
	group := d.world.View(d.poll).Poll.GroupID
	if _, err := d.world.Scheduler.UpdateGroup(d.t.Context(), worldtest.Person("gm"), group, scheduler.EditGroup{Join: &to}); err != nil {
		d.t.Fatal(err)
	}
}

// card has a poll's card stand in a channel.
func (d *desk) card(pollID, channel string) {
	d.world.Edit(poll.Path(pollID), store.Set("discord", map[string]any{"messageId": "77", "channelId": channel}))
}

// votesAsEve has eve submit the form, as ana gets it.
func (d *desk) votesAsEve(set ...func(in map[string]any)) (said string) {
	d.t.Helper()
	id, option := d.hashes()
	in := d.submitAs(eveUser, id, []string{option})
	for _, change := range set {
		change(in)
	}
	return d.says(in)
}

func inChannel(id string) func(in map[string]any) {
	return func(in map[string]any) { in["channel_id"] = id }
}

func TestVote_FromAnOpenChannel_TakesPartInThePollAlone(t *testing.T) {
	t.Parallel()
	d := openDesk(t)
	_, form := d.send(d.button("vote_btn:"+d.poll, asUser(eveUser)))
	if form.Kind != 9 || form.Data.Title != "Join and vote: Session nine" {
		t.Fatalf("eve is asked %+v", form)
	}
	before := d.world.View(d.poll).Slots[0].Preferred
	if said := d.votesAsEve(); !strings.Contains(said, "★") {
		t.Errorf("eve was told %q", said)
	}
	part := d.partOf(t, "eve")
	view := d.world.View(d.poll)
	if !slices.Contains(part.participants, any("eve")) || !slices.Contains(part.joined, any("eve")) ||
		slices.Contains(part.named, any("eve")) ||
		part.vote["source"] != "discord" || view.Slots[0].Preferred != before+1 {
		t.Errorf("stored is %+v, the slot counts %d", part, view.Slots[0].Preferred)
	}
	if group := view.Group; group.Has("eve") || group.Invites("eve") || slices.Contains(group.AcceptedIDs, "eve") {
		t.Errorf("eve is in the group: %+v", group)
	}
	consented, err := poll.Consented(t.Context(), d.world.Documents, view.Poll, view.Group, []string{"eve"})
	if err != nil || !consented["eve"] {
		t.Errorf("eve, who pressed, consented: %t (%v)", consented["eve"], err)
	}
	if said := d.says(d.button("qs:who:"+d.poll, asUser(eveUser))); !strings.Contains(said, "4 of 5") {
		t.Errorf("who is missing says %q", said)
	}
}

func TestVote_FromAnOpenChannel_ThatComesAgain_TakesEffectOnce(t *testing.T) {
	t.Parallel()
	d := openDesk(t)
	id, option := d.hashes()
	in := d.submitAs(eveUser, id, []string{option})
	d.says(in)
	if said := d.says(in); said != "Done already." {
		t.Errorf("said %q", said)
	}
	if people := d.world.View(d.poll).Poll.ParticipantIDs; !slices.Equal(people, []string{"gm", "ana", "ben", "cho", "eve"}) {
		t.Errorf("participants are %q", people)
	}
}

// Each row is a way of eve, whom nothing but the channel lets in, that is none.
func TestVote_OfAStranger_ElsewhereThanFromTheOpenChannel_WritesNothing(t *testing.T) {
	t.Parallel()
	const another, thread = "4400000000000000001", "4400000000000000002"
	for name, row := range map[string]struct {
		before func(d *desk)
		change func(in map[string]any)
		says   string // "" for that there is no such poll
	}{
		"where members alone take part": {before: func(d *desk) { d.open(poll.JoinMembers) }},
		"from another guild":            {change: func(in map[string]any) { in["guild_id"] = another }},
		"from no guild":                 {change: func(in map[string]any) { delete(in, "guild_id") }},
		"from another channel":          {change: inChannel(worldtest.OtherChannel)},
		"from no channel":               {change: func(in map[string]any) { delete(in, "channel_id") }},
		"from a thread of the channel": {change: func(in map[string]any) {
			in["channel_id"], in["channel"] = thread, map[string]any{"name": "thread", "parent_id": worldtest.Channel}
		}},
		"of a poll without a card":                   {before: func(d *desk) { d.world.Edit(poll.Path(d.poll), store.Set("discord", nil)) }},
		"of a poll whose card is in another channel": {before: func(d *desk) { d.card(d.poll, worldtest.OtherChannel) }},
		"from the channel that the group left, where an old card is": {
			before: func(d *desk) { d.card(d.poll, worldtest.OtherChannel) }, change: inChannel(worldtest.OtherChannel),
		},
		"of a poll that left the group": {
			before: func(d *desk) { d.world.Edit(poll.Path(d.poll), store.Set("questingGroupId", nil)) },
		},
		"of another group's poll": {before: func(d *desk) {
			name := "The others"
			group, err := d.world.Scheduler.CreateGroup(d.t.Context(), worldtest.Person("gm"), scheduler.EditGroup{Name: &name})
			if err != nil {
				d.t.Fatal(err)
			}
			d.world.Edit(poll.GroupPath(group.ID), store.Set("discord", map[string]any{
				"guildId": worldtest.Guild, "channelId": worldtest.Channel,
			}))
			d.world.Edit(poll.Path(d.poll), store.Set("questingGroupId", group.ID))
		}},
		"after the channel was taken from the group": {before: func(d *desk) {
			if _, err := d.world.Scheduler.UnlinkChannel(d.t.Context(), scheduler.Place{
				GuildID: worldtest.Guild, ChannelID: worldtest.Channel,
			}); err != nil {
				d.t.Fatal(err)
			}
		}},
		"after it was finalised": {before: func(d *desk) {
			if _, err := d.world.Finalise(d.poll, d.slots[0]); err != nil {
				d.t.Fatal(err)
			}
		}, says: "open"},
		"of a full poll": {before: func(d *desk) {
			people := []any{"gm"}
			for i := range 499 {
				people = append(people, fmt.Sprint("p", i))
			}
			d.world.Edit(poll.Path(d.poll), store.Set("participantIds", people))
		}, says: "full"},
		"after others came and went in numbers": {before: func(d *desk) {
			d.write(poll.AnnouncementPath(d.poll), poll.EnteredUpdates(d.poll, slices.Repeat([]string{"x"}, poll.MostEntered))...)
		}, says: "any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t)
			id, option := d.hashes()
			if row.before != nil {
				row.before(d)
			}
			before := d.partOf(t, "eve")
			in := d.submitAs(eveUser, id, []string{option})
			press := d.button("vote_btn:"+d.poll, asUser(eveUser))
			if row.change != nil {
				row.change(in)
				row.change(press)
			}
			if said := d.says(in); !strings.Contains(said, row.says) || row.says == "" && !strings.Contains(said, "no such poll") {
				t.Errorf("the form said %q", said)
			}
			if _, answer := d.send(press); row.says == "" && !strings.Contains(answer.Data.Content, "no such poll") {
				t.Errorf("the button said %+v", answer)
			}
			if after := d.partOf(t, "eve"); !reflect.DeepEqual(after, before) || after.vote != nil {
				t.Errorf("stored is %+v, was %+v", after, before)
			}
		})
	}
}

// Whom the host removed, a press does not bring back; the host does.
func TestVote_AfterTheHostRemovedThem_TakesTheHost(t *testing.T) {
	t.Parallel()
	edit := func(d *desk, people ...string) {
		d.t.Helper()
		_, err := d.world.Scheduler.Edit(d.t.Context(), worldtest.Person("gm"), d.poll,
			scheduler.Edit{ParticipantIDs: &people}, worldtest.Cause)
		if err != nil {
			d.t.Fatal(err)
		}
	}
	inTheApp := func(d *desk) { // with their vote, and before the server sees it
		d.world.Remove(poll.VotePath(d.poll, "eve"))
		d.world.Edit(poll.Path(d.poll), store.Set("participantIds", []any{"gm"}))
	}
	for name, row := range map[string]struct{ comes, goes func(d *desk) }{
		"over the API": {func(d *desk) { d.votesAsEve() }, func(d *desk) { edit(d, "gm") }},
		"in the app":   {func(d *desk) { d.votesAsEve() }, inTheApp},
		"who left over the API": {func(d *desk) { d.votesAsEve() }, func(d *desk) {
			if err := d.world.Scheduler.Leave(d.t.Context(), scheduler.Person{ID: "eve"}, d.poll, worldtest.Cause); err != nil {
				d.t.Fatal(err)
			}
		}},
		"who had never voted":      {func(d *desk) { edit(d, "gm", "eve") }, func(d *desk) { edit(d, "gm") }},
		"whom the host had named":  {func(d *desk) { edit(d, "gm", "eve"); d.votesAsEve() }, inTheApp},
		"from the group, by votes": {func(d *desk) { d.member(true); d.votesAsEve() }, func(d *desk) { d.member(false) }},
		"and others voted since": {func(d *desk) { d.votesAsEve() }, func(d *desk) {
			inTheApp(d)
			id, option := d.hashes()
			d.says(d.submitAs(anaUser, id, []string{option}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDesk(t)
			row.comes(d)
			row.goes(d)
			before := d.partOf(t, "eve")
			if said := d.says(d.button("vote_btn:"+d.poll, asUser(eveUser))); !strings.Contains(said, "any more") {
				t.Errorf("the button said %q", said)
			}
			if said := d.votesAsEve(); !strings.Contains(said, "any more") {
				t.Errorf("the form said %q", said)
			}
			if after := d.partOf(t, "eve"); !reflect.DeepEqual(after, before) {
				t.Errorf("stored is %+v, was %+v", after, before)
			}
			edit(d, "gm", "eve")
			if said := d.votesAsEve(); !strings.Contains(said, "★") {
				t.Errorf("once the host brought them back, the form said %q", said)
			}
		})
	}
}

// member has eve belong to the group of the poll, or not.
func (d *desk) member(is bool) {
	members := []any{"gm", "ana", "ben"}
	if is {
		members = append(members, "eve")
	}
	d.world.Edit(poll.GroupPath(d.world.View(d.poll).Poll.GroupID), store.Set("memberIds", members))
}

// An invitation is accepted, and not left behind, by a press in an open channel.
func TestVote_BySomebodyInvited_FromAnOpenChannel_Accepts(t *testing.T) {
	t.Parallel()
	d := invitedDesk(t, verified)
	d.open(poll.JoinChannel)
	d.card(d.poll, worldtest.Channel)
	d.votesAsEve()
	if part := d.partOf(t, "eve"); len(part.invites) != 1 || !slices.Contains(part.participants, any("eve")) {
		t.Errorf("stored is %+v", part)
	}
}

func TestVote_OfNothing_ByAStranger_TakesNoPart(t *testing.T) {
	t.Parallel()
	d := openDesk(t)
	id, _ := d.hashes()
	if said := d.says(d.submitAs(eveUser, id, nil)); !strings.Contains(said, "a time") {
		t.Errorf("eve was told %q", said)
	}
	if part := d.partOf(t, "eve"); slices.Contains(part.participants, any("eve")) || part.vote != nil {
		t.Errorf("stored is %+v", part)
	}
}

// Codes are short, and typed where others read them.
func TestLinkGroup_ByACodeInAnotherServer_ClosesThePollsToItsChannel(t *testing.T) {
	t.Parallel()
	d := openDesk(t)
	group := d.world.View(d.poll).Poll.GroupID
	in := d.appCommand("link-group", manages, d.codeOf("gm"))
	in["guild_id"] = "4400000000000000999"
	in["member"] = map[string]any{"user": map[string]any{"id": "3300000000000000666"}, "permissions": manages}
	d.says(in)
	if now := d.discordOf(group); now["guildId"] != "4400000000000000999" || now["join"] == poll.JoinChannel {
		t.Errorf("the group's channel is %v", now)
	}
}
