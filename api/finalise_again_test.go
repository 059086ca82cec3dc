package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// finishInserts carries out what inserts of a poll are left, as once their requests hold them no more.
func (w *world) finishInserts(pollID string) {
	w.t.Helper()
	var left []poll.Intent
	must(w.t, w.store.Run(w.t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
		left, err = poll.IntentsOf(ctx, tx, pollID)
		return err
	}))
	for _, intent := range left {
		must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
			return tx.Update(intent.Path(), poll.Set("due", w.options.Now()))
		}))
		if again, err := w.outbox.Run(w.t.Context(), scheduler.KindIntent, intent.ID()); err != nil || !again.IsZero() {
			w.t.Fatalf("intent %s is due again at %v, %v", intent.ID(), again, err)
		}
	}
}

// loseInsert has a finalisation be answered by 503, for its event may be made or
// not.
func (w *world) loseInsert(c call) {
	w.t.Helper()
	w.calendar.onInsert = func(context.Context, int) error { return fault.New(fault.Unavailable, "no answer") }
	w.want(503, c, nil)
	w.calendar.onInsert = nil
}

// duringFinalise runs do during a finalisation: the journal was read and has no entry
// of it, and nothing is written yet.
func (w *world) duringFinalise(c call, do func()) answer {
	w.t.Helper()
	reached, goOn := make(chan struct{}), make(chan struct{})
	w.accounts.refuse = func(ctx context.Context) error {
		w.accounts.refuse = nil
		close(reached)
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	answers := w.later(c)
	select {
	case <-reached:
	case got := <-answers:
		w.t.Fatalf("answered %d %s before it asked for the calendar", got.status, got.text)
	}
	do()
	close(goOn)
	return <-answers
}

// TestKey_FinalisedDuringARetry_MakesNoSecondEvent: the
// insert of the first try is carried out after the second found it not done.
func TestKey_FinalisedDuringARetry_MakesNoSecondEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	w.loseInsert(keyed("k1", finaliseCall(made)))
	again := w.duringFinalise(keyed("k1", finaliseCall(made)), func() { w.finishInserts(made.ID) })
	if again.status != 200 || !strings.Contains(again.text, poll.EventID(made.ID, 1)) || w.calendar.made() != 1 {
		t.Errorf("answered %d %s; %d events", again.status, again.text, w.calendar.made())
	}
	if left := w.intents(made.ID); left != 0 {
		t.Errorf("%d intents are left", left)
	}
}

// Each row is a choice that is sent again after its first answer, 503, and how
// many events are made in all.
func TestFinalise_SameChoiceAgain_MakesOneEventPerKey(t *testing.T) {
	t.Parallel()
	const (
		underWay = iota // the insert is still to be carried out
		during          // it is carried out while the choice is sent again
		done            // it was carried out
	)
	for _, row := range []struct {
		when   int
		key    string // "" for none
		events int
	}{
		{underWay, "k1", 1},
		{underWay, "k2", 1}, // it goes on with what is under way
		{underWay, "", 1},
		{during, "k1", 1},
		{during, "k2", 2}, // a request of its own, of a poll that is finalised
		{during, "", 2},
		{done, "k1", 1},
		{done, "k2", 2},
		{done, "", 2},
	} {
		t.Run(fmt.Sprintf("%s with key %q", []string{"under way", "during", "done"}[row.when], row.key), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.newPoll(nil)
			w.loseInsert(keyed("k1", finaliseCall(made)))
			again := finaliseCall(made)
			if row.key != "" {
				again = keyed(row.key, again)
			}
			var got answer
			switch row.when {
			case during:
				got = w.duringFinalise(again, func() { w.finishInserts(made.ID) })
			case done:
				w.finishInserts(made.ID)
				fallthrough
			default:
				got = w.send(again)
			}
			if got.status != 200 || w.calendar.made() != row.events {
				t.Errorf("answered %d %s; %d events were made, want %d", got.status, got.text, w.calendar.made(), row.events)
			}
			// Whichever was sent, the first is known by now.
			w.want(200, keyed("k1", finaliseCall(made)), nil)
			if w.calendar.made() != row.events {
				t.Errorf("%d events after the first was sent once more", w.calendar.made())
			}
		})
	}
}

// TestKey_FirstRequestResumesLate_MakesNoSecondEvent: its lease ran out before
// it wrote anything, and another request with the key did all of it.
func TestKey_FirstRequestResumesLate_MakesNoSecondEvent(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	made := w.newPoll(nil)
	first := w.duringFinalise(keyed("k1", finaliseCall(made)), func() {
		clock.advance(75 * time.Second)
		w.want(200, keyed("k1", finaliseCall(made)), nil)
	})
	if first.status != 200 || !strings.Contains(first.text, poll.EventID(made.ID, 1)) || w.calendar.made() != 1 {
		t.Errorf("answered %d %s; %d events", first.status, first.text, w.calendar.made())
	}
}
