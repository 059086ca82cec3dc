package attendees

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

// Kinds of calendars that show an event.
type shows int

const (
	nothing     shows = iota // the event is gone there
	toLead                   // it may not be changed there, and a mapped person organizes it
	toEdit                   // its guests may change it
	asOrganizer              // it is the organizer's
)

// ends is when the event of a crowd ends.
var ends = now.Add(200 * day)

// inCalendar is an event that ana organizes with ben, and any others, as a calendar shows it.
func inCalendar(key string, as shows, etag string, others ...string) shownEvent {
	event := gcal.Event{ID: "ev", ETag: etag, Organizer: ana, Updated: now, EventState: rules.Present, Details: &gcal.Details{
		ICalUID: "ev@google.com", Organized: as == asOrganizer, GuestsMayEdit: as == toEdit,
		Start: recurrence.Moment{Time: ends.Add(-time.Hour)}, End: recurrence.Moment{Time: ends},
	}}
	for _, address := range append([]string{ben}, others...) {
		event.Details.Guests = append(event.Details.Guests, gcal.Guest{Address: address, Response: "needsAction"})
	}
	if as == nothing {
		event = gcal.Event{ID: "ev", EventState: rules.Gone}
	}
	return show(key, "acc_"+key, key+"@first.example", event)
}

// crowd is a record that is settled, with ben2 added, and as many copies of some kinds.
func crowd(copies map[shows]int) EventRecord {
	record := EventRecord{
		ID: "att_1", ICalUID: "ev@google.com", Version: 7, EndsAt: ends, Copies: map[string]Copy{}, UpdatedAt: before,
		Entries: map[string]Entry{ben2: {State: Added, Primary: ben, At: before, Copy: "k"}},
	}
	for kind, n := range copies {
		for i := range n {
			shown := inCalendar(fmt.Sprintf("%d-%02d", kind, i), kind, "")
			shown.copied.ETag = ""
			record.Copies[shown.key] = shown.copied
		}
	}
	return record
}

// compared is compare with people, now.
func compared(record EventRecord, shown shownEvent) (EventRecord, bool) {
	return compare(record, EventRecord{}, shown, people, now)
}

// exchanged lists the keys of the copies that a record has and had not before, and the reverse.
func exchanged(was, next EventRecord) (added, lost []string) {
	for key := range next.Copies {
		if _, had := was.Copies[key]; !had {
			added = append(added, key)
		}
	}
	for key := range was.Copies {
		if _, has := next.Copies[key]; !has {
			lost = append(lost, key)
		}
	}
	return added, lost
}

