package interactions_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/interactions"
)

const eveUser = "3300000000000000011"

// invitedDesk is a desk whose poll invites eve@example.com, and where eve, who belongs to nothing,
// is linked. Somebody named dan to take part in it.
func invitedDesk(t *testing.T, emailOf func(ctx context.Context, uid string) (string, error)) *desk {
	t.Helper()
	d := newDesk(t, func(o *interactions.Options) { o.EmailOf = emailOf })
	d.link(eveUser, "eve")
	d.poll, d.slots = d.world.PollOf("gm", scheduler.Create{
		GroupID: d.world.View(d.poll).Poll.GroupID, ParticipantIDs: []string{"gm", "dan"},
		PendingInvites: []string{"Eve@Example.com", "fay@example.com"},
	})
	return d
}

// verified has eve's address verified, and nobody else's.
func verified(_ context.Context, uid string) (string, error) {
	return map[string]string{"eve": "eve@example.com"}[uid], nil
}

// submitAs fills in the voting form as a user.
func (d *desk) submitAs(user, id string, best []string) map[string]any {
	in := d.submit(id, best, nil, false)
	asUser(user)(in)
	return in
}

// hashes are the id of the voting form, and its first option, as ana gets them.
func (d *desk) hashes() (id, option string) {
	d.t.Helper()
	form := d.form()
	return form.Data.CustomID, form.Data.Components[0].Component.Options[0].Value
}

// One press accepts and votes; what is stored is what accepting and voting over REST stores, the
// record of whom others named included.
func TestVote_BySomebodyInvited_AcceptsInTheSamePress(t *testing.T) {
	t.Parallel()
	d := invitedDesk(t, verified)
	_, form := d.send(d.button("vote_btn:"+d.poll, asUser(eveUser)))
	if form.Kind != 9 || form.Data.Title != "Accept and vote: Session nine" {
		t.Fatalf("eve is asked %+v", form)
	}
	if invited := d.world.View(d.poll).Poll.PendingInvites; len(invited) != 2 {
		t.Errorf("opening the form left the invitations %q", invited)
	}
	option := form.Data.Components[0].Component.Options[0].Value
	in := d.submitAs(eveUser, form.Data.CustomID, []string{option})
	if said := d.says(in); !strings.Contains(said, "★ Tue 10 Mar, 11:00–12:00") {
		t.Errorf("said %q", said)
	}
	if said := d.says(in); said != "Done already." {
		t.Errorf("the repeat was told %q", said)
	}

	rest := invitedDesk(t, nil)
	eve := scheduler.Person{ID: "eve", Email: "eve@example.com"}
	if _, err := rest.world.Scheduler.AcceptInvite(t.Context(), eve, rest.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	choices := map[string]string{rest.slots[0]: poll.Preferred}
	if _, err := rest.world.Scheduler.Vote(t.Context(), eve, rest.poll, scheduler.Vote{Choices: choices}, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	got, want := d.partOf(t, "eve"), rest.partOf(t, "eve")
	if got.vote["source"] != "discord" || got.vote["lastVotedFrom"] != "discord" || got.vote["userAvatar"] != "https://pictures.example/eve" {
		t.Errorf("the vote is %v", got.vote)
	}
	for _, field := range []string{"source", "lastVotedFrom", "userAvatar", "updatedAt", "votes"} {
		delete(got.vote, field)
		delete(want.vote, field)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("stored is %+v, over REST %+v", got, want)
	}
	if !slices.Contains(got.joined, any("eve")) || slices.Contains(got.named, any("eve")) || !slices.Contains(got.named, any("dan")) {
		t.Errorf("recorded as joined are %v, as named %v", got.joined, got.named)
	}
	if preferred := d.world.View(d.poll).Slots[0].Preferred; preferred != rest.world.View(rest.poll).Slots[0].Preferred {
		t.Errorf("the slot counts %d", preferred)
	}
}

// storedPart is what is stored of a person's part in a poll.
type storedPart struct {
	participants, invites, joined, named []any
	vote                                 map[string]any
}

func (d *desk) partOf(t *testing.T, uid string) (stored storedPart) {
	t.Helper()
	docs, err := d.world.Documents.GetAll(t.Context(), []store.Path{
		poll.Path(d.poll), poll.AnnouncementPath(d.poll), poll.VotePath(d.poll, uid),
	})
	if err != nil {
		t.Fatal(err)
	}
	list := func(of map[string]any, name string) []any {
		values, _ := of[name].([]any)
		return values
	}
	return storedPart{
		list(docs[0].Data, "participantIds"), list(docs[0].Data, "pendingInvites"), list(docs[0].Data, "joinedIds"),
		list(docs[1].Data, "named"), docs[2].Data,
	}
}

// Each row refuses eve, and writes nothing.
func TestVote_BySomebodyNotInvited_WritesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		emailOf func(ctx context.Context, uid string) (string, error)
		before  func(d *desk)
		says    string // of the button
	}{
		"by a profile's address alone": {nil, func(d *desk) {
			d.write(store.Doc("users", "eve"), store.Set("email", "eve@example.com"))
		}, "accept in the app first"},
		"by an address that is not verified": {func(context.Context, string) (string, error) { return "", nil }, nil, "accept in the app first"},
		"by another address":                 {func(context.Context, string) (string, error) { return "eve@elsewhere.example", nil }, nil, "accept in the app first"},
		"after the invitation was withdrawn": {verified, func(d *desk) {
			d.world.Edit(poll.Path(d.poll), store.Set("pendingInvites", []any{"fay@example.com"}))
		}, "accept in the app first"},
		"who only has the link": {func(context.Context, string) (string, error) { return "eve@elsewhere.example", nil }, func(d *desk) {
			d.world.Edit(poll.Path(d.poll), store.Set("allowLinkSharing", true))
		}, "Only participants vote"},
		"while the sign-in does not answer": {func(context.Context, string) (string, error) {
			return "", fault.Wrap(fault.Unavailable, errors.New("away"), "Firebase is away.")
		}, nil, "did not work"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := invitedDesk(t, row.emailOf)
			if row.before != nil {
				row.before(d)
			}
			before := d.partOf(t, "eve")
			if said := d.says(d.button("vote_btn:"+d.poll, asUser(eveUser))); !strings.Contains(said, row.says) {
				t.Errorf("the button said %q", said)
			}
			id, option := d.hashes()
			d.says(d.submitAs(eveUser, id, []string{option}))
			if after := d.partOf(t, "eve"); !reflect.DeepEqual(after, before) || after.vote != nil {
				t.Errorf("stored is %+v, was %+v", after, before)
			}
		})
	}
}

