package attendees

import (
	"maps"
	"slices"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// shownEvent is an event as one calendar shows it.
type shownEvent struct {
	// key is the calendar's, copied what the record keeps of the event there.
	key    string
	copied Copy
	event  gcal.Event
}

// show is an event as a calendar shows it.
func show(key, accountID, calendarID string, event gcal.Event) shownEvent {
	shown := shownEvent{
		key: key, event: event,
		copied: Copy{AccountID: accountID, CalendarID: calendarID, EventID: event.ID, ETag: event.ETag},
	}
	if event.EventState == rules.Gone {
		shown.copied.Gone = true
	} else if event.Details != nil {
		shown.copied.Organized, shown.copied.MayEdit = event.Details.Organized, event.Details.GuestsMayEdit
	}
	return shown
}

// editable reports whether the guests can be changed through a copy.
func editable(c Copy) bool { return !c.Gone && (c.Organized || c.MayEdit) }

// endMargin is how much longer an all-day event lasts somewhere than by UTC.
const endMargin = 12 * time.Hour

// endOf is when an event, or the last occurrence of a series, ends; zero: never, or it is not
// known.
func endOf(event gcal.Event) time.Time {
	if event.Details == nil || event.Details.End.IsZero() {
		return time.Time{}
	}
	end, margin := event.Details.End.Instant(time.UTC), time.Duration(0)
	if event.Details.End.AllDay() {
		margin = endMargin
	}
	if len(event.Details.Recurrence) > 0 {
		last, endless, err := recurrence.End(recurrence.Series{
			Start: event.Details.Start, End: event.Details.End, Lines: event.Details.Recurrence,
		})
		if err != nil || endless || last.IsZero() {
			return time.Time{}
		}
		end = last
	}
	return end.Add(margin).UTC().Truncate(time.Microsecond)
}

// hasEnded reports whether an end has passed.
func hasEnded(end, now time.Time) bool { return !end.IsZero() && !end.After(now) }

// throughOrganizer reports whether an event that this calendar may not edit is the event of a
// mapped organizer: it can be changed in that calendar, which need not have shown it since the
// mappings of its guests changed.
func throughOrganizer(shown shownEvent, table mappings.Table) bool {
	return !shown.copied.Gone && !shown.copied.Organized && table.Maps(shown.event.Organizer)
}

// inside reports whether the organizer is one of our people.
func inside(shown shownEvent, table mappings.Table) bool {
	return shown.copied.Organized || table.Knows(shown.event.Organizer)
}

// guestsKnown reports whether an event shows all its guests, and whose it is: if that cannot be
// known, the event stays as it is.
func guestsKnown(shown shownEvent, table mappings.Table) bool {
	return shown.event.Details != nil && !shown.event.Malformed && !shown.event.Details.GuestsOmitted &&
		(shown.event.Organizer != "" || inside(shown, table))
}

// judge decides about an event of a record by a table of mappings.
func judge(shown shownEvent, record, series EventRecord, table mappings.Table, now time.Time) Decision {
	event := Event{
		Organizer: shown.event.Organizer, Inside: inside(shown, table), Omitted: !guestsKnown(shown, table),
		Cancelled: shown.copied.Gone, Ended: hasEnded(endOf(shown.event), now),
		Editable: editable(shown.copied) || throughOrganizer(shown, table),
		Split:    firstPart(shown.event) != "", Since: record.Since, Updated: shown.event.Updated, Copy: shown.key,
	}
	if shown.event.Details != nil {
		for _, guest := range shown.event.Details.Guests {
			event.Guests = append(event.Guests, Guest{
				Address: guest.Address, Response: guest.Response, Resource: guest.Resource, Optional: guest.Optional,
			})
		}
	}
	return Decide(event, record.Entries, record.Inherits(series), table.Secondaries)
}

// judgeShown decides about an observed event. A calendar that does not see the other guests
// shows at least who of those it sees should be invited, which the organizer's calendar decides.
func judgeShown(was, series EventRecord, shown shownEvent, table mappings.Table, now time.Time) Decision {
	decision := judge(shown, was, series, table, now)
	if !throughOrganizer(shown, table) || shown.event.Details == nil || !shown.event.Details.GuestsOmitted {
		return decision
	}
	whole := *shown.event.Details
	whole.GuestsOmitted = false
	shown.event.Details = &whole
	if asked := judge(shown, was, series, table, now); len(asked.Add) > 0 {
		return asked
	}
	return decision
}

// differs reports whether a decision asks for anything.
func differs(d Decision) bool { return len(d.Add)+len(d.Remove)+len(d.Changes) > 0 }

// mostCopies is how many calendars the record of an event names, besides the organizer's: they take two
// fifths of what a document may have. The writer needs one.
const mostCopies = 2000

// compare is the record after an observation, and whether it differs from what is stored.
// Entries are never changed here: an observation may be older than what the writer did since.
// One that calls for a change makes the record due, and the writer decides on what the event
// then is. What an exception that concerns us inherits is recorded once, though nothing calls for
// a change: what its series gets later says nothing about its guests.
func compare(
	was, series EventRecord, shown shownEvent, table mappings.Table, now time.Time,
) (next EventRecord, changed bool) {
	known := was.Version > 0
	old, hasCopy := was.Copies[shown.key]
	canEdit := editable(shown.copied) || throughOrganizer(shown, table)
	switch {
	case known && hasCopy && !canEdit: // it is deleted, or ours to edit no longer
		return withoutEditing(was, shown, now)
	case !canEdit || hasEnded(endOf(shown.event), now):
		return was, false
	}
	decision := judgeShown(was, series, shown, table, now)
	if !hasCopy && len(was.Copies) >= mostCopies && !shown.copied.Organized {
		return leftOut(was, decision, now)
	}
	named := func(guest gcal.Guest) bool { return table.Names(guest.Address) }
	first := was.SeriesID != "" && was.Since.IsZero() && guestsKnown(shown, table) &&
		(known || differs(decision) || inside(shown, table) && slices.ContainsFunc(shown.event.Details.Guests, named))
	if first {
		was.Since, was.Inherited = shown.event.Updated, decision.Inherited
	}
	unchanged := hasCopy && sameCopy(old, shown.copied)
	end := laterEnd(was, endOf(shown.event))
	switch {
	case !differs(decision) && was.Error == "":
		if !first && (!known || unchanged && end.Equal(was.EndsAt)) {
			return was, false
		}
		shown.copied.ETag = old.ETag
		next = withCopy(was, shown, now)
		next.EndsAt, next.Version = end, max(was.Version, 1)
		return next, true
	case !was.Due.IsZero() && unchanged && was.Error == "" && onlyConfirms(decision):
		return was, false // it is due for what the event now shows
	case !was.Due.IsZero() && unchanged && differs(decision) && old.ETag == shown.event.ETag:
		return was, false // it is due for this version of the event
	}
	next = withCopy(was, shown, now)
	next.EndsAt = end
	next.Version++ // what the writer decides at this moment may lack this observation
	if next.Due.IsZero() || old.ETag == "" || next.Error != "" {
		next.Due = now
	}
	return next, true
}

// leftOut is compare for a copy that the record has no room for: what it calls for is made through those
// that it has.
func leftOut(was EventRecord, decision Decision, now time.Time) (next EventRecord, changed bool) {
	if !differs(decision) || !was.Due.IsZero() {
		return was, false
	}
	next = was
	next.Version++
	next.Due, next.UpdatedAt = now, now
	return next, true
}

// withoutEditing is compare for a known copy through which the event cannot be edited.
func withoutEditing(was EventRecord, shown shownEvent, now time.Time) (next EventRecord, changed bool) {
	old := was.Copies[shown.key]
	shown.copied.ETag = old.ETag
	if shown.copied.EventID != old.EventID || shown.copied == old {
		return was, false
	}
	next = withCopy(was, shown, now)
	if next.Error != "" && allGone(next.Copies) {
		succeeded(&next) // there is nothing left to change
		next.Due = time.Time{}
	}
	return next, true
}

// onlyConfirms reports whether a decision says no more than that patches were made.
func onlyConfirms(d Decision) bool {
	return len(d.Add)+len(d.Remove) == 0 && !slices.ContainsFunc(d.Changes, func(changed Changed) bool {
		return changed.From != Adding && changed.From != Withdrawing
	})
}

// sameCopy compares copies without their ETag.
func sameCopy(a, b Copy) bool {
	a.ETag = b.ETag
	return a == b
}

// withCopy is a record with the event as a calendar shows it. A record whose copies are all
// gone ends, so that it is removed in time.
func withCopy(record EventRecord, shown shownEvent, now time.Time) EventRecord {
	record.Copies = maps.Clone(record.Copies)
	if record.Copies == nil {
		record.Copies = map[string]Copy{}
	}
	record.Copies[shown.key] = shown.copied
	record.UpdatedAt = now
	if allGone(record.Copies) {
		record.EndsAt = now
	}
	return record
}

// allGone reports whether no calendar shows the event any more.
func allGone(copies map[string]Copy) bool {
	for _, c := range copies {
		if !c.Gone {
			return false
		}
	}
	return true
}

// laterEnd is the end that a record keeps: the latest that was observed, as removing the
// record of an event that still lies ahead would forget what people did.
func laterEnd(was EventRecord, end time.Time) time.Time {
	if was.Version > 0 && !end.IsZero() && was.EndsAt.After(end) {
		return was.EndsAt
	}
	return end
}
