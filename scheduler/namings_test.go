package scheduler_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// names has gm make a poll that names people, a minute after the last one.
func names(w *worldtest.World, ask scheduler.Create, people ...string) (id string, err error) {
	w.Run(time.Minute)
	ask.Title, ask.Slots, ask.ParticipantIDs = "Named", []worldtest.Slot{worldtest.Ten}, people
	view, err := w.Scheduler.Create(w.Context(), worldtest.Person("gm"), ask, worldtest.Cause)
	return view.Poll.ID, err
}

// namesThrice has gm make three polls that name ana.
func namesThrice(t *testing.T, w *worldtest.World) (ids []string) {
	t.Helper()
	for range 3 {
		id, err := names(w, scheduler.Create{}, "ana")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// refused reports whether an error is the refusal to name ana, at its field.
func refused(err error) bool {
	named, isFault := errors.AsType[*fault.Error](err)
	return isFault && named.Kind == fault.Invalid && len(named.Details) == 1 && named.Details[0].Field == "participant_ids" &&
		strings.Contains(named.Message, "ana")
}

func TestNaming_FourthUnanswered_IsRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	own, err := names(w, scheduler.Create{}, "ben")
	if err != nil {
		t.Fatal(err)
	}
	ids := namesThrice(t, w)
	edit := func(id string, people ...string) error {
		_, err := w.Scheduler.Edit(w.Context(), worldtest.Person("gm"), id, scheduler.Edit{ParticipantIDs: &people}, worldtest.Cause)
		return err
	}
	if _, err := names(w, scheduler.Create{}, "cho", "ana"); !refused(err) {
		t.Errorf("a fourth poll: %v", err)
	}
	if err := edit(own, "ben", "ana"); !refused(err) {
		t.Errorf("an edit: %v", err)
	}
	if got := w.View(own).Poll.ParticipantIDs; slices.Contains(got, "ana") {
		t.Errorf("in the poll are %q", got)
	}
	if err := edit(ids[0], "ana", "cho"); err != nil {
		t.Errorf("an edit of a poll that names her already: %v", err)
	}
	if _, err := names(w, scheduler.Create{}, "cho"); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	if _, err := w.Scheduler.Create(w.Context(), worldtest.Person("ben"), scheduler.Create{
		Title: "Ben's", Slots: []worldtest.Slot{worldtest.Ten}, ParticipantIDs: []string{"ana"},
	}, worldtest.Cause); err != nil {
		t.Errorf("by somebody else: %v", err)
	}
	if err := edit(ids[0], "cho"); err != nil {
		t.Fatal(err)
	}
	if _, err := names(w, scheduler.Create{}, "ana"); err != nil {
		t.Errorf("after one of them does not name her any more: %v", err)
	}
}

func TestNaming_AfterAnAnswer_IsAllowed(t *testing.T) {
	t.Parallel()
	ana := worldtest.Person("ana")
	for name, answer := range map[string]func(w *worldtest.World, id string) error{
		"joins": func(w *worldtest.World, id string) error {
			_, err := w.Scheduler.Join(w.Context(), ana, id, worldtest.Cause)
			return err
		},
		"accepts": func(w *worldtest.World, id string) error {
			_, err := w.Scheduler.AcceptInvite(w.Context(), ana, id, worldtest.Cause)
			return err
		},
		"votes": func(w *worldtest.World, id string) error {
			_, err := w.Scheduler.Vote(w.Context(), ana, id, scheduler.Vote{NoTimesWork: true}, worldtest.Cause)
			return err
		},
		"votes, and gm deletes the vote": func(w *worldtest.World, id string) error {
			_, err := w.Scheduler.Vote(w.Context(), ana, id, scheduler.Vote{NoTimesWork: true}, worldtest.Cause)
			w.Remove(poll.VotePath(id, "ana"))
			return err
		},
		"votes in the web app": func(w *worldtest.World, id string) error {
			w.Write(poll.VotePath(id, "ana"), worldtest.AppVote("ana")...)
			return nil
		},
		"leaves": func(w *worldtest.World, id string) error {
			return w.Scheduler.Leave(w.Context(), ana, id, worldtest.Cause)
		},
	} {
		for i := range 3 {
			t.Run(fmt.Sprint(name, ", number ", i), func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				ids := namesThrice(t, w)
				if err := answer(w, ids[i]); err != nil {
					t.Fatal(err)
				}
				if _, err := names(w, scheduler.Create{}, "ana"); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestNaming_InASharedGroup_HasNoBound(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	namesThrice(t, w)
	w.Write(poll.GroupPath("party"), poll.Set("name", "Party"), poll.Set("creatorId", "gm"),
		poll.Set("memberIds", []any{"gm"}), poll.Set("pendingMemberIds", []any{"ana"}))
	for what, ask := range map[string]scheduler.Create{"in the group": {GroupID: "party"}, "outside it": {}} {
		if _, err := names(w, ask, "ana"); !refused(err) {
			t.Errorf("%s, before she accepted: %v", what, err)
		}
	}
	if _, err := w.Scheduler.AcceptGroup(w.Context(), worldtest.Person("ana"), "party"); err != nil {
		t.Fatal(err)
	}
	for what, ask := range map[string]scheduler.Create{"in the group": {GroupID: "party"}, "outside it": {}} {
		for range 5 {
			if _, err := names(w, ask, "ana"); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// A poll keeps its group when its creator leaves.
func TestNaming_InAGroupThatTheCreatorLeft_IsBounded(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	people := func(ids ...any) { w.Write(poll.GroupPath("party"), poll.Set("memberIds", ids)) }
	w.Write(poll.GroupPath("party"), poll.Set("name", "Party"), poll.Set("creatorId", "fay"))
	people("fay", "gm", "ana")
	if _, err := w.Scheduler.AcceptGroup(w.Context(), worldtest.Person("ana"), "party"); err != nil {
		t.Fatal(err)
	}
	id, err := names(w, scheduler.Create{GroupID: "party"})
	if err != nil {
		t.Fatal(err)
	}
	namesThrice(t, w)
	edit := func(people ...string) error {
		_, err := w.Scheduler.Edit(w.Context(), worldtest.Person("gm"), id, scheduler.Edit{ParticipantIDs: &people}, worldtest.Cause)
		return err
	}
	people("fay", "ana")
	if err := edit("ana"); !refused(err) {
		t.Errorf("after gm left: %v", err)
	}
	people("fay", "gm", "ana")
	if err := edit("ana"); err != nil {
		t.Errorf("as a member: %v", err)
	}
}

// What a direct write lists in a group is no answer.
func TestNaming_ListedInAGroup_IsBounded(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	namesThrice(t, w)
	w.Write(poll.GroupPath("trap"), poll.Set("name", "Trap"), poll.Set("creatorId", "gm"), poll.Set("memberIds", []any{"gm", "ana"}))
	for what, ask := range map[string]scheduler.Create{"in the group": {GroupID: "trap"}, "outside it": {}} {
		if _, err := names(w, ask, "ana"); !refused(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.Scheduler.MembersListed = true
	for what, ask := range map[string]scheduler.Create{"in the group": {GroupID: "trap"}, "outside it": {}} {
		if _, err := names(w, ask, "ana"); err != nil {
			t.Errorf("%s, where clients list nobody else: %v", what, err)
		}
	}
}

func TestGroupAcceptance_IsRecorded_WhileTheyAreMembers(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	people := func(field string, ids ...any) { w.Write(poll.GroupPath("party"), poll.Set(field, ids)) }
	accept := func(person string) {
		t.Helper()
		if _, err := w.Scheduler.AcceptGroup(w.Context(), worldtest.Person(person), "party"); err != nil {
			t.Fatal(err)
		}
	}
	want := func(after string, want ...string) {
		t.Helper()
		group, err := poll.LoadGroup(w.Context(), w.Documents, "party")
		if err == nil {
			err = poll.LoadAccepted(w.Context(), w.Documents, group)
		}
		if err != nil || !slices.Equal(group.AcceptedIDs, want) {
			t.Errorf("after %s, %q are recorded, want %q: %v", after, group.AcceptedIDs, want, err)
		}
	}
	w.Write(poll.GroupPath("party"), poll.Set("name", "Party"), poll.Set("creatorId", "gm"))
	people("memberIds", "gm", "ben", "dan")
	people("pendingMemberIds", "ana")
	want("a direct write")
	accept("ana")
	want("ana's acceptance", "ana")
	accept("ben")
	want("the acceptance of a member", "ana", "ben")
	accept("gm")
	want("the acceptance of the creator", "ana", "ben")
	if _, err := w.Scheduler.UpdateGroup(
		w.Context(), worldtest.Person("gm"), "party", scheduler.EditGroup{Remove: []string{"ana"}},
	); err != nil {
		t.Fatal(err)
	}
	want("ana's removal", "ben")
	if err := w.Scheduler.LeaveGroup(w.Context(), worldtest.Person("ben"), "party"); err != nil {
		t.Fatal(err)
	}
	people("memberIds", "gm", "ana", "ben")
	want("both are listed again")
}

// wantJoined wants those to be recorded who joined by choice.
func wantJoined(t *testing.T, w *worldtest.World, pollID, after string, want ...string) {
	t.Helper()
	if got := poll.Decode(w.Document(poll.Path(pollID))).JoinedIDs; !slices.Equal(got, want) {
		t.Errorf("after %s, %q joined, want %q", after, got, want)
	}
}

func TestJoined_IsRecorded_WhileTheyTakePart(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s, ctx, gm := w.Scheduler, w.Context(), worldtest.Person("gm")
	view, err := s.Create(ctx, gm, scheduler.Create{
		Title: "Joined", Slots: []worldtest.Slot{worldtest.Ten}, ParticipantIDs: []string{"ana", "ben", "dan", "fay"},
		AllowLinkSharing: true, PendingInvites: []string{"cho@example.com"},
	}, worldtest.Cause)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	id := view.Poll.ID
	joins := func(people ...string) {
		for _, person := range people {
			_, err := s.Join(ctx, scheduler.Person{ID: person}, id, worldtest.Cause)
			must(err)
		}
	}
	wantJoined(t, w, id, "creation")
	joins("gm", "ana", "ana")
	_, err = s.AcceptInvite(ctx, worldtest.Person("cho"), id, worldtest.Cause)
	must(err)
	_, err = s.Vote(ctx, worldtest.Person("ben"), id, scheduler.Vote{NoTimesWork: true}, worldtest.Cause)
	must(err)
	wantJoined(t, w, id, "ana joins, cho accepts and ben votes", "ana", "cho", "ben")
	_, err = s.Finalise(ctx, gm, id, scheduler.Finalise{SlotID: view.Slots[0].ID}, worldtest.Cause)
	must(err)
	_, err = s.Reopen(ctx, gm, id, true, worldtest.Cause)
	must(err)
	wantJoined(t, w, id, "it is finalised and reopened", "ana", "cho", "ben")
	must(s.Leave(ctx, worldtest.Person("cho"), id, worldtest.Cause))
	wantJoined(t, w, id, "cho leaves", "ana", "ben")
	edit := func(people ...string) {
		_, err := s.Edit(ctx, gm, id, scheduler.Edit{ParticipantIDs: &people}, worldtest.Cause)
		must(err)
	}
	edit("ben", "dan")
	edit("ana", "ben", "cho", "dan")
	wantJoined(t, w, id, "gm removes ana and names her and cho again", "ben")
	joins("dan")
	w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "dan"}), poll.Set("updatedAt", w.Clock.Now()))
	reconciled(t, w, id)
	w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "dan", "ben"}), poll.Set("updatedAt", w.Clock.Now()))
	wantJoined(t, w, id, "ben leaves in the web app, and gm names him there", "dan")
	joins("ben")
	w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "dan"}), poll.Set("updatedAt", w.Clock.Now()))
	edit("ben", "dan", "fay")
	wantJoined(t, w, id, "ben leaves in the web app, and gm names him at once", "dan")
}

// pollOfParty is a poll of gm's group, which ana is in as the web app listed her.
func pollOfParty(t *testing.T) (w *worldtest.World, pollID string) {
	t.Helper()
	w = worldtest.New(t, worldtest.Options{})
	w.Write(poll.GroupPath("party"), poll.Set("name", "Party"), poll.Set("creatorId", "gm"), poll.Set("memberIds", []any{"gm", "ana"}))
	pollID, err := names(w, scheduler.Create{GroupID: "party"})
	if err != nil {
		t.Fatal(err)
	}
	return w, pollID
}

// A member of the group may vote without being a participant; the vote is the proof then.
func TestJoined_GroupMembersVote_RecordsNobody(t *testing.T) {
	t.Parallel()
	w, id := pollOfParty(t)
	if _, err := w.Scheduler.Vote(w.Context(), worldtest.Person("ana"), id, scheduler.Vote{NoTimesWork: true}, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	wantJoined(t, w, id, "a vote of a member")
}

// A full poll has no room for a record, and its group's members take part all the same.
func TestJoin_GroupMemberOfAFullPoll_ChangesNothing(t *testing.T) {
	t.Parallel()
	w, id := pollOfParty(t)
	full := make([]any, scheduler.MaxPeople)
	for i := range full {
		full[i] = fmt.Sprint("person", i)
	}
	w.Write(poll.Path(id), poll.Set("participantIds", full))
	view, err := w.Scheduler.Join(w.Context(), worldtest.Person("ana"), id, worldtest.Cause)
	if err != nil || len(view.Poll.ParticipantIDs) != scheduler.MaxPeople {
		t.Errorf("%d take part, %v", len(view.Poll.ParticipantIDs), err)
	}
}

// Who is in a group by another's hand alone may say that they take part in its poll.
func TestJoined_GroupMemberJoins_IsRecorded(t *testing.T) {
	t.Parallel()
	w, id := pollOfParty(t)
	for range 2 {
		if _, err := w.Scheduler.Join(w.Context(), worldtest.Person("ana"), id, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	}
	wantJoined(t, w, id, "a member joins", "ana")
	p, err := poll.Load(w.Context(), w.Documents, id)
	if err != nil || !slices.Equal(p.ParticipantIDs, []string{"gm", "ana"}) {
		t.Errorf("%q take part, %v", p.ParticipantIDs, err)
	}
}

// An answer to the newest poll does not open all older ones.
func TestNaming_InPollsOlderThanAnAnswer_IsBounded(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	var older []string
	for range 8 {
		id, err := names(w, scheduler.Create{})
		if err != nil {
			t.Fatal(err)
		}
		older = append(older, id)
	}
	answered, err := names(w, scheduler.Create{}, "ana")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Scheduler.Join(w.Context(), worldtest.Person("ana"), answered, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	edit := func(i int) error {
		_, err := w.Scheduler.Edit(
			w.Context(), worldtest.Person("gm"), older[i], scheduler.Edit{ParticipantIDs: &[]string{"ana"}}, worldtest.Cause,
		)
		return err
	}
	for _, i := range []int{1, 5, 3} {
		if err := edit(i); err != nil {
			t.Errorf("poll %d: %v", i, err)
		}
	}
	for _, i := range []int{0, 2, 4, 6, 7} {
		if err := edit(i); !refused(err) {
			t.Errorf("poll %d, one too many: %v", i, err)
		}
	}
	if _, err := names(w, scheduler.Create{}, "ana"); err != nil {
		t.Errorf("a poll after the answer: %v", err)
	}
}

// Anybody's client can list gm in groups, and chooses their ids.
func TestNaming_FellowAmongManyGroups_HasNoBound(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	namesThrice(t, w)
	for i := range 60 {
		w.Write(poll.GroupPath(fmt.Sprintf("0%03d", i)), poll.Set("creatorId", "eve"), poll.Set("memberIds", []any{"eve", "gm"}))
	}
	if _, err := names(w, scheduler.Create{}, "ana"); !refused(err) {
		t.Errorf("a stranger: %v", err)
	}
	w.Write(poll.GroupPath("party"), poll.Set("name", "Party"), poll.Set("creatorId", "fay"), poll.Set("memberIds", []any{"fay", "gm", "ana"}))
	if _, err := names(w, scheduler.Create{}, "ana"); !refused(err) {
		t.Errorf("somebody whom a client listed beside gm: %v", err)
	}
	w.Write(poll.AcceptedPath("party"), poll.Set("creatorId", "fay"), poll.Set("acceptedIds", []any{"gm", "ana"}))
	for range 2 {
		if _, err := names(w, scheduler.Create{}, "ana"); err != nil {
			t.Errorf("a fellow: %v", err)
		}
	}
}

func TestNaming_BetweenAnswers_CountsThoseInARow(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	var own string
	for i := range 7 {
		people := []string{"ana"}
		if i == 3 {
			people = nil
		}
		id, err := names(w, scheduler.Create{}, people...)
		if err != nil {
			t.Fatal(err)
		}
		switch i {
		case 1, 5: // she answers the second one on either side
			w.Write(poll.VotePath(id, "ana"), worldtest.AppVote("ana")...)
		case 3:
			own = id
		}
	}
	if _, err := w.Scheduler.Edit(
		w.Context(), worldtest.Person("gm"), own, scheduler.Edit{ParticipantIDs: &[]string{"ana"}}, worldtest.Cause,
	); err != nil {
		t.Errorf("the third in a row: %v", err)
	}
}

// The web app's clients write documents below groups, which are no groups.
func TestCreate_GroupBelowAGroup_IsRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Write(poll.GroupPath("party").Doc("basicPolls", "b1"), poll.Set("creatorId", "gm"), poll.Set("memberIds", []any{"gm", "ana"}))
	for _, group := range []string{"party/basicPolls/b1", "none", "/", ".."} {
		_, err := names(w, scheduler.Create{GroupID: group}, "ana")
		named, isFault := errors.AsType[*fault.Error](err)
		if !isFault || named.Kind != fault.Invalid || len(named.Details) != 1 || named.Details[0].Field != "group_id" {
			t.Errorf("%s: %v", group, err)
		}
	}
}
