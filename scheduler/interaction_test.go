package scheduler_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/discord"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// A press on Discord that comes once more, since its answer was lost, says that it was done. One
// that did nothing is not taken as done.
func TestCommands_OfAnInteraction_TakeEffectOnce(t *testing.T) {
	t.Parallel()
	type call = func(ctx context.Context, w *worldtest.World, s fixture, cause scheduler.Cause) error
	for name, c := range map[string]struct {
		begin func(*worldtest.World) fixture
		do    call
	}{
		"vote": {fresh, func(ctx context.Context, w *worldtest.World, s fixture, cause scheduler.Cause) error {
			_, err := w.Scheduler.Vote(ctx, worldtest.Person("ana"), s.poll, scheduler.Vote{NoTimesWork: true}, cause)
			return err
		}},
		"create": {fresh, func(ctx context.Context, w *worldtest.World, _ fixture, cause scheduler.Cause) error {
			_, err := w.Scheduler.Create(ctx, gm, scheduler.Create{Title: "Session", Slots: []worldtest.Slot{worldtest.Ten}}, cause)
			return err
		}},
		"finalise without an event": {fresh, func(ctx context.Context, w *worldtest.World, s fixture, cause scheduler.Cause) error {
			_, err := w.Scheduler.Finalise(ctx, gm, s.poll, scheduler.Finalise{SlotID: s.slots[0]}, cause)
			return err
		}},
		"cancel": {finalised, func(ctx context.Context, w *worldtest.World, s fixture, cause scheduler.Cause) error {
			_, err := w.Scheduler.Cancel(ctx, gm, s.poll, false, cause)
			return err
		}},
		"reopen": {finalised, func(ctx context.Context, w *worldtest.World, s fixture, cause scheduler.Cause) error {
			_, err := w.Scheduler.Reopen(ctx, gm, s.poll, true, cause)
			return err
		}},
		"archive": {finalised, func(ctx context.Context, w *worldtest.World, s fixture, cause scheduler.Cause) error {
			_, err := w.Scheduler.Archive(ctx, gm, s.poll, cause)
			return err
		}},
		"accept the new time": {moved, func(ctx context.Context, w *worldtest.World, s fixture, cause scheduler.Cause) error {
			shown := rules.Timed(worldtest.Noon.Start, worldtest.Noon.End).String()
			_, err := w.Scheduler.AcceptNew(ctx, gm, s.poll, shown, cause)
			return err
		}},
		"restore the old one": {moved, func(ctx context.Context, w *worldtest.World, s fixture, cause scheduler.Cause) error {
			_, err := w.Scheduler.RestoreOriginal(ctx, gm, s.poll, cause)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := c.begin(w)
			cause := scheduler.Cause{Trigger: "person", Trace: "press", Interaction: "press-1"}
			if err := c.do(t.Context(), w, s, cause); err != nil {
				t.Fatal(err)
			}
			record := w.Document(discord.InteractionPath("press-1"))
			equal(t, "it is recorded", record.Exists(), true)
			w.Run(time.Minute)
			polls, journal := len(w.Polls()), len(w.Journal(s.poll))
			err := c.do(t.Context(), w, s, cause)
			equal(t, "once more", fault.CodeOf(err), discord.CodeInteractionDone)
			equal(t, "once more, refused as", fault.KindOf(err), fault.Conflict)
			equal(t, "polls", len(w.Polls()), polls)
			equal(t, "entries of the journal", len(w.Journal(s.poll)), journal)
			w.Run(time.Minute)
			atRest(t, w)
		})
	}
}

// What is refused for another reason says that one.
func TestCommands_OfAnInteractionThatIsNew_SayWhyTheyAreRefused(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	s := finalised(w)
	w.Write(discord.InteractionPath("press-1"), poll.Set("doneAt", w.Clock.Now()))
	for _, cause := range []scheduler.Cause{{Interaction: "press-2"}, {}} {
		_, err := w.Scheduler.RestoreOriginal(t.Context(), gm, s.poll, cause)
		kind(t, err, fault.Conflict)
		equal(t, "code", fault.CodeOf(err), "")
		_, err = w.Scheduler.Vote(t.Context(), worldtest.Person("ana"), s.poll, scheduler.Vote{NoTimesWork: true}, cause)
		kind(t, err, fault.Conflict)
		equal(t, "code of a vote", fault.CodeOf(err), "")
	}
	equal(t, "it is recorded", w.Document(discord.InteractionPath("press-2")).Exists(), false)
}

// A press that finalised a poll once does not join another request for the same slot, which waits
// for the calendar after the poll was reopened. One that is new does, and so does the request itself.
func TestFinalise_ByAPress_JoinsAnotherRequestOnlyIfNew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		waits, press string
		code         string
	}{
		"the press that finalised before": {"", "press-1", discord.CodeInteractionDone},
		"another press":                   {"", "press-2", ""},
		"the press that waits":            {"press-2", "press-2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			s := fresh(w)
			finalise := func(press string) error {
				ask := scheduler.Finalise{SlotID: s.slots[0], CreateEvent: true, Request: press}
				_, err := w.Scheduler.Finalise(t.Context(), gm, s.poll, ask, scheduler.Cause{Trigger: "person", Interaction: press})
				return err
			}
			if err := finalise("press-1"); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Scheduler.Reopen(t.Context(), gm, s.poll, true, worldtest.Cause); err != nil {
				t.Fatal(err)
			}
			w.Run(time.Minute)
			w.Fail("before events.insert", fault.New(fault.Unavailable, "no answer"))
			kind(t, finalise(c.waits), fault.Unavailable)
			equal(t, "code", fault.CodeOf(finalise(c.press)), c.code)
			w.Run(time.Hour)
			equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
			equal(t, "events", len(w.Events("gm")), 1)
			atRest(t, w)
		})
	}
}
