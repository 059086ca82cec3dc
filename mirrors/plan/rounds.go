package plan

import (
	"slices"
	"strings"

	"questscheduler/internal/mirror"
	"questscheduler/rules"
)

// mostRounds is the Event.Rounds from which an event is not mirrored on. A person who makes
// equal events by hand, or copies a mirror once or twice, stays below it.
const mostRounds = 3

// sayLoop is the LastError of a mirror that IsLooping.
const sayLoop = "Another program copies events between the same calendars, our copies too, so this copy of copies is not copied on. " +
	"Take the calendars out of one of the two programs and delete what is left over."

// Rounds returns the Event.Rounds of an event that was just observed for the first time. A
// copy by another program answers a mirror: it has the mirror's times and shows its title, is in
// another calendar and was made after the mirror was written. others are events of the owner, and
// mirrors are theirs.
func Rounds(event mirror.Event, others []mirror.Event, mirrors []mirror.Mirror) (rounds int64) {
	for _, m := range mirrors {
		i := slices.IndexFunc(others, func(e mirror.Event) bool { return e.ID == m.CanonicalID })
		if i >= 0 && answers(event, others[i], m) {
			rounds = max(rounds, others[i].Rounds+1)
		}
	}
	return rounds
}

// answers reports whether an event may be a copy of a mirror of another one.
func answers(event, of mirror.Event, m mirror.Mirror) bool {
	if m.EventID == "" || m.In(event.CalendarID) || rules.Older(event.Updated, m.AnsweredAt) || !sameTimes(event, of) {
		return false
	}
	title := Project(of, m.Detail).Summary
	return strings.TrimSpace(event.Title) == title || title != "" && strings.Contains(event.Title, title)
}

// MayLoop reports whether an event that was just observed for the first time may be a copy that
// would be mirrored on.
func (of Situation) MayLoop(event mirror.Event) bool {
	return event.SeriesID == "" && event.Status != cancelled && len(of.asks(event)) > 0
}

// loops reports whether the event, or the series that it is an exception of, must not be
// mirrored on.
func (w want) loops() bool {
	return w.event.Rounds >= mostRounds || w.series != nil && w.series.Rounds >= mostRounds
}
