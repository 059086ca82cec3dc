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
// account shows of it by the rules of series. An exception of one of those series that mirrors
// show in the account is an instance of that mirror, which is changed or cancelled; the
// others have mirrors of their own.
func (p *planning) decideOccurrence(
	events []mirror.Event, account string, original recurrence.Moment, byRule []mirror.Event, series settled,
) {
	at := original.String()
	var wanted []want
	for _, one := range series.winners {
		for _, event := range p.exceptions(events, account, at, one.event) {
			wanted = append(wanted, want{ask: p.asked[event.ID][account], series: &one.event})
		}
	}
	for _, a := range p.candidates(events, account, at) {
		if !slices.ContainsFunc(series.winners, func(one ask) bool { return isExceptionOf(a.event, one.event) }) {
			wanted = append(wanted, want{ask: a})
		}
	}
	slices.SortStableFunc(wanted, func(a, b want) int { return compareBool(p.isOff(a.ask), p.isOff(b.ask)) })
	shown := append(p.native(events, account, at), byRule...)
	for i := range wanted {
		w := &wanted[i]
		isShown := agreesWithAny(w.event, shown, p.Now)
		switch {
		case w.series != nil && (isShown || !isMirrored(w.event, p.Owner, w.detail)):
			w.mode = cancel
		case isShown:
			w.mode = cover
		default:
			shown = append(shown, w.event)
		}
	}
	for _, w := range p.inPlaceOf(events, original, wanted, p.unshown(events, original, shown, series.covered)) {
		until := w.event.Until
		if w.series != nil {
			until = later(until, original.Instant(time.UTC))
		}
		if p.isDue(w.id(), until) {
			p.wanted = append(p.wanted, w)
		}
	}
}

// unshown lists the covered series with an occurrence by their rule that the account does not show: what
// covers the series has an exception at that time, which is moved, declined, free or cancelled. For a
// while after that change the calendar of the covered series may not have been synced yet.
func (p *planning) unshown(events []mirror.Event, original recurrence.Moment, shown []mirror.Event, covered []ask) (found []ask) {
	shown = slices.Clone(shown)
	for _, a := range covered {
		one := occurrenceOf(a.event, original)
		follows := func(e mirror.Event) bool {
			return e.OriginalStart.Equal(original) && !agreeUntil(e, one).IsZero() && p.Now.Before(e.Updated.Add(syncedWithin))
		}
		if len(a.event.Recurrence) == 0 || a.event.OwnerID != p.Owner || p.isOff(a) || excepts(a.event, original, events) || one.Start.IsZero() ||
			slices.ContainsFunc(events, follows) || agreesWithAny(one, shown, p.Now) {
			continue
		}
		shown, found = append(shown, one), append(found, a)
	}
	return found
}

// inPlaceOf adds the occurrence of each unshown series to the wanted mirrors. Occurrences by a rule have
// no document, so that the mirror of an exception with that original start, which shows nothing itself,
// shows it in place of that exception.
func (p *planning) inPlaceOf(events []mirror.Event, original recurrence.Moment, wanted []want, unshown []ask) []want {
	for _, a := range unshown {
		i := slices.IndexFunc(wanted, func(w want) bool { return w.mode == cancel })
		if i >= 0 { // the instance of the series' mirror is there
			a.event, a.target = occurrenceFor(wanted[i].event, a.event), wanted[i].target
			wanted[i].ask, wanted[i].mode = a, show
			continue
		}
		i = slices.IndexFunc(events, func(e mirror.Event) bool {
			return !isOccurrence(e, "") && e.OriginalStart.Equal(original) && e.OwnerID == p.Owner &&
				!slices.ContainsFunc(wanted, func(w want) bool { return w.event.ID == e.ID })
		})
		if i >= 0 {
			a.event = occurrenceFor(events[i], a.event)
			wanted = append(wanted, want{ask: a})
		}
	}
	return wanted
}

// occurrenceFor is the occurrence of a series, under the id of an exception of another one.
func occurrenceFor(exception, series mirror.Event) mirror.Event {
	one := occurrenceOf(series, exception.OriginalStart)
	one.ID = exception.ID
	one.From, one.Until = Bounds(one)
	return one
}

// IsInPlace reports whether a mirror of an event shows an occurrence of another calendar's series
// in place of it.
func IsInPlace(m mirror.Mirror, event mirror.Event) bool {
	return event.SeriesID != "" && event.OwnerID == m.OwnerID && m.FromAccountID != "" &&
		(m.FromAccountID != event.AccountID || m.FromCalendarID != event.CalendarID)
}

// InPlaceOf is what a mirror of an exception shows in place of it: the occurrence of a series of the
// meeting, among some events of the person, in the calendar that the mirror is from. Of several series
// there it is that which was planned. found is false if there is none.
func InPlaceOf(m mirror.Mirror, exception mirror.Event, events []mirror.Event) (one mirror.Event, found bool) {
	for _, e := range events {
		if len(e.Recurrence) == 0 || e.Status == cancelled || e.ICalUID != exception.ICalUID ||
			e.AccountID != m.FromAccountID || e.CalendarID != m.FromCalendarID {
			continue
		}
		occurrence := occurrenceFor(exception, e)
		if Hash(Project(occurrence, m.Detail)) == shownBy(m.Wanted) {
			return occurrence, true
		}
		if !found {
			one, found = occurrence, true
		}
	}
	if !found {
		return exception, false
	}
	return one, true
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