func TestVote_BySomebodyInvitedWithTheLink_AcceptsToo(t *testing.T) {
	t.Parallel()
	d := invitedDesk(t, verified)
	d.world.Edit(poll.Path(d.poll), store.Set("allowLinkSharing", true))
	if _, form := d.send(d.button("vote_btn:"+d.poll, asUser(eveUser))); form.Data.Title != "Accept and vote: Session nine" {
		t.Fatalf("eve is asked %+v", form)
	}
	id, option := d.hashes()
	d.says(d.submitAs(eveUser, id, []string{option}))
	if stored := d.partOf(t, "eve"); !slices.Contains(stored.participants, any("eve")) || len(stored.invites) != 1 || stored.vote == nil {
		t.Errorf("stored is %+v", stored)
	}
}

// What accepting refuses, voting by it refuses: a full poll, a closed one, another guild.
func TestVote_BySomebodyInvited_IsRefusedAsAccepting(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before func(d *desk)
		change func(in map[string]any)
		says   string
	}{
		"where it is full": {before: func(d *desk) {
			people := []any{"gm"}
			for i := range 499 {
				people = append(people, "p"+strings.Repeat("x", i))
			}
			d.world.Edit(poll.Path(d.poll), store.Set("participantIds", people))
		}, says: "full"},
		"after it was finalised": {before: func(d *desk) {
			if _, err := d.world.Finalise(d.poll, d.slots[0]); err != nil {
				d.t.Fatal(err)
			}
		}, says: "open"},
		"in another guild": {change: func(in map[string]any) { in["guild_id"] = "4400000000000000001" }, says: "another server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := invitedDesk(t, verified)
			id, option := d.hashes()
			if row.before != nil {
				row.before(d)
			}
			in := d.submitAs(eveUser, id, []string{option})
			if row.change != nil {
				row.change(in)
			}
			if said := d.says(in); !strings.Contains(said, row.says) {
				t.Errorf("said %q, want %q", said, row.says)
			}
			if stored := d.partOf(t, "eve"); slices.Contains(stored.participants, any("eve")) || len(stored.invites) != 2 || stored.vote != nil {
				t.Errorf("stored is %+v", stored)
			}
		})
	}
}

// Who takes part costs no question for an address.
func TestVote_OfAParticipant_AsksForNoAddress(t *testing.T) {
	t.Parallel()
	d := invitedDesk(t, func(_ context.Context, uid string) (string, error) {
		t.Errorf("the address of %s was asked for", uid)
		return "", nil
	})
	id, option := d.hashes()
	d.says(d.submitAs(anaUser, id, []string{option}))
	d.says(d.button("qs:who:" + d.poll))
}

// A vote over REST accepts nothing: accepting is a step of its own there.
func TestVote_OverREST_AcceptsNoInvitation(t *testing.T) {
	t.Parallel()
	d := invitedDesk(t, verified)
	eve := scheduler.Person{ID: "eve", Email: "eve@example.com"}
	_, err := d.world.Scheduler.Vote(t.Context(), eve, d.poll, scheduler.Vote{}, worldtest.Cause)
	if !fault.Is(err, fault.Forbidden) {
		t.Errorf("got %v", err)
	}
}
