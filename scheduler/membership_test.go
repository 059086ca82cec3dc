package scheduler_test

import (
	"slices"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/test/worldtest"
	"questscheduler/scheduler"
)

func TestDeclineInvite_ByAStranger_IsNotFound(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _ := w.Poll()
	stranger := scheduler.Person{ID: "stranger", Email: "stranger@example.com"}
	kind(t, w.Scheduler.DeclineInvite(t.Context(), stranger, pollID, scheduler.Cause{}), fault.NotFound)
}

func TestDeclineInvite_TakesTheInvitationAway(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _ := w.Poll()
	creator := scheduler.Person{ID: w.View(pollID).Poll.CreatorID}
	invites := []string{"Dee@example.com"}
	if _, err := w.Scheduler.Edit(t.Context(), creator, pollID, scheduler.Edit{PendingInvites: &invites}, scheduler.Cause{}); err != nil {
		t.Fatal(err)
	}
	dee := scheduler.Person{ID: "dee", Email: "dee@example.com"}
	if err := w.Scheduler.DeclineInvite(t.Context(), dee, pollID, scheduler.Cause{}); err != nil {
		t.Fatal(err)
	}
	if left := w.View(pollID).Poll.PendingInvites; len(left) != 0 {
		t.Errorf("the invitation stands: %v", left)
	}
	kind(t, w.Scheduler.DeclineInvite(t.Context(), dee, pollID, scheduler.Cause{}), fault.NotFound)
}

func TestDeclineInvite_OfANamedPerson_IsNoConsent(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _ := w.Poll()
	creator := scheduler.Person{ID: w.View(pollID).Poll.CreatorID}
	people, invites := []string{creator.ID, "dee"}, []string{"dee@example.com"}
	edit := scheduler.Edit{ParticipantIDs: &people, PendingInvites: &invites}
	if _, err := w.Scheduler.Edit(t.Context(), creator, pollID, edit, scheduler.Cause{}); err != nil {
		t.Fatal(err)
	}
	dee := scheduler.Person{ID: "dee", Email: "dee@example.com"}
	if err := w.Scheduler.DeclineInvite(t.Context(), dee, pollID, scheduler.Cause{}); err != nil {
		t.Fatal(err)
	}
	if p := w.View(pollID).Poll; !slices.Contains(p.ParticipantIDs, "dee") || slices.Contains(p.JoinedIDs, "dee") {
		t.Errorf("participants %q, of whom joined %q", p.ParticipantIDs, p.JoinedIDs)
	}
}
