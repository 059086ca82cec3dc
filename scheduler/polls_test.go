package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

func TestCreate_RefusesWhatCannotBe_AndWritesNothing(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	good := scheduler.Create{Title: "Session", Slots: []worldtest.Slot{worldtest.Ten}}
	slots := func(start, end time.Time) []worldtest.Slot { return []worldtest.Slot{{Start: start, End: end}} }
	ten := worldtest.Ten.Start
	for field, spoil := range map[string]func(c *scheduler.Create){
		"title":                           func(c *scheduler.Create) { c.Title = "  " },
		"title, too long":                 func(c *scheduler.Create) { c.Title = strings.Repeat("ü", rules.MaxTitle+1) },
		"description, too long":           func(c *scheduler.Create) { c.Description = strings.Repeat("x", rules.MaxDescription+1) },
		"slots, none":                     func(c *scheduler.Create) { c.Slots = nil },
		"slots, too many":                 func(c *scheduler.Create) { c.Slots = make([]worldtest.Slot, scheduler.MaxSlots+1) },
		"slots, ends before it starts":    func(c *scheduler.Create) { c.Slots = slots(ten, ten.Add(-time.Hour)) },
		"slots, without length":           func(c *scheduler.Create) { c.Slots = slots(ten, ten) },
		"slots, without times":            func(c *scheduler.Create) { c.Slots = make([]worldtest.Slot, 1) },
		"slots, for ever":                 func(c *scheduler.Create) { c.Slots = slots(ten, ten.Add(32*24*time.Hour)) },
		"slots, beyond the calendar":      func(c *scheduler.Create) { c.Slots = slots(ten.AddDate(9000, 0, 0), ten.AddDate(9000, 0, 1)) },
		"participant_ids, too many":       func(c *scheduler.Create) { c.ParticipantIDs = make([]string, scheduler.MaxPeople+1) },
		"pending_invites, too many":       func(c *scheduler.Create) { c.PendingInvites = make([]string, scheduler.MaxPeople+1) },
		"timezone":                        func(c *scheduler.Create) { c.Timezone = "Middle/Earth" },
		"timezone, the machine's own":     func(c *scheduler.Create) { c.Timezone = "Local" },
		"group_id, one that is not there": func(c *scheduler.Create) { c.GroupID = "no-such-group" },
	} {
		ask := good
		spoil(&ask)
		_, err := w.Scheduler.Create(t.Context(), worldtest.Person("gm"), ask, worldtest.Cause)
		kind(t, err, fault.Invalid)
		if name, _, _ := strings.Cut(field, ","); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error %v does not name the field", field, err)
		}
	}
	equal(t, "polls", len(w.Polls()), 0)
	view, err := w.Scheduler.Create(t.Context(), worldtest.Person("gm"), scheduler.Create{
		Title: " Session ", Slots: []worldtest.Slot{worldtest.Three, worldtest.Ten}, ParticipantIDs: []string{"ana", "gm", "", "ana"},
		PendingInvites: []string{" Ben@Example.com ", "ben@example.com", ""},
	}, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "title", view.Poll.Title, "Session")
	equal(t, "participants", strings.Join(view.Poll.ParticipantIDs, " "), "gm ana")
	equal(t, "invites", strings.Join(view.Poll.PendingInvites, " "), "ben@example.com")
	equal(t, "status", view.Poll.Status, rules.Open)
	equal(t, "slots", len(view.Slots), 2)
	equal(t, "earliest slot first", view.Slots[0].Start, worldtest.Ten.Start)
	atRest(t, w)
}

func TestMayRead_PersonConcerned_IsAllowed(t *testing.T) {
	t.Parallel()
	group := &poll.Group{CreatorID: "leader", MemberIDs: []string{"member"}}
	p := poll.Poll{CreatorID: "gm", ParticipantIDs: []string{"ana"}, PendingInvites: []string{"ben@example.com"}}
	shared := p
	shared.AllowLinkSharing = true
	for _, c := range []struct {
		who           scheduler.Person
		alone, linked bool
	}{
		{scheduler.Person{ID: "gm"}, true, true},
		{scheduler.Person{ID: "ana"}, true, true},
		{scheduler.Person{ID: "member"}, true, true},
		{scheduler.Person{ID: "leader"}, true, true},
		{scheduler.Person{ID: "b", Email: "ben@example.com"}, true, true},
		{scheduler.Person{ID: "b"}, false, true},
		{scheduler.Person{ID: "stranger", Email: "stranger@example.com"}, false, true},
		{scheduler.Person{ID: "boss", Admin: true}, true, true},
		{scheduler.Person{}, false, false},
		{scheduler.Person{Email: "ben@example.com"}, false, false},
	} {
		if got := scheduler.MayRead(c.who, p, group); got != c.alone {
			t.Errorf("%+v sees the poll: %t", c.who, got)
		}
		if got := scheduler.MayRead(c.who, shared, group); got != c.linked {
			t.Errorf("%+v sees the poll with link sharing: %t", c.who, got)
		}
	}
	if scheduler.MayRead(scheduler.Person{ID: "member"}, p, nil) {
		t.Error("a member of no group sees the poll")
	}
}

