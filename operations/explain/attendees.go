package explain

import (
	"context"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/attendee"
	"questscheduler/internal/store"
)

// IsAttendees reports whether an argument names the second addresses of an event: its
// record (att_…), or an iCalUID, which alone has an @.
func IsAttendees(argument string) bool {
	return strings.HasPrefix(argument, "att_") || strings.Contains(argument, "@")
}

// mostRecords is how many records of one iCalUID are shown: that of a series, and those of
// its exceptions.
const mostRecords = 200

// LoadAttendees reads the records of second addresses that an argument names: one by its
// id, or all of an iCalUID, that of a series before those of its exceptions. NotFound if
// there is none.
func LoadAttendees(ctx context.Context, reader store.Reader, argument string) (records []attendee.Event, err error) {
	if strings.Contains(argument, "@") {
		records, err = attendee.OfUID(ctx, reader, argument, mostRecords)
		slices.SortFunc(records, func(a, b attendee.Event) int { return strings.Compare(a.Original, b.Original) })
	} else {
		var record attendee.Event
		var known bool
		record, known, err = attendee.Load(ctx, reader, argument)
		if known {
			records = []attendee.Event{record}
		}
	}
	if err == nil && len(records) == 0 {
		err = fault.Newf(fault.NotFound,
			"nothing is kept of second addresses at %s in this store: check the id; an event whose guests have no second addresses has no record", clean(argument))
	}
	return records, err
}
