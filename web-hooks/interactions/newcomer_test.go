package interactions_test

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/web-hooks/interactions"
)

const (
	newUser = "3300000000000000044" // is linked to nobody
	newUID  = "discord:" + newUser
)

// newcomerDesk is a desk whose guild is named, and whose group opened its polls to its channel.
func newcomerDesk(t *testing.T, guilds ...string) *desk {
	t.Helper()
	d := newDesk(t, func(o *interactions.Options) { o.Links.Guilds = guilds })
	d.open(poll.JoinChannel)
	d.card(d.poll, worldtest.Channel)
	return d
}

// named is a user as Discord names them.
func named(id string) func(in map[string]any) {
	return func(in map[string]any) {
		in["member"] = map[string]any{"permissions": "0", "user": map[string]any{
			"id": id, "username": "Noa_1", "global_name": "Noa", "avatar": "a1",
		}}
	}
}

// asNew is a subcommand of the newcomer in the other channel, with permissions.
func (d *desk) asNew(name, permissions string, given map[string]string) map[string]any {
	in := d.quest(name, permissions, given)
	named(newUser)(in)
	in["member"].(map[string]any)["permissions"] = permissions //nolint:forcetypeassert // named made it
	return in
}

func (d *desk) votesAs(user string) (said string) {
	d.t.Helper()
	id, option := d.hashes()
	in := d.submitAs(user, id, []string{option})
	named(user)(in)
	return d.says(in)
}

// document is a document's fields; nil where there is none.
func (d *desk) document(path store.Path) map[string]any { return d.world.Document(path).Data }

// isNobody wants a user to be linked to nobody, and to have no profile.
func (d *desk) isNobody(user string) {
	d.t.Helper()
	link, profile := d.document(store.Doc("discordUserLinks", user)), d.document(store.Doc("users", "discord:"+user))
	if link != nil || profile != nil {
		d.t.Errorf("%s is linked by %v, with the profile %v", user, link, profile)
	}
}

func TestNewcomer_IsMadeByTheFirstVote(t *testing.T) {
	t.Parallel()
	for name, guild := range map[string]string{"a named guild": worldtest.Guild, "every guild": "*"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newcomerDesk(t, "1", guild)
			if said := d.says(d.asNew("me", "0", nil)); !strings.Contains(said, "no account yet") {
				t.Errorf("/quest me said %q", said)
			}
			if _, form := d.send(d.button("vote_btn:"+d.poll, named(newUser))); form.Kind != 9 {
				t.Fatalf("asked %+v", form)
			}
			d.isNobody(newUser) // nothing took effect yet
			if said := d.votesAs(newUser); !strings.Contains(said, "★") {
				t.Fatalf("said %q", said)
			}
			now := d.world.Clock.Now()
			got := []map[string]any{
				d.document(store.Doc("discordUserLinks", newUser)),
				d.document(store.Doc("users", newUID)), d.document(store.Doc("usersPublic", newUID)),
			}
			want := []map[string]any{
				{"qsUserId": newUID, "linkedAt": now},
				{"displayName": "Noa", "discord": map[string]any{
					"userId": newUser, "username": "Noa_1", "globalName": "Noa", "avatarHash": "a1", "linkedAt": now, "linkSource": "interaction",
				}},
				{"discordUsername": "Noa_1", "discordUsernameLower": "noa_1"},
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("stored is %v, want %v", got, want)
			}
			if part := d.partOf(t, newUID); !slices.Contains(part.participants, any(newUID)) || part.vote["voterId"] != newUID {
				t.Errorf("the part is %+v", part)
			}
			if said := d.says(d.asNew("me", "0", nil)); !strings.Contains(said, "account discord") {
				t.Errorf("then /quest me said %q", said)
			}
		})
	}
}

