package notify_test

import (
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
)

// makeCardPending writes what a change writes that is not announced.
func (w *world) makeCardPending() {
	w.t.Helper()
	w.write(func(tx store.Tx) error {
		return tx.Merge(poll.AnnouncementPath(pollID), poll.CardPendingUpdates(pollID)...)
	})
}

func TestHandle_PendingCard_IsDrawnAndNothingIsAnnounced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.makeCardPending()
	w.mustEnd()
	if got := w.field("Status"); got != "OPEN" {
		t.Errorf("the card shows %q", got)
	}
	if a := w.announcement(); a.CardPending || !a.Due.IsZero() || a.Announced.Ref != "" {
		t.Errorf("announcement %+v", a)
	}
	wantTexts(t, "messages", contents(w.messages(channel)))
	wantTexts(t, "ana", w.bell("ana"))
}

// A pending card does not hasten an announcement before it is due, which
// the same task draws then.
func TestHandle_PendingCardBeforeDueAnnouncement_HastensNothing(t *testing.T) {
	t.Parallel()
	w := announced(t)
	w.move(moved)
	w.want("gm", time.Minute)
	w.makeCardPending()
	if verdict := w.run(1); verdict.Outcome != queue.Later || verdict.After != time.Minute {
		t.Errorf("verdict %+v", verdict)
	}
	wantTexts(t, "messages", contents(w.messages(channel)))
	w.toTheEnd(1)
	wantTexts(t, "messages", contents(w.messages(channel)), movedMessage)
	if got := w.field("Status"); got != "RESCHEDULED" {
		t.Errorf("the card shows %q", got)
	}
}

func TestHandle_PendingCardOfDeletedPoll_IsNoLongerPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.makeCardPending()
	w.write(func(tx store.Tx) error { return tx.Delete(poll.Path(pollID)) })
	w.mustEnd()
	if w.announcement().CardPending {
		t.Error("it is pending for ever")
	}
}
