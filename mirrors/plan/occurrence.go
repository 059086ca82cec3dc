package plan

import (
	"cmp"
	"slices"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
)

// meeting is the events of one meeting, and those that show it as a whole in an account.
type meeting struct {
	events []mirror.Event
	native []mirror.Event
	series []ask // mirrored
}

// exception is the mirror of an exception that may show an occurrence, and what its meeting
// shows of the occurrence by a rule.
type exception struct {
	want
	byRule []mirror.Event
}

// decideOccurrence settles one occurrence that is an exception somewhere. Exceptions have
// times of their own and may agree where their series do not, so that one covers those of
// all meetings. What a rule shows covers its own meeting alone: a series with other times
// has no such occurrence.
func (p *planning) decideOccurrence(all []meeting, account string, original recurrence.Moment) {
	var shown []mirror.Event
	var found []exception
	for _, one := range all {
		native := p.native(one.events, account, original.String())
		shown = append(shown, native.shown...)
		found = append(found, p.exceptions(one, account, original, native.exists)...)
	}
	slices.SortStableFunc(found, func(a, b exception) int {
		return cmp.Or(compareBool(p.isOff(a.ask), p.isOff(b.ask)), compareBool(a.series == nil, b.series == nil), compareStrength(a.ask, b.ask))
	})
	for _, x := range found {
		until, agrees := x.event.Until, agreesWithAny(x.event, slices.Concat(shown, x.byRule), p.Now)
		if x.series != nil {
			until = later(until, original.Instant(time.UTC))
			agrees = agrees || !isMirrored(x.event, p.Owner, x.detail)
		}
		switch {
		case !agrees:
			shown = append(shown, x.event)
		case x.series != nil:
			x.mode = cancel
		default:
			x.mode = cover
		}
		if p.isDue(x.id(), until) {
			p.wanted = append(p.wanted, x.want)
		}
	}
}

// exceptions lists the exceptions of a meeting that may show an occurrence in an account. One
// of a series that a mirror shows is an instance of that mirror, which is changed or
// cancelled; the others have mirrors of their own.
func (p *planning) exceptions(of meeting, account string, original recurrence.Moment, isNative bool) (found []exception) {
	at := original.String()
	var byRule, mirrored []mirror.Event
	if !isNative {
		byRule = asOccurrences(of.native, original)
	}
	for _, series := range of.series {
		isRule := true
		for _, event := range of.events {
			if a, asked := p.asked[event.ID][account]; asked && isOccurrence(event, at) && isExceptionOf(event, series.event) {
				w := want{ask: a, series: &series.event}
				found, isRule = append(found, exception{w, byRule}), false
			}
		}
		if isRule && !p.isOff(series) {
			mirrored = append(mirrored, series.event)
		}
	}
	byRule = slices.Concat(byRule, asOccurrences(mirrored, original))
	for _, a := range p.candidates(of.events, account, at) {
		if !slices.ContainsFunc(of.series, func(series ask) bool { return isExceptionOf(a.event, series.event) }) {
			found = append(found, exception{want{ask: a}, byRule})
		}
	}
	return found
}

func asOccurrences(series []mirror.Event, original recurrence.Moment) (all []mirror.Event) {
	for _, event := range series {
		if event.SeriesID == "" && len(event.Recurrence) > 0 {
			event = occurrenceOf(event, original)
		}
		all = append(all, event)
	}
	return all
}