// Thousands of calendars that are followed show one event: the record stays small, and a calendar
// that it leaves out writes nothing, however often it is listed.
func TestCompare_OfThousandsOfCalendars_KeepsASmallRecord(t *testing.T) {
	t.Parallel()
	for _, kind := range []shows{toLead, toEdit} {
		record, writes := EventRecord{ID: "att_1", ICalUID: "ev@google.com"}, []int{0, 0, 0}
		for round := range writes {
			for i := range 5200 {
				next, changed := compared(record, inCalendar(fmt.Sprintf("%05d", i), kind, fmt.Sprint("tag", i), ben2))
				if i == 0 && round == 0 {
					next, changed = compared(record, inCalendar("00000", kind, "tag0"))
				}
				if changed {
					writes[round]++
				}
				record = next
				if round == 0 && i == 0 { // the writer adds ben2
					record.Due, record.Entries = time.Time{}, map[string]Entry{ben2: {State: Added, Primary: ben, At: now, Copy: "k"}}
				}
			}
		}
		if want := []int{mostCopies, 0, 0}; !slices.Equal(writes, want) || len(record.Copies) != mostCopies {
			t.Errorf("%d: writes %v, want %v; %d copies", kind, writes, want, len(record.Copies))
		}
		text, err := json.Marshal(EncodeEvent(record))
		if err != nil || len(text) > 64<<10 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
}

func TestCompare_WithAFullRecord_KeepsWhatIsWorthMore(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		has   map[shows]int
		comes shows
		gives shows // whose place it takes
		left  bool
	}{
		"a place of one that is gone":            {has: map[shows]int{nothing: 1, toEdit: 49}, comes: toLead, gives: nothing},
		"a guest who may edit":                   {has: map[shows]int{toLead: 50}, comes: toEdit, gives: toLead},
		"the organizer":                          {has: map[shows]int{toEdit: 50}, comes: asOrganizer, gives: toEdit},
		"the organizer, beside gone":             {has: map[shows]int{nothing: 1, toLead: 9, toEdit: 40}, comes: asOrganizer, gives: nothing},
		"the organizer, beside one who leads":    {has: map[shows]int{toLead: 1, toEdit: 49}, comes: asOrganizer, gives: toLead},
		"a guest like others":                    {has: map[shows]int{toEdit: 50}, comes: toEdit, left: true},
		"one that leads as others do":            {has: map[shows]int{toLead: 50}, comes: toLead, left: true},
		"one that leads, beside those who edit":  {has: map[shows]int{toEdit: 50}, comes: toLead, left: true},
		"one that is gone, beside one that is":   {has: map[shows]int{nothing: 1, toEdit: 49}, comes: nothing, left: true},
		"a guest who may edit, beside organizer": {has: map[shows]int{asOrganizer: 1, toEdit: 49}, comes: toEdit, left: true},
	} {
		was := crowd(row.has)
		stored := maps.Clone(was.Copies)
		comes := inCalendar("new", row.comes, "tag", ben2)
		next, changed := compared(was, comes)
		added, lost := exchanged(was, next)
		if !maps.Equal(was.Copies, stored) {
			t.Errorf("%s: the stored record changed", name)
		}
		if row.left {
			if changed || len(added)+len(lost) > 0 {
				t.Errorf("%s: changed %t, new %v, lost %v", name, changed, added, lost)
			}
			continue
		}
		if !changed || !slices.Equal(added, []string{"new"}) || !slices.Equal(lost, []string{fmt.Sprintf("%d-00", row.gives)}) {
			t.Errorf("%s: changed %t, new %v, lost %v", name, changed, added, lost)
		}
		if again, changed := compared(next, inCalendar(lost[0], max(row.gives, toLead), "tag", ben2)); changed {
			t.Errorf("%s: it comes back: %v", name, again.Copies)
		}
	}
}

// The known calendars need not be followed any longer. One that is, and through which a change can be
// made that is needed, is taken; once, until the writer is through.
func TestCompare_WithAFullRecordThatShowsNoNeed_TakesWhoCanMeetIt(t *testing.T) {
	t.Parallel()
	waits := func(r *EventRecord) { r.Due = now.Add(day) }
	for name, row := range map[string]struct {
		comes  shows
		record func(r *EventRecord)
		taken  bool
	}{
		"nothing is due":             {toEdit, func(*EventRecord) {}, true},
		"it waits for accounts":      {toEdit, waits, true},
		"it only leads to organizer": {toLead, func(*EventRecord) {}, false},
		"it is due":                  {toEdit, func(r *EventRecord) { r.Due = now }, false},
		"it was due before":          {toEdit, func(r *EventRecord) { r.Due = before }, false},
		"it is tried again": {toEdit, func(r *EventRecord) {
			waits(r)
			c := r.Copies["2-07"]
			c.ETag = "tag"
			r.Copies["2-07"] = c
		}, false},
		"it is an error":                         {toEdit, func(r *EventRecord) { waits(r); r.Error = "Google Calendar refused this." }, false},
		"it is an error of which nothing is due": {toEdit, func(r *EventRecord) { r.Error = "Google Calendar refused this." }, false},
	} {
		was := crowd(map[shows]int{row.comes: 50})
		was.Entries = map[string]Entry{}
		row.record(&was)
		next, changed := compared(was, inCalendar("new", row.comes, "tag"))
		added, _ := exchanged(was, next)
		if changed != row.taken || len(next.Copies) != mostCopies || slices.Equal(added, []string{"new"}) != row.taken {
			t.Errorf("%s: changed %t, new %v, %d copies", name, changed, added, len(next.Copies))
		}
		if !row.taken {
			continue
		}
		if !next.Due.Equal(now) || next.Version != was.Version+1 || next.Copies["new"].ETag != "tag" {
			t.Errorf("%s: due %v, version %d, %+v", name, next.Due, next.Version, next.Copies["new"])
		}
		if _, changed := compared(next, inCalendar("another", row.comes, "tag")); changed {
			t.Errorf("%s: another is taken while it is due", name)
		}
	}
}

