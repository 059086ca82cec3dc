package attendees

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// mostCopies is how many copies a record keeps of an event that thousands of followed calendars may
// show: far less than a document holds (a copy takes some 200 bytes), and as many as a turn of the
// writer may ask Google about, one after the other. Any one through which the event can be changed
// is enough.
const mostCopies = 50

// worth orders copies by what the writer can do with them: nothing, find the organizer's, change the
// event if its guests may, change it.
func worth(c Copy) int {
	switch {
	case c.Gone:
		return 0
	case c.Organized:
		return 3
	case c.MayEdit:
		return 2
	default:
		return 1
	}
}

// leastWorth is the key of the copy that gives up its place first, and what it is worth.
func leastWorth(copies map[string]Copy) (key string, least int) {
	key = slices.MinFunc(slices.Sorted(maps.Keys(copies)), func(x, y string) int {
		return cmp.Compare(worth(copies[x]), worth(copies[y]))
	})
	return key, worth(copies[key])
}

// hasRoom reports whether a record takes the copy of an observation, which calls for a change if
// needed. A full one takes one that is worth more than another: that ends, as places only gain. It
// takes one of the same worth through which a needed change can be made, if no known copy does it:
// their calendars may be followed no longer. What only leads to the organizer's copy is left out: of
// an organizer who is reached, the record has that copy, or gets it with the next listing.
func hasRoom(record EventRecord, shown shownEvent, needed bool, now time.Time) bool {
	if _, has := record.Copies[shown.key]; has || len(record.Copies) < mostCopies {
		return true
	}
	_, least := leastWorth(record.Copies)
	mine := worth(shown.copied)
	return mine > least || mine == least && needed && editable(shown.copied) && isIdle(record, now)
}

// isIdle reports whether the writer does nothing about a record, since it knows of nothing, or
// waits for accounts that cannot be used (withoutCopy). After an error, which people see, it tries
// again what it has.
func isIdle(record EventRecord, now time.Time) bool {
	if record.Error != "" || !record.Due.IsZero() && !record.Due.After(now) {
		return false
	}
	if record.Due.IsZero() {
		return true
	}
	for _, c := range record.Copies {
		if c.ETag != "" {
			return false
		}
	}
	return true
}

// place puts a copy among others, in the place of the one that is worth least if there is no other.
func place(copies map[string]Copy, key string, c Copy) {
	if _, has := copies[key]; !has && len(copies) >= mostCopies {
		least, _ := leastWorth(copies)
		delete(copies, least)
	}
	copies[key] = c
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
	place(record.Copies, shown.key, shown.copied)
	record.UpdatedAt = now
	if allGone(record.Copies) {
		record.EndsAt = now
	}
	return record
}

// allGone reports whether no calendar shows the event any more. Of a full record that is not known:
// it may have left out one that does.
func allGone(copies map[string]Copy) bool {
	for _, c := range copies {
		if !c.Gone {
			return false
		}
	}
	return len(copies) < mostCopies
}
