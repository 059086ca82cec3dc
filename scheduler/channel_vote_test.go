package scheduler_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// here is the party's channel.
var here = scheduler.Place{GuildID: worldtest.Guild, ChannelID: worldtest.Channel}

// inChannel is a poll of gm's party, of which nobody else takes part by name, with its card in the
// party's channel. join says who takes part from there (poll.GroupDiscord).
func inChannel(t *testing.T, join string) (w *worldtest.World, s fixture) {
	t.Helper()
	w = worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{Discord: true}})
	groupID := w.Party()
	if _, err := w.Scheduler.UpdateGroup(t.Context(), gm, groupID, scheduler.EditGroup{Join: &join}); err != nil {
		t.Fatal(err)
	}
	s.poll, s.slots = w.PollOf("gm", scheduler.Create{GroupID: groupID, ParticipantIDs: []string{"gm"}})
	w.Run(time.Minute)
	return w, s
}

// formOf is a form of a poll as it was opened in the party's channel just now.
func formOf(w *worldtest.World, s fixture) *scheduler.VoteForm {
	return &scheduler.VoteForm{
		Shown: poll.ShownSlots(w.View(s.poll).Slots), Guild: worldtest.Guild, Channel: worldtest.Channel, ByChannel: true, Avatar: "picture",
	}
}

func TestVote_ByAForm_LetsInWhoMayComeByIt(t *testing.T) {
	t.Parallel()
	invite := func(t *testing.T, w *worldtest.World, s fixture) {
		edit := scheduler.Edit{PendingInvites: &[]string{"cho@example.com", "dee@example.com"}}
		if _, err := w.Scheduler.Edit(t.Context(), gm, s.poll, edit, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	}
	nothing := func(*testing.T, *worldtest.World, fixture) {}
	for name, c := range map[string]struct {
		who, join string
		begin     func(*testing.T, *worldtest.World, fixture)
		spoil     func(form *scheduler.VoteForm, vote *scheduler.Vote)
		kind      fault.Kind // 0: the vote counts
		people    string     // who take part by name then
	}{
		"a stranger, from an open channel": {"cho", poll.JoinChannel, nothing, nil, 0, "gm cho"},
		"a member":                         {"ana", poll.JoinChannel, nothing, nil, 0, "gm"},
		"a member, of a closed channel":    {"ana", poll.JoinMembers, nothing, nil, 0, "gm"},
		"a stranger, from a closed one":    {"cho", poll.JoinMembers, nothing, nil, fault.NotFound, "gm"},
		"a stranger, from another channel": {"cho", poll.JoinChannel, nothing, func(f *scheduler.VoteForm, _ *scheduler.Vote) {
			f.Channel = worldtest.OtherChannel
		}, fault.NotFound, "gm"},
		"a stranger, from another guild": {"cho", poll.JoinChannel, nothing, func(f *scheduler.VoteForm, _ *scheduler.Vote) {
			f.Guild = worldtest.OtherChannel
		}, fault.NotFound, "gm"},
		"a stranger, from elsewhere than a card": {"cho", poll.JoinChannel, nothing, func(f *scheduler.VoteForm, _ *scheduler.Vote) {
			f.ByChannel = false
		}, fault.NotFound, "gm"},
		"a stranger, without a time": {"cho", poll.JoinChannel, nothing, func(_ *scheduler.VoteForm, v *scheduler.Vote) {
			v.Choices = nil
		}, fault.Invalid, "gm"},
		"a stranger, for whom none works": {"cho", poll.JoinChannel, nothing, func(_ *scheduler.VoteForm, v *scheduler.Vote) {
			v.Choices, v.NoTimesWork = nil, true
		}, 0, "gm cho"},
		"a member, from another guild": {"ana", poll.JoinChannel, nothing, func(f *scheduler.VoteForm, _ *scheduler.Vote) {
			f.Guild = worldtest.OtherChannel
		}, fault.Forbidden, "gm"},
		"whom the poll invites": {"cho", poll.JoinMembers, invite, nil, 0, "gm cho"},
		"whom it invites again, after they left": {"cho", poll.JoinMembers, func(t *testing.T, w *worldtest.World, s fixture) {
			invite(t, w, s)
			w.Write(poll.AnnouncementPath(s.poll), poll.Set("entered", []any{"cho"}))
		}, nil, 0, "gm cho"},
		"of a form whose slots are others by now": {"ana", poll.JoinChannel, nothing, func(f *scheduler.VoteForm, _ *scheduler.Vote) {
			f.Shown = "before"
		}, fault.Conflict, "gm"},
		"who came before": {"cho", poll.JoinChannel, func(_ *testing.T, w *worldtest.World, s fixture) {
			w.Write(poll.AnnouncementPath(s.poll), poll.Set("entered", []any{"cho"}))
		}, nil, fault.Forbidden, "gm"},
		"whom gm removed": {"cho", poll.JoinChannel, func(t *testing.T, w *worldtest.World, s fixture) {
			for _, people := range [][]string{{"cho"}, {}} {
				if _, err := w.Scheduler.Edit(t.Context(), gm, s.poll, scheduler.Edit{ParticipantIDs: &people}, worldtest.Cause); err != nil {
					t.Fatal(err)
				}
			}
		}, nil, fault.Forbidden, "gm"},
		"who voted before": {"cho", poll.JoinChannel, func(_ *testing.T, w *worldtest.World, s fixture) {
			w.Write(poll.VotePath(s.poll, "cho"), poll.Set("uid", "cho"), poll.Set("noTimesWork", true))
		}, nil, fault.Forbidden, "gm"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := inChannel(t, c.join)
			c.begin(t, w, s)
			slot := w.View(s.poll).Slots[0]
			form, ask := formOf(w, s), scheduler.Vote{Choices: map[string]string{slot.Option(): poll.Preferred}}
			if c.spoil != nil {
				c.spoil(form, &ask)
			}
			ask.Form = form
			before := len(w.Votes(s.poll))
			view, err := w.Scheduler.Vote(t.Context(), worldtest.Person(c.who), s.poll, ask, worldtest.Cause)
			equal(t, "refused as", fault.KindOf(err), c.kind)
			equal(t, "participants", strings.Join(w.View(s.poll).Poll.ParticipantIDs, " "), c.people)
			if c.kind != 0 {
				equal(t, "votes", len(w.Votes(s.poll)), before)
				return
			}
			equal(t, "poll that is answered", view.Poll.ID, s.poll)
			votes := w.Votes(s.poll)
			equal(t, "votes", len(votes), 1)
			equal(t, "choice", votes[0].Choices[slot.ID] == poll.Preferred, !ask.NoTimesWork)
			equal(t, "choices", len(votes[0].Choices), len(ask.Choices))
			equal(t, "where from", votes[0].Source+" "+votes[0].LastVotedFrom+" "+votes[0].Avatar, "discord discord picture")
			if len(c.people) > 2 {
				equal(t, "it is invited still", w.View(s.poll).Poll.InvitedAs("cho@example.com"), false)
				equal(t, "somebody else is", w.View(s.poll).Poll.InvitedAs("dee@example.com"), strings.HasPrefix(name, "whom"))
			}
			known, err := poll.LoadAnnouncement(t.Context(), w.Documents, s.poll)
			if err != nil {
				t.Fatal(err)
			}
			entered := strings.HasPrefix(name, "a stranger") || strings.Contains(name, "again")
			equal(t, "it is recorded that they entered", slices.Contains(known.Entered, c.who), entered)
		})
	}
}