func TestVote_CountsAndReplacesOnesOwn(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Write(poll.VotePath(s.poll, "ana"), poll.Set("fieldOfTheWebApp", "kept"))
	w.Vote(s.poll, "ana", map[string]string{s.slots[1]: poll.Preferred})
	view := w.View(s.poll)
	for i, want := range []struct{ feasible, preferred int64 }{{1, 0}, {2, 2}} {
		stats := store.Fields(w.Document(poll.SlotPath(s.poll, s.slots[i])).Data).Map("stats")
		equal(t, "feasible as shown", view.Slots[i].Feasible, want.feasible)
		equal(t, "preferred as shown", view.Slots[i].Preferred, want.preferred)
		equal(t, "feasible as stored", stats.Int("feasible"), want.feasible)
		equal(t, "preferred as stored", stats.Int("preferred"), want.preferred)
	}
	equal(t, "votes", len(view.Votes), 3)
	equal(t, "another's field", store.Fields(w.Document(poll.VotePath(s.poll, "ana")).Data).String("fieldOfTheWebApp"), "kept")
	atRest(t, w)
}

// Everybody who reads a poll reads its slots.
func TestVote_InAPollThatHidesVotes_IsNotCountedInSlots(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	w.Write(poll.Path(s.poll), poll.Set("hideVoterIdentities", true), poll.Set("voteVisibility", "hidden_until_finalized"))
	w.Vote(s.poll, "ana", map[string]string{s.slots[1]: poll.Preferred})
	for _, slot := range s.slots {
		stats := store.Fields(w.Document(poll.SlotPath(s.poll, slot)).Data).Map("stats")
		equal(t, "feasible as stored", stats.Int("feasible"), 0)
		equal(t, "preferred as stored", stats.Int("preferred"), 0)
	}
	equal(t, "preferred as its creator sees it", w.View(s.poll).Slots[1].Preferred, 2)
	atRest(t, w)
}

func TestVote_IsRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := fresh(w)
	shared := w.FinalisedBy("ana")
	for name, c := range map[string]struct {
		who  scheduler.Person
		poll string
		vote scheduler.Vote
		kind fault.Kind
	}{
		"for a slot of another poll": {
			worldtest.Person("ana"), s.poll, scheduler.Vote{Choices: map[string]string{"other": poll.Feasible}}, fault.Invalid,
		},
		"with a word that is none": {
			worldtest.Person("ana"), s.poll, scheduler.Vote{Choices: map[string]string{s.slots[0]: "MAYBE"}}, fault.Invalid,
		},
		"for a slot and for none": {
			worldtest.Person("ana"), s.poll,
			scheduler.Vote{Choices: map[string]string{s.slots[0]: poll.Feasible}, NoTimesWork: true}, fault.Invalid,
		},
		"of one who may not see the poll": {scheduler.Person{ID: "stranger"}, s.poll, scheduler.Vote{}, fault.NotFound},
		"of one who sees it by the link":  {worldtest.Person("ben"), shared, scheduler.Vote{}, fault.Forbidden},
		"of a poll that is finalised":     {worldtest.Person("ana"), shared, scheduler.Vote{}, fault.Conflict},
		"of a poll that is not there":     {worldtest.Person("ana"), "no-such-poll", scheduler.Vote{}, fault.NotFound},
	} {
		before := len(w.View(s.poll).Votes)
		_, err := w.Scheduler.Vote(t.Context(), c.who, c.poll, c.vote, worldtest.Cause)
		if !fault.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
		equal(t, "votes", len(w.View(s.poll).Votes), before)
	}
	atRest(t, w)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(map[bool]string{false: "deletes the event", true: "keeps the event where asked"}[keep], func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := moved(w)
			if keep {
				w.Released(s.event)
			}
			view, err := w.Scheduler.Cancel(t.Context(), worldtest.Person("gm"), s.poll, keep, worldtest.Cause)
			if err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			equal(t, "status", view.Poll.Status, rules.Cancelled)
			equal(t, "state", view.Poll.Sync.State, rules.StateCancelled)
			equal(t, "reason", view.Poll.Cancelled.Reason, rules.ReasonManual)
			equal(t, "reason below calendarSync", view.Poll.Sync.Cancelled.Reason, rules.ReasonManual)
			equal(t, "event is there", w.EventOf("gm", s.event).Live(), keep)
			equal(t, "event of the poll", view.Poll.GoogleEventID != "", keep)
			equal(t, "index entries", len(w.Index()), 0)
			equal(t, "notices of ana", len(w.Notices("ana")), 2)
			again, err := w.Scheduler.Cancel(t.Context(), worldtest.Person("gm"), s.poll, keep, worldtest.Cause)
			if err != nil {
				t.Error(err)
			}
			equal(t, "generation after another cancel", again.Poll.Sync.Generation, view.Poll.Sync.Generation)
			_, err = w.Scheduler.Cancel(t.Context(), worldtest.Person("ana"), s.poll, keep, worldtest.Cause)
			kind(t, err, fault.Forbidden)
			if keep { // whatever happens to the event that was left is nobody's business
				w.MoveEvent("gm", s.event, worldtest.Three)
				w.Run(time.Minute)
				equal(t, "status after a move", w.View(s.poll).Poll.Status, rules.Cancelled)
			}
			atRest(t, w)
		})
	}
}