// Each row makes nobody.
func TestNewcomer_WhereNothingTakesEffect_IsNobody(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		guilds []string
		before func(d *desk)
		change func(in map[string]any)
		says   string
	}{
		"without named guilds":          {says: "not linked"},
		"in a guild that is not named":  {guilds: []string{"1"}, says: "not linked"},
		"in no guild":                   {guilds: []string{"*"}, change: func(in map[string]any) { delete(in, "guild_id") }, says: "not linked"},
		"from elsewhere":                {guilds: []string{"*"}, change: inChannel(worldtest.OtherChannel), says: "no such poll"},
		"from a guild of another group": {guilds: []string{"*"}, change: func(in map[string]any) { in["guild_id"] = "1" }, says: "no such poll"},
		"where members alone take part": {
			guilds: []string{"*"}, before: func(d *desk) { d.open(poll.JoinMembers) }, says: "no such poll",
		},
		"of changed times": {guilds: []string{"*"}, before: func(d *desk) {
			d.world.Edit(poll.SlotPath(d.poll, d.slots[0]), store.Set("start", "2026-03-10T09:00:00.000Z"))
		}, says: "times changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newcomerDesk(t, row.guilds...)
			id, option := d.hashes()
			in := d.submitAs(newUser, id, []string{option})
			if row.before != nil {
				row.before(d)
			}
			if row.change != nil {
				row.change(in)
			}
			if said := d.says(in); !strings.Contains(said, row.says) {
				t.Errorf("said %q, want %q", said, row.says)
			}
			d.isNobody(newUser)
			if d.partOf(t, newUID).vote != nil {
				t.Error("there is a vote")
			}
		})
	}
}

// By a code they are an earlier person from then on, and what they voted stays where it is.
func TestNewcomer_WhoLinksAnAccount_LeavesTheirVotes(t *testing.T) {
	t.Parallel()
	d := newcomerDesk(t, worldtest.Guild)
	d.votesAs(newUser)
	said := d.says(d.asNew("me-code", "0", nil))
	code := strings.Split(said, "**")[1]
	if _, err := d.options.Links.Link(t.Context(), "cho", code); err != nil {
		t.Fatal(err)
	}
	if link := d.document(store.Doc("discordUserLinks", newUser)); link["qsUserId"] != "cho" {
		t.Errorf("linked to %v", link)
	}
	if part := d.partOf(t, newUID); part.vote == nil || d.document(store.Doc("users", newUID))["discord"] != nil {
		t.Errorf("the earlier person has the part %+v", part)
	}
	if said := d.says(d.asNew("me", "0", nil)); !strings.Contains(said, "account cho") {
		t.Errorf("/quest me said %q", said)
	}
}

// A user who was linked since the form was opened acts as nobody else.
func TestNewcomer_WhoWasLinkedSince_ActsAsThatPerson(t *testing.T) {
	t.Parallel()
	d := newcomerDesk(t, worldtest.Guild)
	d.link(newUser, "cho")
	d.votesAs(newUser)
	if d.partOf(t, "cho").vote["source"] != "discord" || d.document(store.Doc("users", newUID)) != nil {
		t.Error("the vote is not cho's")
	}
}

// A guild makes 50 people a day. Others of it, and people who are known, go on.
func TestNewcomers_OfAGuild_AreFewADay(t *testing.T) {
	t.Parallel()
	d := newcomerDesk(t, worldtest.Guild)
	user := func(i int) string { return "33000000000000001" + strconv.Itoa(10+i) }
	for i := range 50 {
		if said := d.votesAs(user(i)); !strings.Contains(said, "★") {
			t.Fatalf("the %d. said %q", i+1, said)
		}
	}
	if said := d.votesAs(user(50)); !strings.Contains(said, "new today") {
		t.Errorf("the 51st said %q", said)
	}
	d.isNobody(user(50))
	if part := d.partOf(t, "discord:"+user(50)); part.vote != nil || slices.Contains(part.participants, any("discord:"+user(50))) {
		t.Errorf("the 51st has the part %+v", part)
	}
	if said := d.votesAs(user(7)); !strings.Contains(said, "★") {
		t.Errorf("one of them votes again and is told %q", said)
	}
	d.after(24 * time.Hour)
	if said := d.votesAs(user(50)); !strings.Contains(said, "★") {
		t.Errorf("a day later the 51st said %q", said)
	}
}

// Who manages a channel begins from nothing: a group of their own.
func TestNewcomer_WhoManagesAChannel_MakesAGroup(t *testing.T) {
	t.Parallel()
	d := newcomerDesk(t, worldtest.Guild)
	ask := func(permissions string) string {
		return d.says(d.asNew("link", permissions, map[string]string{"new": "The Raid"}))
	}
	if said := ask("0"); !strings.Contains(said, "manage this channel") {
		t.Errorf("said %q", said)
	}
	d.isNobody(newUser)
	if said := ask(manages); !strings.Contains(said, "The Raid") {
		t.Errorf("said %q", said)
	}
	groups, err := poll.GroupsOfChannel(t.Context(), d.world.Documents, otherChannel)
	if err != nil || len(groups) != 1 || groups[0].CreatorID != newUID {
		t.Errorf("the channel has %+v (%v)", groups, err)
	}
}