// Discord does not say a person's address; one that an earlier vote told stays.
func TestVote_ByAForm_KeepsTheAddressThatIsKnown(t *testing.T) {
	t.Parallel()
	w, s := inChannel(t, poll.JoinMembers)
	vote := func(email string) string {
		t.Helper()
		return votedAs(w, s, email, scheduler.Vote{Form: formOf(w, s)})
	}
	equal(t, "without one", vote(""), "")
	equal(t, "with one", vote("ana@example.com"), "ana@example.com")
	equal(t, "without one again", vote(""), "ana@example.com")
	equal(t, "with another", vote("other@example.com"), "other@example.com")
}

// Without a verified address, as with Discord, no address is known of the voter.
func TestVote_OverTheAPI_KeepsTheAddressThatIsKnown(t *testing.T) {
	t.Parallel()
	w, s := inChannel(t, poll.JoinMembers)
	equal(t, "with one", votedAs(w, s, "ana@example.com", scheduler.Vote{NoTimesWork: true}), "ana@example.com")
	equal(t, "without one", votedAs(w, s, "", scheduler.Vote{NoTimesWork: true}), "ana@example.com")
}

// votedAs has ana vote, with an address or none, and returns the one that her vote shows.
func votedAs(w *worldtest.World, s fixture, email string, vote scheduler.Vote) string {
	_, err := w.Scheduler.Vote(w.Context(), scheduler.Person{ID: "ana", Email: email}, s.poll, vote, worldtest.Cause)
	if err != nil {
		return err.Error()
	}
	return w.Votes(s.poll)[0].Email
}