// What a calendar shows of the event itself counts, though its copy is left out.
func TestCompare_OfACopyThatIsLeftOut_KeepsTheLaterEnd(t *testing.T) {
	t.Parallel()
	was := crowd(map[shows]int{toEdit: 50})
	was.EndsAt = ends.Add(-7 * day)
	next, changed := compared(was, inCalendar("new", toEdit, "tag", ben2))
	if !changed || !next.EndsAt.Equal(ends) || !next.UpdatedAt.Equal(now) || next.Version != was.Version ||
		!maps.Equal(next.Copies, was.Copies) {
		t.Errorf("changed %t: %+v", changed, next)
	}
	if _, changed := compared(next, inCalendar("new", toEdit, "tag", ben2)); changed {
		t.Error("it is written again")
	}
}

func TestCompare_OfACopyThatIsLeftOut_KeepsWhatAnExceptionInherits(t *testing.T) {
	t.Parallel()
	was := crowd(map[shows]int{toEdit: 50})
	was.Entries, was.SeriesID = nil, "att_series"
	series := EventRecord{Entries: map[string]Entry{ben2: {State: Theirs, Primary: ben, At: before}}}
	next, changed := compare(was, series, inCalendar("new", toEdit, "tag", ben2), people, now)
	if !changed || next.Since.IsZero() || next.Inherited[ben2].State != Theirs || !maps.Equal(next.Copies, was.Copies) {
		t.Errorf("changed %t: %+v", changed, next)
	}
	if _, changed := compare(next, series, inCalendar("new", toEdit, "tag", ben2), people, now); changed {
		t.Error("it is written again")
	}
}

// A record that may have left out a calendar that shows the event does not end with its copies: it
// would be removed, and what people did with it forgotten.
func TestCompare_OfTheLastCopyThatGoes_EndsARecordThatIsNotFull(t *testing.T) {
	t.Parallel()
	for others, want := range map[int]time.Time{48: now, 49: ends} {
		was := crowd(map[shows]int{nothing: others, toEdit: 1})
		next, changed := compared(was, inCalendar("2-00", nothing, ""))
		if !changed || !next.EndsAt.Equal(want) {
			t.Errorf("beside %d that are gone it ends at %v, want %v", others, next.EndsAt, want)
		}
	}
}

// While a turn was under way, a copy gave up its place: what the turn knows of it is worth nothing.
// That of the organizer, which it found, is.
func TestUpdated_OfAFullRecord_StaysFull(t *testing.T) {
	t.Parallel()
	stored := crowd(map[shows]int{toEdit: 50})
	a := &attempt{record: stored, stored: stored.Copies, copies: maps.Clone(stored.Copies)}
	a.lose("2-00")
	found := Copy{AccountID: "acc_ana", CalendarID: ana, EventID: "ev", Organized: true}
	since := stored
	since.Copies = maps.Clone(stored.Copies)
	delete(since.Copies, "2-00")
	since.Copies["new"] = stored.Copies["2-00"]
	if next := a.updated(since, now); !maps.Equal(next.Copies, since.Copies) {
		t.Errorf("%d copies, of it %+v", len(next.Copies), next.Copies["2-00"])
	}
	a.copies["organizer"] = found
	next := a.updated(since, now)
	added, lost := exchanged(since, next)
	if !slices.Equal(added, []string{"organizer"}) || len(lost) != 1 || next.Copies["organizer"] != found {
		t.Errorf("new %v, lost %v, %+v", added, lost, next.Copies["organizer"])
	}
}
