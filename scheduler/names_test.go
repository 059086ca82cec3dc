package scheduler_test

import (
	"fmt"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

// TestNames_AreBounded_AsInTheRules: what firestore.rules would refuse of a poll that
// the web app edits is not written here either.
func TestNames_AreBounded_AsInTheRules(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	gm := worldtest.Person("gm")
	pollID, _ := w.Poll()
	title := "Party"
	names := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprint("u", i))
		}
		return all
	}
	ask := scheduler.Create{Title: title, Slots: []worldtest.Slot{worldtest.Ten}}
	for field, write := range map[string]func(names []string) error{
		"participant_ids": func(names []string) error {
			ask := ask
			ask.ParticipantIDs = names
			_, err := w.Scheduler.Create(t.Context(), gm, ask, worldtest.Cause)
			return err
		},
		"participant_ids, edited": func(names []string) error {
			_, err := w.Scheduler.Edit(t.Context(), gm, pollID, scheduler.Edit{ParticipantIDs: &names}, worldtest.Cause)
			return err
		},
		"pending_invites": func(names []string) error {
			ask := ask
			ask.PendingInvites = names
			_, err := w.Scheduler.Create(t.Context(), gm, ask, worldtest.Cause)
			return err
		},
		"pending_invites, edited": func(names []string) error {
			_, err := w.Scheduler.Edit(t.Context(), gm, pollID, scheduler.Edit{PendingInvites: &names}, worldtest.Cause)
			return err
		},
		"member_ids": func(names []string) error {
			group, err := w.Scheduler.CreateGroup(t.Context(), gm, scheduler.EditGroup{Name: &title})
			if err == nil { // a group of its own, since invitations stay
				_, err = w.Scheduler.UpdateGroup(t.Context(), gm, group.ID, scheduler.EditGroup{MemberIDs: names})
			}
			return err
		},
	} {
		field, _, _ = strings.Cut(field, ",")
		most, longest := 499, 128 // the creator is one of them
		switch field {
		case "pending_invites":
			most, longest = 500, 254
		case "member_ids": // who are counted without the creator
			most = 500
		}
		for _, bad := range [][]string{
			names(most + 1), make([]string, 501), {strings.Repeat("x", longest+1)}, {strings.Repeat("é", longest/2+1)},
		} {
			err := write(bad)
			kind(t, err, fault.Invalid)
			if err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("%s of %d, the first %.20q: %v", field, len(bad), bad[0], err)
			}
		}
		for _, good := range [][]string{names(most), append(names(498), "", "u1"), {strings.Repeat("é", longest/2)}, {}} {
			if err := write(good); err != nil {
				t.Errorf("%s of %d: %v", field, len(good), err)
			}
		}
	}
}
