package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/worldtest"
	"questscheduler/poll"
	"questscheduler/scheduler"
)

// namedOf are those of whom is recorded that somebody else put them into a poll.
func namedOf(t *testing.T, w *worldtest.World, pollID string) []string {
	t.Helper()
	announcement, err := poll.LoadAnnouncement(w.Context(), w.Documents, pollID)
	if err != nil {
		t.Fatal(err)
	}
	return announcement.Named
}

// wantNamed wants those people, and no others, to be recorded as named.
func wantNamed(t *testing.T, w *worldtest.World, pollID, after string, want ...string) {
	t.Helper()
	if got := namedOf(t, w, pollID); !slices.Equal(got, want) {
		t.Errorf("after %s, named are %q, want %q", after, got, want)
	}
}

func TestNamed_OverTheAPI_UntilTheyJoinOrVote(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s, ctx := w.Scheduler, w.Context()
	view, err := s.Create(ctx, worldtest.Person("gm"), scheduler.Create{
		Title: "Named", Slots: []worldtest.Slot{worldtest.Ten}, ParticipantIDs: []string{"gm", "cho", "ben", "dan", "eve"}, AllowLinkSharing: true,
	}, worldtest.Cause)
	if err != nil {
		t.Fatal(err)
	}
	id := view.Poll.ID
	edit := func(people ...string) {
		t.Helper()
		if _, err := s.Edit(ctx, worldtest.Person("gm"), id, scheduler.Edit{ParticipantIDs: &people}, worldtest.Cause); err != nil {
			t.Fatal(err)
		}
	}
	wantNamed(t, w, id, "creation", "ben", "cho", "dan", "eve")
	w.Vote(id, "ben", map[string]string{view.Slots[0].ID: poll.Feasible})
	wantNamed(t, w, id, "a vote", "cho", "dan", "eve")
	if _, err := s.Join(ctx, worldtest.Person("cho"), id, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	wantNamed(t, w, id, "cho joins, who is among the participants", "dan", "eve")
	if _, err := s.Join(ctx, worldtest.Person("ana"), id, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	edit("ana", "ben", "cho", "dan", "fay")
	wantNamed(t, w, id, "an edit that removes eve and adds fay", "dan", "fay")
	if err := s.Leave(ctx, scheduler.Person{ID: "dan"}, id, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
	wantNamed(t, w, id, "dan leaves", "fay")
	edit("ana", "cho", "fay")
	edit("ana", "ben", "cho", "fay")
	wantNamed(t, w, id, "ben is removed and put back", "ben", "fay")
}

// joinsDirectly has ben join in the web app, who was named before.
func joinsDirectly(w *worldtest.World, id string) {
	w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "ana", "ben"}), poll.Set("updatedAt", w.Clock.Now()))
}

// reconciled has a hint tell of a poll.
func reconciled(t *testing.T, w *worldtest.World, id string) {
	t.Helper()
	if _, err := w.Scheduler.Reconcile(w.Context(), id, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
}

// finalisedThen has gm finalise a poll.
func finalisedThen(t *testing.T, w *worldtest.World, id string) {
	t.Helper()
	if _, err := w.Finalise(id, "s1"); err != nil {
		t.Fatal(err)
	}
}

// A poll that the web app made names its first participants, as long as nobody has
// written it again: a join would have.
func TestNamed_ByTheApp_AreThoseOfTheCreation(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before func(w *worldtest.World, id string)
		seen   func(t *testing.T, w *worldtest.World, id string)
		want   []string
	}{
		{"a hint tells of it", nil, reconciled, []string{"ana", "ben"}},
		{"it is finalised, and no hint told of it", nil, finalisedThen, []string{"ana", "ben"}},
		{"ben joined before anything told of it", joinsDirectly, reconciled, nil},
		{"ben joined before it is finalised", joinsDirectly, finalisedThen, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			const id = "written"
			w.Write(poll.Path(id), poll.Set("title", "Written by the app"), poll.Set("creatorId", "gm"), poll.Set("status", "OPEN"),
				poll.Set("participantIds", []any{"gm", "ana", "ben"}), poll.Set("createdAt", w.Clock.Now()))
			w.Write(poll.SlotPath(id, "s1"), poll.Set("start", "2026-03-10T10:00:00.000Z"), poll.Set("end", "2026-03-10T11:00:00.000Z"))
			if row.before != nil {
				row.before(w, id)
			}
			row.seen(t, w, id)
			wantNamed(t, w, id, row.name, row.want...)
			w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "ana", "ben", "cho"}), poll.Set("updatedAt", w.Clock.Now()))
			reconciled(t, w, id)
			wantNamed(t, w, id, "cho joins directly", row.want...)
			w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "ben", "cho"}), poll.Set("updatedAt", w.Clock.Now()))
			reconciled(t, w, id)
			w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "ben", "cho", "ana"}), poll.Set("updatedAt", w.Clock.Now()))
			reconciled(t, w, id)
			wantNamed(t, w, id, "ana leaves, and joins directly", slices.DeleteFunc(slices.Clone(row.want), func(who string) bool { return who == "ana" })...)
		})
	}
}

// A poll of before has no record, and everybody in it counts.
func TestNamed_PollOfBefore_EverybodyIsTold(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	id, slots := w.Poll()
	w.Write(poll.AnnouncementPath(id), poll.NamedUpdates(id, nil)...)
	for _, voter := range []string{"ana", "ben", "cho"} {
		w.Remove(poll.VotePath(id, voter))
	}
	if _, err := w.Finalise(id, slots[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Cancel(id); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
	for _, person := range []string{"ana", "ben", "cho"} {
		equal(t, "notices of "+person, len(w.Notices(person)), 1)
	}
}
