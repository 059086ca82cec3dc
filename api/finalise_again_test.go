package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"questscheduler/fault"
	"questscheduler/poll"
	"questscheduler/queue"
	"questscheduler/scheduler"
	"questscheduler/store"
)

// finishInserts carries out what inserts of a poll are left, as their tasks do.
func (w *world) finishInserts(pollID string) {
	w.t.Helper()
	var left []poll.Intent
	must(w.t, w.store.Run(w.t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
		left, err = poll.IntentsOf(ctx, tx, pollID)
		return err
	}))
	for _, intent := range left {
		payload, err := json.Marshal(scheduler.Work{ID: intent.ID()})
		must(w.t, err)
		if verdict := w.options.Scheduler.HandleIntent(w.t.Context(), queue.Delivery{Payload: payload}); verdict.Outcome != queue.Done {
			w.t.Fatalf("intent %s ends as %+v", intent.ID(), verdict)
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

// amidst does something in the midst of the next finalisation: the journal was
// read and tells of nothing, and nothing is written yet.
func (w *world) amidst(do func()) {
	w.accounts.refuse = func(context.Context) error {
		w.accounts.refuse = nil
		do()
		return nil
	}
}

// TestKey_WhoseFinalisationIsDoneInTheMidstOfTheNextTry_MakesNoSecondEvent: the
// insert of the first try is carried out after the second found it not done.
func TestKey_WhoseFinalisationIsDoneInTheMidstOfTheNextTry_MakesNoSecondEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	w.loseInsert(keyed("k1", finaliseCall(made)))
	finished := false
	w.amidst(func() { w.finishInserts(made.ID); finished = true })
	var again pollJSON
	w.want(200, keyed("k1", finaliseCall(made)), &again)
	if want := poll.EventID(made.ID, 1); !finished || again.GoogleEventID == nil || *again.GoogleEventID != want || w.calendar.made() != 1 {
		t.Errorf("answered %+v, want event %s; %d events", again, want, w.calendar.made())
	}
	if left := w.intents(made.ID); left != 0 {
		t.Errorf("%d intents are left", left)
	}
}

// Each row is a choice that is sent again after its first answer, 503, and how
// many events are made in all.
func TestFinalise_TheSameChoiceAgain(t *testing.T) {
	t.Parallel()
	const (
		underWay = iota // the insert is still to be carried out
		amidst          // it is carried out while the choice is sent again
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
		{amidst, "k1", 1},
		{amidst, "k2", 2}, // a request of its own, of a poll that is finalised
		{amidst, "", 2},
		{done, "k1", 1},
		{done, "k2", 2},
		{done, "", 2},
	} {
		t.Run(fmt.Sprintf("%s with key %q", []string{"under way", "amidst", "done"}[row.when], row.key), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			made := w.newPoll(nil)
			w.loseInsert(keyed("k1", finaliseCall(made)))
			switch row.when {
			case amidst:
				w.amidst(func() { w.finishInserts(made.ID) })
			case done:
				w.finishInserts(made.ID)
			}
			again := finaliseCall(made)
			if row.key != "" {
				again = keyed(row.key, again)
			}
			w.want(200, again, nil)
			if w.calendar.made() != row.events {
				t.Errorf("%d events were made, want %d", w.calendar.made(), row.events)
			}
			// Whichever was sent, the first is known by now.
			w.want(200, keyed("k1", finaliseCall(made)), nil)
			if w.calendar.made() != row.events {
				t.Errorf("%d events after the first was sent once more", w.calendar.made())
			}
		})
	}
}
