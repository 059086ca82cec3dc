package plan

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

const (
	// mostRounds is how many living events of Event.CopyOf stop an event from being mirrored. The
	// fourth equal event that a person makes in one calendar, after the copies of the three before,
	// is stopped too, since nothing tells it from a program's: its time is taken by those three.
	// One that is made over REST is ours.
	mostRounds = 3
	// mostDuplicates is the same for Event.DuplicateOf. People who duplicate the copy of a
	// duplicate do so a few times; a program that copies the marks too goes on without end.
	mostDuplicates = 10
	// mostCopies and mostEarlier are from how many events of CopyOf and of DuplicateOf, dead or
	// alive, an event is not mirrored. A program that deletes each copy while it makes another one
	// of the copy's mirror goes on without end, and no two of them live at a time.
	mostCopies  = 2 * mostRounds
	mostEarlier = 2 * mostDuplicates // bounds the lists
)

// sayLoop is the LastError of a mirror that IsLooping.
const sayLoop = "Another program copies events between the same calendars, our copies too, so this copy of copies is not copied on. " +
	"Take the calendars out of one of the two programs and delete what is left over."

// CopyOf returns the Event.CopyOf of an event without a mirror's marks that was just observed for
// the first time. A program that copies what the mirror shows back into the calendar of the
// mirror's event makes an event there with the mirror's times and title, after the mirror was
// written. Whatever it copies between, without an end it comes back to a calendar. An equal event
// in a third calendar begins no round: a person may have the same meeting in all of theirs.
// others are events of the owner, and mirrors are theirs. Of several chains that with the most
// living events counts, then the longest.
func CopyOf(event mirror.Event, others []mirror.Event, mirrors []mirror.Mirror) (earlier []string) {
	for _, m := range mirrors {
		i := slices.IndexFunc(others, func(e mirror.Event) bool { return e.ID == m.CanonicalID })
		if i < 0 || !answers(event, others[i], m) {
			continue
		}
		found := Behind(others[i].CopyOf, others[i].ID)
		if cmp.Or(living(found, others)-living(earlier, others), len(found)-len(earlier)) > 0 {
			earlier = found
		}
	}
	return earlier
}

func living(ids []string, events []mirror.Event) (n int) {
	for _, event := range events {
		if slices.Contains(ids, event.ID) && event.Status != cancelled {
			n++
		}
	}
	return n
}

// Behind adds an event to the earlier ones that it has itself.
func Behind(earlier []string, id string) []string {
	all := append(slices.Clone(earlier), id)
	return all[max(0, len(all)-mostEarlier):]
}

// answers reports whether an event may be a copy of a mirror of another one.
func answers(event, of mirror.Event, m mirror.Mirror) bool {
	if event.AccountID != of.AccountID || event.CalendarID != of.CalendarID || m.EventID == "" || m.In(event.CalendarID) {
		return false
	}
	return !rules.Older(event.Updated, m.AnsweredAt) && sameTimes(event, of) && isTitleOf(event.Title, Project(of, m.Detail).Summary)
}

// isTitleOf reports whether a title is another one, perhaps with a mark of its program before or
// behind it. A title that merely contains the other one, as a word does a letter, is not.
func isTitleOf(title, of string) bool {
	title, of = strings.TrimSpace(title), strings.TrimSpace(of)
	if title == of || of == "" {
		return title == of
	}
	if mark, marked := strings.CutSuffix(title, of); marked {
		last, _ := utf8.DecodeLastRuneInString(mark)
		return !inWord(last)
	}
	mark, marked := strings.CutPrefix(title, of)
	first, _ := utf8.DecodeRuneInString(mark)
	return marked && !inWord(first)
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// MayLoop reports whether an event that was just observed for the first time may be a copy that
// would be mirrored on.
func (of Situation) MayLoop(event mirror.Event) bool {
	return event.SeriesID == "" && event.Status != cancelled && len(of.asks(event)) > 0
}

// MayHoldBack lists the events, by id, that may keep an event from being mirrored: none, unless
// there are enough.
func MayHoldBack(event mirror.Event) (ids []string) {
	if len(event.CopyOf) >= mostRounds {
		ids = append(ids, event.CopyOf...)
	}
	if len(event.DuplicateOf) >= mostDuplicates {
		ids = append(ids, event.DuplicateOf...)
	}
	return ids
}

// loops reports whether the event, or the series that it is an exception of, must not be
// mirrored on: enough earlier events take its time in the account.
func (p *planning) loops(w want) bool {
	event := w.event
	if w.series != nil {
		event = *w.series
	}
	if len(MayHoldBack(event)) == 0 {
		return false
	}
	return IsEndless(event) ||
		p.taking(event, event.CopyOf, w) >= mostRounds || p.taking(event, event.DuplicateOf, w) >= mostDuplicates
}

// IsEndless reports whether an event has as many earlier ones, dead or alive, as one may have that
// is mirrored.
func IsEndless(event mirror.Event) bool {
	return len(event.CopyOf) >= mostCopies || len(event.DuplicateOf) >= mostEarlier
}

// Forgotten is an event that IsEndless after a person changed it into another one: it is nobody's
// copy then.
func Forgotten(was, next mirror.Event) mirror.Event {
	if IsEndless(next) && (!sameTimes(was, next) || was.Title != next.Title) {
		next.CopyOf, next.DuplicateOf = nil, nil
	}
	return next
}

// taking counts the earlier events that show an event's title and take its time in the account
// of a mirror.
func (p *planning) taking(event mirror.Event, earlier []string, w want) (n int) {
	for _, of := range p.Earlier {
		if !slices.Contains(earlier, of.ID) || !sameTimes(event, of) || !isMirrored(of, p.Owner, w.detail) {
			continue
		}
		_, asked := p.asks(of)[w.account]
		isThere := asked || of.AccountID == w.account
		isEqual := isTitleOf(event.Title, of.Title) || isTitleOf(event.Title, Project(of, mirror.Busy).Summary)
		if isThere && isEqual && p.takesOccurrences(event, of, w.detail) {
			n++
		}
	}
	return n
}

// takesOccurrences reports whether an earlier series takes the time of each occurrence of one
// with the same rule that is an exception in either.
func (p *planning) takesOccurrences(event, of mirror.Event, detail mirror.Detail) bool {
	for _, exception := range slices.Concat(p.Events, p.Earlier) {
		if !isExceptionOf(exception, event) && !isExceptionOf(exception, of) {
			continue
		}
		original := exception.OriginalStart
		own, earlier := occurrenceIn(event, original, p.Events), occurrenceIn(of, original, p.Earlier)
		if isMirrored(own, p.Owner, detail) && !(isMirrored(earlier, p.Owner, detail) && sameTimes(own, earlier)) {
			return false
		}
	}
	return true
}

// occurrenceIn is the occurrence of a series with an original start: the exception among some
// events, or what the rule has.
func occurrenceIn(series mirror.Event, original recurrence.Moment, events []mirror.Event) mirror.Event {
	i := slices.IndexFunc(events, func(e mirror.Event) bool {
		return isExceptionOf(e, series) && e.OriginalStart.Equal(original)
	})
	if i >= 0 {
		return events[i]
	}
	return occurrenceOf(series, original)
}
