package plan

import (
	"slices"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
)

// mostStarts is how many starts of a rule are generated to find one occurrence.
const mostStarts = 1000

// decideOccurrence settles one occurrence that is an exception somewhere. byRule is what the
// account shows of it by the rules of series. An exception of one of series, which mirrors
// show in the account, is an instance of that mirror, which is changed or cancelled; the
// others have mirrors of their own.
func (p *planning) decideOccurrence(
	events []mirror.Event, account string, original recurrence.Moment, byRule []mirror.Event, series []ask,
) {
	at := original.String()
	var wanted []want
	for _, one := range series {
		for _, event := range p.exceptions(events, account, at, one.event) {
			wanted = append(wanted, want{ask: p.asked[event.ID][account], series: &one.event})
		}
	}
	for _, a := range p.candidates(events, account, at) {
		if !slices.ContainsFunc(series, func(one ask) bool { return isExceptionOf(a.event, one.event) }) {
			wanted = append(wanted, want{ask: a})
		}
	}
	slices.SortStableFunc(wanted, func(a, b want) int { return compareBool(p.isOff(a.ask), p.isOff(b.ask)) })
	shown := append(p.native(events, account, at), byRule...)
	for _, w := range wanted {
		until, isShown := w.event.Until, agreesWithAny(w.event, shown, p.Now)
		if w.series != nil {
			until = later(until, original.Instant(time.UTC))
		}
		switch {
		case w.series != nil && (isShown || !isMirrored(w.event, p.Owner, w.detail)):
			w.mode = cancel
		case isShown:
			w.mode = cover
		default:
			shown = append(shown, w.event)
		}
		if p.isDue(w.id(), until) {
			p.wanted = append(p.wanted, w)
		}
	}
}

// exceptions lists those of a series, for the occurrence at a time, that may be mirrored.
func (p *planning) exceptions(events []mirror.Event, account, at string, series mirror.Event) (found []mirror.Event) {
	for _, event := range events {
		if _, asked := p.asked[event.ID][account]; asked && isOccurrence(event, at) && isExceptionOf(event, series) {
			found = append(found, event)
		}
	}
	return found
}

// byRule lists what an account shows of an occurrence without an exception: by native events
// and by mirrors.
func (p *planning) byRule(
	events []mirror.Event, account string, original recurrence.Moment, native []mirror.Event, series []ask,
) (shown []mirror.Event) {
	for _, event := range native {
		if !excepts(event, original, events) {
			shown = append(shown, occurrenceOf(event, original))
		}
	}
	for _, a := range series {
		if !p.isOff(a) && len(p.exceptions(events, account, original.String(), a.event)) == 0 {
			shown = append(shown, occurrenceOf(a.event, original))
		}
	}
	return shown
}

// excepts reports whether one of some events is the exception of a series for an occurrence.
func excepts(series mirror.Event, original recurrence.Moment, events []mirror.Event) bool {
	return slices.ContainsFunc(events, func(event mirror.Event) bool {
		return isExceptionOf(event, series) && event.OriginalStart.Equal(original)
	})
}

// occurrenceOf is the occurrence of a series with an original start, as the rule has it;
// without times, which agree with none, if the rule lacks it. An event that is no series is
// returned as it is.
func occurrenceOf(series mirror.Event, original recurrence.Moment) mirror.Event {
	if series.SeriesID != "" || len(series.Recurrence) == 0 {
		return series
	}
	one := series
	one.Start, one.End, one.Recurrence = recurrence.Moment{}, recurrence.Moment{}, nil
	one.SeriesID, one.OriginalStart = series.EventID, original
	if occurs(series, original) {
		times := instance(gcal.Content{Start: series.Start, End: series.End}, original)
		one.Start, one.End = times.Start, times.End
	}
	return one
}

// occurs reports whether a series has an occurrence with an original start. One whose rule
// cannot be read, or has too many starts before it, may have any.
func occurs(series mirror.Event, original recurrence.Moment) (found bool) {
	at, starts := original.Instant(time.UTC), mostStarts
	rule := recurrence.Series{Start: normalMoment(series.Start), End: normalMoment(series.End), Lines: series.Recurrence}
	within := recurrence.Range{Zone: time.UTC, From: at, To: at.Add(time.Second)}
	err := recurrence.Walk(rule, within, &starts, func(o recurrence.Occurrence) bool {
		found = found || o.Original.Equal(original)
		return true
	})
	return found || err != nil
}
