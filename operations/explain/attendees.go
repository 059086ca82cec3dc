package explain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"questscheduler/attendees"
	"questscheduler/fault"
	"questscheduler/internal/store"
)

// isAttendees reports whether an id names the second addresses at an event: its record
// (att_…), or an iCalUID, which alone has an @.
func isAttendees(id string) bool {
	return strings.HasPrefix(id, "att_") || strings.Contains(id, "@")
}

// mostRecords is how many records of one iCalUID are shown: that of a series, and those of
// its exceptions.
const mostRecords = 200

// loadAttendees reads one record by its id, or all of an iCalUID, that of a series before
// those of its exceptions.
func loadAttendees(ctx context.Context, reader store.Reader, id string) (records []attendees.EventRecord, err error) {
	if strings.Contains(id, "@") {
		records, err = attendees.OfUID(ctx, reader, id, mostRecords)
		slices.SortFunc(records, func(a, b attendees.EventRecord) int { return strings.Compare(a.Original, b.Original) })
		return records, err
	}
	record, known, err := attendees.Load(ctx, reader, id)
	if known {
		records = []attendees.EventRecord{record}
	}
	return records, err
}

// attendeesReport is the report of second addresses at an event, or at a series and its
// exceptions. It names no other guest and no title.
func attendeesReport(ctx context.Context, reader store.Reader, id string) (Report, error) {
	records, err := loadAttendees(ctx, reader, id)
	if err != nil {
		return Report{}, err
	}
	if len(records) == 0 {
		return Report{}, fault.Newf(fault.NotFound,
			"nothing is kept of second addresses at %s in this store: check the id; an event whose guests have no second addresses "+
				"has no record", clean(id))
	}
	report := Report{Steps: []Step{}}
	for _, record := range records {
		report.Head = append(report.Head, recordHead(record)...)
		for _, change := range record.History {
			report.Steps = append(report.Steps, addressStep(record.ID, change))
		}
	}
	slices.SortStableFunc(report.Steps, func(a, b Step) int { return a.At.Compare(b.At) })
	return report, nil
}

func recordHead(e attendees.EventRecord) []Line {
	relation := ", exception of "
	if e.Original == "" {
		relation = ", later part of "
	}
	head := []Line{
		{"record", fmt.Sprintf("%s, version %d%s", e.ID, e.Version, after(relation, e.SeriesID))},
		{"event", e.ICalUID + after(", originally at ", e.Original) + after(", ends ", at(e.EndsAt))},
		{"status", recordStatus(e)},
	}
	for _, key := range slices.Sorted(maps.Keys(e.Copies)) {
		c := e.Copies[key]
		head = append(head, Line{"copy", c.EventID + " in " + c.CalendarID + " of " + c.AccountID + ": " + useOf(c)})
	}
	for _, address := range slices.Sorted(maps.Keys(e.Entries)) {
		entry := e.Entries[address]
		declined := ""
		if entry.Declined {
			declined = ", had declined"
		}
		is := cmp.Or(addressStates[entry.State].is, string(entry.State))
		head = append(head, Line{"address", address + after(" for ", entry.Primary) + ": " + is + declined + after(", confirmed ", at(entry.At))})
	}
	return head
}

func recordStatus(e attendees.EventRecord) string {
	switch {
	case e.Error != "":
		return "failing since " + at(e.FailedSince) + ": " + e.Error + after("; next try ", at(e.Due))
	case !e.Due.IsZero():
		return "pending, due " + at(e.Due)
	default:
		return "as wanted"
	}
}

// useOf says what a copy can be used for.
func useOf(c attendees.Copy) string {
	switch {
	case c.Gone:
		return "gone"
	case c.Organized:
		return "organizer"
	case c.MayEdit:
		return "guests may edit"
	default:
		return "read only"
	}
}

// addressStates say in words what an address is in a state, and what the step to that state
// is and by whom.
var addressStates = map[attendees.State]struct{ is, what, by string }{
	attendees.None:        {"nothing is known of it any more", "no longer a guest", "the sync"},
	attendees.Adding:      {"being added", "being added", "the sync"},
	attendees.Added:       {"added by us", "added", "the sync"},
	attendees.Theirs:      {"invited by a person", "invited", "a person"},
	attendees.Removed:     {"removed by a person, and not added again", "removed", "a person"},
	attendees.Withdrawing: {"being taken back", "being taken back", "the sync"},
	attendees.Declined:    {"taken back after it had declined, and not added again", "taken back after it had declined", "the sync"},
}

func addressStep(recordID string, c attendees.Change) Step {
	words := addressStates[c.After]
	return Step{
		At: c.At, Step: cmp.Or(string(c.After), "none"), What: cmp.Or(words.what, string(c.After)), Observed: c.Would,
		By:      cmp.Or(words.by, "the sync"),
		Trigger: c.Trigger, Trace: c.Trace, Address: c.Address + after(" for ", c.Primary) + ", record " + recordID,
		Change: changed(string(c.Before), string(c.After)),
	}
}