// What makes the voter a person is part of the vote: both take place, or none.
func TestVote_WhoseVoterCannotBeMade_IsNotWritten(t *testing.T) {
	t.Parallel()
	w, s := inChannel(t, poll.JoinChannel)
	form := formOf(w, s)
	form.Makes = func(context.Context, store.Tx) error { return fault.New(fault.Unavailable, "planned") }
	ask := scheduler.Vote{NoTimesWork: true, Form: form}
	_, err := w.Scheduler.Vote(t.Context(), worldtest.Person("cho"), s.poll, ask, worldtest.Cause)
	kind(t, err, fault.Unavailable)
	equal(t, "votes", len(w.Votes(s.poll)), 0)
	form.Makes = func(_ context.Context, tx store.Tx) error {
		return tx.Merge(store.Doc("users", "cho"), store.Set("made", true))
	}
	if _, err := w.Scheduler.Vote(t.Context(), worldtest.Person("cho"), s.poll, ask, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	equal(t, "votes once they are made", len(w.Votes(s.poll)), 1)
	equal(t, "they are made", w.Document(store.Doc("users", "cho")).Exists(), true)
}

func TestViewFrom_AChannel_IsForThoseWhoMayComeFromThere(t *testing.T) {
	t.Parallel()
	w, s := inChannel(t, poll.JoinChannel)
	w.Vote(s.poll, "ana", map[string]string{s.slots[0]: poll.Preferred})
	cho := worldtest.Person("cho")
	view, err := w.Scheduler.ViewFrom(t.Context(), cho, s.poll, here)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "slots", len(view.Slots), 2)
	equal(t, "votes of whom it counts", view.Slots[0].Preferred, 1)
	for name, at := range map[string]scheduler.Place{
		"another channel": {GuildID: here.GuildID, ChannelID: worldtest.OtherChannel},
		"another guild":   {GuildID: worldtest.OtherChannel, ChannelID: here.ChannelID},
		"a thread":        {GuildID: here.GuildID, ChannelID: worldtest.OtherChannel, ParentID: here.ChannelID},
		"nowhere":         {},
	} {
		if _, err := w.Scheduler.ViewFrom(t.Context(), cho, s.poll, at); !fault.Is(err, fault.NotFound) {
			t.Errorf("from %s: %v", name, err)
		}
	}
	for name, know := range map[string]func(){
		"who entered once": func() { w.Write(poll.AnnouncementPath(s.poll), poll.Set("entered", []any{"cho"})) },
		"who voted once": func() {
			w.Write(poll.AnnouncementPath(s.poll), poll.Set("entered", []any{}))
			w.Write(poll.VotePath(s.poll, "cho"), poll.Set("uid", "cho"), poll.Set("noTimesWork", true))
		},
	} {
		know()
		if _, err := w.Scheduler.ViewFrom(t.Context(), cho, s.poll, here); !fault.Is(err, fault.Forbidden) {
			t.Errorf("one %s: %v", name, err)
		}
	}
}

// visitor is cho, and what becomes of them in a poll of inChannel.
type visitor struct {
	*testing.T
	w *worldtest.World
	s fixture
}

func (v visitor) must(err error) {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
}

func (v visitor) press(who string) error {
	ask := scheduler.Vote{NoTimesWork: true, Form: formOf(v.w, v.s)}
	_, err := v.w.Scheduler.Vote(v.Context(), scheduler.Person{ID: who, Email: who + "@example.com"}, v.s.poll, ask, worldtest.Cause)
	return err
}

func (v visitor) presses() { v.must(v.press("cho")) }

func (v visitor) edited(ask scheduler.Edit) {
	_, err := v.w.Scheduler.Edit(v.Context(), gm, v.s.poll, ask, worldtest.Cause)
	v.must(err)
}

// chosen leaves the poll with those participants.
func (v visitor) chosen(people ...string) {
	v.edited(scheduler.Edit{ParticipantIDs: &people})
}

func (v visitor) invited() {
	v.edited(scheduler.Edit{PendingInvites: &[]string{"cho@example.com"}})
}

func (v visitor) joins() {
	_, err := v.w.Scheduler.Join(v.Context(), worldtest.Person("cho"), v.s.poll, worldtest.Cause)
	v.must(err)
}

func (v visitor) accepts() {
	_, err := v.w.Scheduler.AcceptInvite(v.Context(), worldtest.Person("cho"), v.s.poll, worldtest.Cause)
	v.must(err)
}

func (v visitor) leaves() {
	v.must(v.w.Scheduler.Leave(v.Context(), worldtest.Person("cho"), v.s.poll, worldtest.Cause))
}

// unseen leaves the poll with those participants, as the web app does.
func (v visitor) unseen(people ...any) {
	v.w.Edit(poll.Path(v.s.poll), store.Set("participantIds", people))
}

// inTheApp is unseen, until the server hears of it.
func (v visitor) inTheApp(people ...any) {
	v.unseen(people...)
	_, err := v.w.Scheduler.Reconcile(v.Context(), v.s.poll, worldtest.Cause)
	v.must(err)
}

