package attendees

import (
	"regexp"

	"questscheduler/internal/gcal"
	"questscheduler/internal/ids"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// identify is the record of an event: its id and that of its series' record, with the fields
// that follow from the event. The zero record: the event is of no use, since it cannot be
// read or identified. Of a deleted event Google may show nothing but its id; its iCalUID is
// then taken to be the one that Google makes of it.
func identify(event gcal.Event) EventRecord {
	uid, original := "", recurrence.Moment{}
	if event.Details != nil {
		uid, original = event.Details.ICalUID, event.Details.Original
	}
	series := event.InstanceOf
	if uid == "" && event.EventState == rules.Gone {
		uid = ids.ICalUID(event.ID)
		if series != "" {
			uid = ids.ICalUID(series)
		}
	}
	if event.Malformed || uid == "" || series != "" && original.IsZero() {
		return EventRecord{}
	}
	if series == "" {
		record := EventRecord{ID: RecordID(uid, recurrence.Moment{}), ICalUID: uid}
		if first := firstPart(event); first != "" {
			record.SeriesID = RecordID(first, recurrence.Moment{})
		}
		return record
	}
	return EventRecord{
		ID: RecordID(uid, original), ICalUID: uid, Original: original.String(), SeriesID: RecordID(uid, recurrence.Moment{}),
	}
}

// partOf is the iCalUID that Google's calendar gives to the later part of a series, when a
// person changes an occurrence and those that follow.
var partOf = regexp.MustCompile(`^(.+)_R\d{8}(?:T\d{6}Z?)?(@google\.com)$`)

// firstPart is the iCalUID of the series whose later part an event is; "" if it is none.
func firstPart(event gcal.Event) string {
	if event.InstanceOf != "" || event.Details == nil {
		return ""
	}
	if found := partOf.FindStringSubmatch(event.Details.ICalUID); found != nil {
		return found[1] + found[2]
	}
	return ""
}
