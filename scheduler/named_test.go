package scheduler_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
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
		Title: "Named", Slots: []worldtest.Slot{worldtest.Ten}, ParticipantIDs: []string{"gm", "cho", "ben", "dan", "eve"},
		AllowLinkSharing: true,
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

// reconciled reports a change of a poll's document.
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

// writtenByApp is a poll of gm's that the web app made, with ana and ben in it.
func writtenByApp(w *worldtest.World) (id string) {
	id = "written"
	w.Write(poll.Path(id), poll.Set("title", "Written by the app"), poll.Set("creatorId", "gm"), poll.Set("status", "OPEN"),
		poll.Set("allowLinkSharing", true),
		poll.Set("participantIds", []any{"gm", "ana", "ben"}), poll.Set("createdAt", w.Clock.Now()))
	w.Write(poll.SlotPath(id, "s1"), poll.Set("start", "2026-03-10T10:00:00.000Z"), poll.Set("end", "2026-03-10T11:00:00.000Z"))
	return id
}

// cancelled has gm cancel a poll, and waits for the announcement.
func cancelled(t *testing.T, w *worldtest.World, id string) {
	t.Helper()
	if _, err := w.Cancel(id); err != nil {
		t.Fatal(err)
	}
	w.Run(time.Minute)
}

// ben is among the participants of a poll of the app, and joins or votes over the
// API, which changes nobody's part in it.
func TestNamed_WhoJoinsOverTheAPI_StaysUnnamed(t *testing.T) {
	t.Parallel()
	for name, joins := range map[string]func(w *worldtest.World, id string) error{
		"joins": func(w *worldtest.World, id string) error {
			_, err := w.Scheduler.Join(w.Context(), worldtest.Person("ben"), id, worldtest.Cause)
			return err
		},
		"accepts": func(w *worldtest.World, id string) error {
			_, err := w.Scheduler.AcceptInvite(w.Context(), worldtest.Person("ben"), id, worldtest.Cause)
			return err
		},
		"votes": func(w *worldtest.World, id string) error {
			_, err := w.Scheduler.Vote(
				w.Context(), worldtest.Person("ben"), id, scheduler.Vote{Choices: map[string]string{"s1": poll.Feasible}},
				worldtest.Cause,
			)
			w.Remove(poll.VotePath(id, "ben")) // and the app takes the vote back
			return err
		},
	} {
		for _, reported := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", reported ", reported), func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				id := writtenByApp(w)
				if reported {
					reconciled(t, w, id)
				}
				if err := joins(w, id); err != nil {
					t.Fatal(err)
				}
				wantNamed(t, w, id, "ben "+name, "ana")
				if reported {
					reconciled(t, w, id)
					wantNamed(t, w, id, "a change of the poll is reported", "ana")
				}
				finalisedThen(t, w, id)
				wantNamed(t, w, id, "finalising", "ana")
				cancelled(t, w, id)
				equal(t, "notices of ben", len(w.Notices("ben")), 1)
				equal(t, "notices of ana", len(w.Notices("ana")), 0)
			})
		}
	}
}

// The rules let a join leave updatedAt out. Where the document does not show whether
// somebody joined, everybody counts.
func TestNamed_DirectJoinWithoutATime_IsNotSilenced(t *testing.T) {
	t.Parallel()
	for name, reported := range map[string]bool{"after the first report": true, "before any": false} {
		for then, report := range map[string]func(t *testing.T, w *worldtest.World, id string){
			"a report": reconciled, "no report": func(*testing.T, *worldtest.World, string) {},
		} {
			t.Run(name+", then "+then, func(t *testing.T) {
				t.Parallel()
				w := worldtest.New(t, worldtest.Options{})
				id := writtenByApp(w)
				if reported {
					reconciled(t, w, id)
				}
				w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "ana", "ben", "cho"}))
				report(t, w, id)
				finalisedThen(t, w, id)
				cancelled(t, w, id)
				equal(t, "notices of cho", len(w.Notices("cho")), 1)
				equal(t, "notices of ana", len(w.Notices("ana")), map[bool]int{true: 0, false: 1}[reported])
			})
		}
	}
}

// retitled has gm edit a poll's title over the API.
func retitled(t *testing.T, w *worldtest.World, id string) {
	t.Helper()
	title := "Another"
	if _, err := w.Scheduler.Edit(w.Context(), worldtest.Person("gm"), id, scheduler.Edit{Title: &title}, worldtest.Cause); err != nil {
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
		report func(t *testing.T, w *worldtest.World, id string)
		want   []string
	}{
		{"it is reported", nil, reconciled, []string{"ana", "ben"}},
		{"it is finalised before any report", nil, finalisedThen, []string{"ana", "ben"}},
		{"its title is edited before any report", nil, retitled, []string{"ana", "ben"}},
		{"ben joined before any report", joinsDirectly, reconciled, nil},
		{"ben joined before it is finalised", joinsDirectly, finalisedThen, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			id := writtenByApp(w)
			if row.before != nil {
				row.before(w, id)
			}
			row.report(t, w, id)
			wantNamed(t, w, id, row.name, row.want...)
			w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "ana", "ben", "cho"}), poll.Set("updatedAt", w.Clock.Now()))
			reconciled(t, w, id)
			wantNamed(t, w, id, "cho joins directly", row.want...)
			w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "ben", "cho"}), poll.Set("updatedAt", w.Clock.Now()))
			reconciled(t, w, id)
			w.Write(poll.Path(id), poll.Set("participantIds", []any{"gm", "ben", "cho", "ana"}), poll.Set("updatedAt", w.Clock.Now()))
			reconciled(t, w, id)
			wantNamed(t, w, id, "ana leaves, and joins directly", slices.DeleteFunc(
				slices.Clone(row.want), func(who string) bool { return who == "ana" },
			)...)
		})
	}
}

// Another poll of the id of one that was deleted has its own people.
func TestNamed_RecreatedPoll_AreThoseOfTheNewOne(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	id := writtenByApp(w)
	finalisedThen(t, w, id)
	w.Run(time.Hour)
	w.DeleteDirectly(id)
	writtenByApp(w)
	reconciled(t, w, id)
	wantNamed(t, w, id, "a change of the new poll is reported", "ana", "ben")
}

// A poll of the app that was there before this program came by has no record, and
// everybody in it counts, also where nobody has written it since it was made.
func TestNamed_OldPoll_EverybodyIsNotified(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(t *testing.T, w *worldtest.World, id string){
		"a report": reconciled, "no report": func(*testing.T, *worldtest.World, string) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			id := writtenByApp(w)
			w.Run(15 * time.Minute)
			report(t, w, id)
			finalisedThen(t, w, id)
			wantNamed(t, w, id, "finalising a poll of before")
			cancelled(t, w, id)
			for _, person := range []string{"ana", "ben"} {
				equal(t, "notices of "+person, len(w.Notices(person)), 1)
			}
		})
	}
}