func TestAvailability_OfAChannelsPoll_IsForThoseWhomTheHostChose(t *testing.T) {
	t.Parallel()
	link := true
	for name, c := range map[string]struct {
		steps func(v visitor)
		may   bool
	}{
		"pressed": {func(v visitor) { v.presses() }, false},
		"pressed, then joined": {func(v visitor) {
			v.presses()
			v.edited(scheduler.Edit{AllowLinkSharing: &link})
			v.joins()
		}, false},
		"pressed, then accepted":            {func(v visitor) { v.presses(); v.invited(); v.accepts() }, false},
		"pressed, and stays as others come": {func(v visitor) { v.presses(); v.chosen("cho", "dan") }, false},
		"pressed, and declined an invitation": {func(v visitor) {
			v.presses()
			v.invited()
			v.must(v.w.Scheduler.DeclineInvite(v.Context(), worldtest.Person("cho"), v.s.poll, worldtest.Cause))
		}, false},
		"pressed, and the group is gone": {func(v visitor) {
			v.presses()
			v.w.Remove(poll.GroupPath(v.w.View(v.s.poll).Poll.GroupID))
		}, false},
		"pressed, as another pressed":       {func(v visitor) { v.presses(); v.must(v.press("dan")) }, false},
		"pressed, as another came":          {func(v visitor) { v.presses(); v.inTheApp("gm", "cho", "dan") }, false},
		"removed and chosen in the app":     {func(v visitor) { v.presses(); v.inTheApp("gm"); v.inTheApp("gm", "cho") }, true},
		"removed in the app, then chosen":   {func(v visitor) { v.presses(); v.unseen("gm"); v.chosen("cho") }, true},
		"removed in the app, then accepted": {func(v visitor) { v.presses(); v.unseen("gm"); v.invited(); v.accepts() }, true},
		"left, came in the app, then voted": {func(v visitor) { v.presses(); v.leaves(); v.inTheApp("gm", "cho"); v.presses() }, true},
		"removed in the app, then invited":  {func(v visitor) { v.presses(); v.inTheApp("gm"); v.invited(); v.accepts() }, true},
		"removed, then came by the link": {func(v visitor) {
			v.presses()
			v.chosen()
			v.edited(scheduler.Edit{AllowLinkSharing: &link})
			v.joins()
		}, true},
		"chosen, then pressed":             {func(v visitor) { v.chosen("cho"); v.presses() }, true},
		"chosen, then pressed twice":       {func(v visitor) { v.chosen("cho"); v.presses(); v.presses() }, true},
		"invited, then pressed":            {func(v visitor) { v.invited(); v.presses() }, true},
		"removed, then chosen":             {func(v visitor) { v.presses(); v.chosen(); v.chosen("cho") }, true},
		"removed, then chosen for another": {func(v visitor) { v.presses(); v.chosen("dan"); v.chosen("cho") }, true},
		"chosen again, then pressed":       {func(v visitor) { v.chosen("cho"); v.chosen(); v.chosen("cho"); v.presses() }, true},
		"removed, then accepted":           {func(v visitor) { v.presses(); v.chosen(); v.invited(); v.accepts() }, true},
		"removed, then joined as invited":  {func(v visitor) { v.presses(); v.chosen(); v.invited(); v.joins() }, true},
		"left, then accepted by a press":   {func(v visitor) { v.presses(); v.leaves(); v.invited(); v.presses() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := inChannel(t, poll.JoinChannel)
			c.steps(visitor{t, w, s})
			_, may := w.Known(s.poll, "cho")
			equal(t, "cho may ask", may, c.may)
		})
	}
}

func TestPress_OfOneWhoLeftOrWasRemoved_IsRefused(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]func(v visitor){
		"pressed, then left":            func(v visitor) { v.presses(); v.leaves() },
		"pressed, then removed":         func(v visitor) { v.presses(); v.chosen() },
		"chosen, pressed, then left":    func(v visitor) { v.chosen("cho"); v.presses(); v.leaves() },
		"chosen, pressed, then removed": func(v visitor) { v.chosen("cho"); v.presses(); v.chosen() },
		"invited, pressed, then left":   func(v visitor) { v.invited(); v.presses(); v.leaves() },
		"chosen again, then removed":    func(v visitor) { v.chosen("cho"); v.chosen(); v.chosen("cho"); v.chosen() },
		"removed as another was chosen": func(v visitor) { v.chosen("cho"); v.chosen("dan") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := inChannel(t, poll.JoinChannel)
			v := visitor{t, w, s}
			steps(v)
			kind(t, v.press("cho"), fault.Forbidden)
		})
	}
}
