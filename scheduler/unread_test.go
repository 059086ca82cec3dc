package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/points"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// fallible is a world in which reads of the program fail at the points that it returns. No
// transaction is run again for another reason: that would hide the failure.
func fallible(t *testing.T) (*worldtest.World, *points.Points) {
	t.Helper()
	p := &points.Points{}
	wrap := func(documents store.Store) store.Store { return &points.Reads{Store: documents, Points: p} }
	return worldtest.New(t, worldtest.Options{Wrap: wrap}), p
}

// A command that took a document that could not be read for one that is not there would decide
// as if there were no event, no slot or no vote.
func TestCalls_DocumentUnread_SayThatTheyFailed(t *testing.T) {
	t.Parallel()
	ana, gm, cause := worldtest.Person("ana"), worldtest.Person("gm"), worldtest.Cause
	title, words := "Another", "Bring dice."
	type call = func(ctx context.Context, w *worldtest.World, s fixture) error
	calls := map[string]struct {
		begin func(*worldtest.World) fixture
		do    call
	}{
		"view": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.View(ctx, ana, s.poll)
			return err
		}},
		"following": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Following(ctx, s.poll)
			return err
		}},
		"journal": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Journal(ctx, gm, s.poll, store.Paging{Limit: 9}, func(poll.JournalEntry) (bool, error) { return true, nil })
			return err
		}},
		"create": {fresh, func(ctx context.Context, w *worldtest.World, _ fixture) error {
			_, err := w.Scheduler.Create(ctx, gm, scheduler.Create{Title: title, Slots: []scheduler.Times{{
				Start: worldtest.Noon.Start, End: worldtest.Noon.End,
			}}}, cause)
			return err
		}},
		"edit": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Edit(ctx, gm, s.poll, scheduler.Edit{Title: &title, Description: &words}, cause)
			return err
		}},
		"vote": {fresh, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Vote(ctx, ana, s.poll, scheduler.Vote{Choices: map[string]string{s.slots[0]: poll.Preferred}}, cause)
			return err
		}},
		"leave": {fresh, func(ctx context.Context, w *worldtest.World, s fixture) error {
			return w.Scheduler.Leave(ctx, ana, s.poll, cause)
		}},
		"archive": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Archive(ctx, gm, s.poll, cause)
			return err
		}},
		"reopen": {moved, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Reopen(ctx, gm, s.poll, true, cause)
			return err
		}},
		"cancel": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Cancel(ctx, gm, s.poll, false, cause)
			return err
		}},
		"delete": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			return w.Scheduler.Delete(ctx, gm, s.poll, false, cause)
		}},
		"reconcile": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Reconcile(ctx, s.poll, cause)
			return err
		}},
		"show an error": {finalised, func(ctx context.Context, w *worldtest.World, s fixture) error {
			return w.Scheduler.SetSyncError(ctx, s.poll, rules.MassCancellationHeld, cause, nil)
		}},
		"resend": {moved, func(ctx context.Context, w *worldtest.World, s fixture) error {
			_, err := w.Scheduler.Resend(ctx, gm, s.poll, cause)
			return err
		}},
	}
	for name, c := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p := fallible(t)
			s := c.begin(w)
			p.NoneUnread(t, 1, func() error { return c.do(t.Context(), w, s) })
		})
	}
}

// Whichever read fails, poll and event agree in the end.
func TestReads_FailAnywhere_LeavePollAndEventAgreeing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		begin func(*worldtest.World) fixture
		act   act
	}{
		{fresh, finaliseFirst}, {finalised, finaliseSecond}, {finalised, cancelIt}, {moved, restoreIt}, {finalised, moveIt}, {moved, deleteEvent},
	} {
		t.Run(c.act.name, func(t *testing.T) {
			t.Parallel()
			n := 1
			for reached := true; reached && n <= worldtest.MostPoints; n += *stride {
				t.Run(fmt.Sprintf("at read %d", n), func(t *testing.T) {
					w, p := fallible(t)
					s := c.begin(w)
					p.FailAt(n)
					c.act.do(w, s)
					w.Run(time.Minute)
					reached = p.Reached()
					p.FailAt(0)
					w.Sweep()
					w.Run(3 * time.Minute)
					checkAgreement(t, w, s)
					atRest(t, w)
				})
			}
			points.Struck(t, n-*stride-1, 25)
		})
	}
}