func TestReopenAndDelete_LeaveNothingOfTheCalendar(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := moved(w)
	view, err := w.Scheduler.Reopen(t.Context(), worldtest.Person("gm"), s.poll, true, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	equal(t, "status", view.Poll.Status, rules.Open)
	equal(t, "slots", len(view.Slots), 2)
	sync := store.Fields(w.Document(poll.Path(s.poll)).Data).Map("calendarSync")
	for _, name := range []string{"state", "rescheduled", "cancelled", "error", "baseline"} {
		if _, there := sync[name]; there {
			t.Errorf("calendarSync.%s is there", name)
		}
	}
	equal(t, "events", len(w.Events("gm")), 0)
	atRest(t, w)

	if err := w.Scheduler.Delete(t.Context(), worldtest.Person("gm"), s.poll, false, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	_, err = w.Scheduler.View(t.Context(), worldtest.Person("gm"), s.poll)
	kind(t, err, fault.NotFound)
	equal(t, "snapshots", len(w.Snapshots()), 0)
	equal(t, "journal", len(w.Journal(s.poll)), 0)
	atRest(t, w)
}

func TestGroups(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	gm, name := worldtest.Person("gm"), "Party"
	group, err := w.Scheduler.CreateGroup(t.Context(), gm, scheduler.EditGroup{Name: &name, MemberIDs: []string{"ana", "ben"}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "members", strings.Join(group.MemberIDs, " "), "gm")
	equal(t, "invited", strings.Join(group.PendingMemberIDs, " "), "ana ben")
	for _, id := range []string{"ana", "ben"} {
		group, err = w.Scheduler.AcceptGroup(t.Context(), worldtest.Person(id), group.ID)
		if err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "members", strings.Join(group.MemberIDs, " "), "gm ana ben")
	_, err = w.Scheduler.Group(t.Context(), worldtest.Person("cho"), group.ID)
	kind(t, err, fault.NotFound)
	_, err = w.Scheduler.UpdateGroup(t.Context(), worldtest.Person("ana"), group.ID, scheduler.EditGroup{Name: &name})
	kind(t, err, fault.Forbidden)
	empty := " "
	for field, edit := range map[string]scheduler.EditGroup{
		"name":                   {Name: &empty},
		"member_ids":             {MemberIDs: make([]string, scheduler.MaxPeople+1)},
		"discord":                {Discord: &poll.GroupDiscord{GuildID: "my server"}},
		"discord.notify_role_id": {Discord: &poll.GroupDiscord{NotifyRoleID: "@everyone"}},
	} {
		_, err := w.Scheduler.UpdateGroup(t.Context(), worldtest.Admin, group.ID, edit)
		kind(t, err, fault.Invalid)
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: the error %v does not name it", field, err)
		}
	}
	w.Write(poll.GroupPath(group.ID), poll.Set("theme", "dark"))
	discord := poll.GroupDiscord{
		GuildID: worldtest.Guild, ChannelID: worldtest.Channel, NotifyRoleID: poll.NotifyNobody,
		Notifications: map[string]bool{"slotChanges": false},
	}
	_, err = w.Scheduler.UpdateGroup(t.Context(), gm, group.ID, scheduler.EditGroup{Discord: &discord})
	kind(t, err, fault.Forbidden)
	if _, err := w.Scheduler.UpdateGroup(t.Context(), worldtest.Admin, group.ID, scheduler.EditGroup{Discord: &discord}); err != nil {
		t.Fatal(err)
	}
	read, err := w.Scheduler.Group(t.Context(), worldtest.Person("ben"), group.ID)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "channel", read.Discord.ChannelID, worldtest.Channel)
	equal(t, "wish", read.Discord.Notifications["slotChanges"], false)
	equal(t, "name", read.Name, "Party")
	equal(t, "another's field", store.Fields(w.Document(poll.GroupPath(group.ID)).Data).String("theme"), "dark")

	view, err := w.Scheduler.Create(
		t.Context(), worldtest.Person("ana"),
		scheduler.Create{Title: "S", Slots: []worldtest.Slot{worldtest.Ten}, GroupID: group.ID}, worldtest.Cause,
	)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "name of the poll's group", view.Poll.GroupName, "Party")
	if _, err := w.Scheduler.Vote(
		t.Context(), worldtest.Person("ben"), view.Poll.ID, scheduler.Vote{NoTimesWork: true}, worldtest.Cause,
	); err != nil {
		t.Errorf("a member cannot vote: %v", err)
	}
	_, err = w.Scheduler.Create(
		t.Context(), worldtest.Person("cho"),
		scheduler.Create{Title: "S", Slots: []worldtest.Slot{worldtest.Ten}, GroupID: group.ID}, worldtest.Cause,
	)
	kind(t, err, fault.Invalid)
}
