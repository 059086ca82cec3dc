package notify

import (
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// Drawing is what a run knows of a card that it compares with its poll.
type Drawing struct {
	// Ref names the change that the run took up (poll.Announcement.CardRef). A newer one, made
	// during the run, leaves the card pending.
	Ref, Trace string
	// Redraw: an earlier run may have edited the card without recording what it shows.
	Redraw bool
	// Begun: it is on record that this run may edit the card (poll.Announcement.CardBegun).
	Begun bool
}

// Drawn is what became of a drawing.
type Drawn struct {
	// Recorded: what the card shows was recorded, and with it that it is no longer pending.
	Recorded bool
	// Refused says why the card can never be drawn, which was recorded; nil if it was.
	Refused *fault.Error
}

func drawingOf(a poll.Announcement) Drawing {
	return Drawing{Ref: a.CardRef, Trace: a.CardTrace, Redraw: a.CardBegun, Begun: a.CardBegun}
}

// begin has the run draw the card, and gives the fields that record that. ref names what calls
// for it, unless another change did before.
func (r *run) begin(a poll.Announcement, ref string, now time.Time) []store.Update {
	r.draws, r.drawing = true, drawingOf(a)
	r.drawing.Begun = true
	if !a.CardPending() {
		r.drawing.Ref = ref
	}
	return a.CardBegunUpdates(ref, now)
}

// done gives the fields that record the end of a drawing, for an announcement as it is by then;
// nil where a newer change asks for the card.
func (d Drawing) done(a poll.Announcement) []store.Update {
	if !a.CardPending() || a.CardRef != d.Ref {
		return nil
	}
	updates := poll.CardDoneUpdates()
	if a.Failures > 0 {
		updates = append(updates, poll.RecoveredUpdates()...)
	}
	return updates
}
