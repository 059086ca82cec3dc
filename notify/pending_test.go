package notify_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
)

// oweCard writes what a change writes that nobody is told of.
func (w *world) oweCard() {
	w.t.Helper()
	w.write(func(tx store.Tx) error {
		return tx.Merge(poll.AnnouncementPath(pollID), poll.OweCardUpdates(pollID)...)
	})
}

func TestHandle_ACardThatIsOwed_IsDrawnAndNothingIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.oweCard()
	w.mustEnd()
	if got := w.field("Status"); got != "OPEN" {
		t.Errorf("the card shows %q", got)
	}
	if a := w.announcement(); a.CardOwed || !a.Due.IsZero() || a.Announced.Ref != "" {
		t.Errorf("announcement %+v", a)
	}
	wantTexts(t, "lines", contents(w.lines(channel)))
	wantTexts(t, "ana", w.bell("ana"))
}

// What rests before it is told is told no sooner for a card that is owed, which
// the same task draws then.
func TestHandle_ACardThatIsOwedWhileSomethingRests_HastensNothing(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", time.Minute)
	w.oweCard()
	if verdict := w.run(1); verdict.Outcome != queue.Later || verdict.After != time.Minute {
		t.Errorf("verdict %+v", verdict)
	}
	wantTexts(t, "lines", contents(w.lines(channel)))
	w.toTheEnd(1)
	wantTexts(t, "lines", contents(w.lines(channel)), movedLine)
	if got := w.field("Status"); got != "RESCHEDULED" {
		t.Errorf("the card shows %q", got)
	}
}

func TestHandle_ACardThatIsOwedOfAPollThatIsGone_IsOwedNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.oweCard()
	w.write(func(tx store.Tx) error { return tx.Delete(poll.Path(pollID)) })
	w.mustEnd()
	if w.announcement().CardOwed {
		t.Error("it is owed for ever")
	}
}
