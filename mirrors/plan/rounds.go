package plan

import (
	"slices"
	"strings"

	"questscheduler/internal/mirror"
	"questscheduler/rules"
)

const (
	// mostRounds is the Event.Rounds from which an event is not mirrored on. A person who makes
	// equal events in one calendar, each after the copy of the one before, stays below it.
	mostRounds = 3
	// mostDuplicates is the same for Event.Duplicates. People who duplicate the copy of a
	// duplicate do so a few times; a program that copies the marks too goes on without end.
	mostDuplicates = 10
)

// sayLoop is the LastError of a mirror that IsLooping.
const sayLoop = "Another program copies events between the same calendars, our copies too, so this copy of copies is not copied on. " +
	"Take the calendars out of one of the two programs and delete what is left over."

// Rounds returns the Event.Rounds of an event without a mirror's marks that was just observed for
// the first time. A program that copies what the mirror shows back into the calendar of the
// mirror's event makes an event there with the mirror's times and title, after the mirror was
// written. Whatever it copies between, without an end it comes back to a calendar. An equal event
// in a third calendar begins no round: a person may have the same meeting in all of theirs.
// others are events of the owner, and mirrors are theirs.
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
	if event.AccountID != of.AccountID || event.CalendarID != of.CalendarID || m.EventID == "" || m.In(event.CalendarID) {
		return false
	}
	if rules.Older(event.Updated, m.AnsweredAt) || !sameTimes(event, of) {
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
	return isTooLong(w.event) || w.series != nil && isTooLong(*w.series)
}

// isTooLong reports whether so many copies of copies precede an event that programs make them.
func isTooLong(event mirror.Event) bool {
	return event.Rounds >= mostRounds || event.Duplicates >= mostDuplicates
}
