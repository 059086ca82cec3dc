package worldtest

import (
	"context"

	"questscheduler/demo/sim/google"
	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

// ForeignPrefix begins the ids like a mirror's that people chose.
const ForeignPrefix = mirror.EventPrefix + "0foreign"

// Neighbour is another person, who may follow one of Mirrorer's calendars.
const Neighbour = "ben"

// ShareMirrored shares the calendar of one of Mirrorer's accounts with another of them, and
// returns the calendar's id. The program learns of it when somebody names the calendar.
func (w *World) ShareMirrored(name, with string) (calendarID string) {
	w.t.Helper()
	calendarID = Person(name).Email
	w.must(w.Google.Share(calendarID, with, google.Writer))
	return calendarID
}

// FollowMirrored shares the calendar of one of Mirrorer's accounts with Neighbour, whose
// mirroring follows it from then on.
func (w *World) FollowMirrored(name string) {
	w.t.Helper()
	calendarID := Person(name).Email
	w.must(w.Google.Share(calendarID, Neighbour, google.Writer))
	account := w.Link(Neighbour).ID
	w.must(w.Documents.Run(w.ctx, func(ctx context.Context, tx store.Tx) error {
		calendar, _, err := calendars.Load(ctx, tx, account, calendarID)
		if err != nil {
			return err
		}
		return tx.Merge(calendars.Path(calendar.Key), calendar.Want(mirror.Consumer, 1, Cause.Request(w.Clock.Now()), Neighbour)...)
	}))
	w.must(w.Watcher.Follow(w.ctx, account, calendarID, Cause))
}

// calendarOf is the account, by name, whose own calendar an edge leads from.
func (w *World) calendarOf(edge mirror.Edge) string {
	for _, name := range w.MirroredNames() {
		if edge.FromCalendarID == Person(name).Email {
			return name
		}
	}
	return w.nameOf(edge.FromAccountID)
}
