package availability

import (
	"slices"
	"time"

	"questscheduler/internal/ids"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/recurrence"
)

// session is the session of a poll with its copies in people's calendars. It counts for
// nobody who is asked about that poll. nil: there is none.
type session struct {
	pollID string
	// events and uids are the event ids and iCalUIDs of the session and its copies.
	events, uids map[string]bool
	// times are those that calendars may show it at.
	times []Interval
}

// sessionOf is the session of a poll; nil if no calendar shows one.
func sessionOf(p poll.Poll, slots []poll.Slot) *session {
	id := p.EventID()
	if id == "" {
		return nil
	}
	own := &session{pollID: p.ID, events: map[string]bool{id: true}, uids: map[string]bool{ids.ICalUID(id): true}}
	for _, slot := range slots {
		if slot.ID == p.WinningSlotID || p.Sync.Rescheduled != nil && slot.ID == p.Sync.Rescheduled.FromSlotID {
			own.times = append(own.times, slotTime(slot, p))
		}
	}
	return own
}

// is reports whether an event is the session or a copy of it.
func (s *session) is(e mirror.Event) bool {
	return s != nil && (e.PollID == s.pollID || s.events[e.EventID] || s.events[e.SeriesID] || s.uids[e.ICalUID])
}

// others are the events that are not the session's.
func (s *session) others(events []mirror.Event) []mirror.Event {
	return slices.DeleteFunc(slices.Clone(events), s.is)
}

// learn takes the session's iCalUIDs and times from its events. Copies that other people
// have by another id carry the same iCalUID, so all of these are taken first.
func (s *session) learn(found events) {
	if s == nil {
		return
	}
	for _, events := range found.at {
		for _, e := range events {
			if e.ICalUID != "" && s.is(e) {
				s.uids[e.ICalUID] = true
			}
		}
	}
	for _, events := range found.at {
		for _, e := range events {
			if s.is(e) && !e.Start.AllDay() && len(e.Recurrence) == 0 {
				s.times = append(s.times, Interval{Start: e.Start.Time, End: e.End.Time})
			}
		}
	}
}

// at are the times of the session, merged.
func (s *session) at() []Interval {
	if s == nil {
		return nil
	}
	return Merge(s.times)
}

// slotTime is the time of a slot; all-day slots have the midnights of the poll's zone.
func slotTime(slot poll.Slot, p poll.Poll) Interval {
	if !slot.AllDay {
		return Interval{Start: slot.Start, End: slot.End}
	}
	zone, err := poll.Zone(p.Timezone)
	if err != nil {
		zone = time.UTC
	}
	return Interval{Start: midnight(slot.Start, zone), End: midnight(slot.End, zone)}
}

// midnight is when the date of an instant in UTC begins in a zone.
func midnight(day time.Time, zone *time.Location) time.Time {
	year, month, date := day.UTC().Date()
	return recurrence.AtWall(time.Date(year, month, date, 0, 0, 0, 0, time.UTC), zone).UTC()
}

// split separates the parts of merged intervals that overlap some merged others.
func split(intervals, others []Interval) (apart, overlapping []Interval) {
	for _, i := range intervals {
		for _, other := range others {
			if !other.Start.Before(i.End) {
				break
			}
			if !other.End.After(i.Start) {
				continue
			}
			if i.Start.Before(other.Start) {
				apart = append(apart, Interval{i.Start, other.Start})
				i.Start = other.Start
			}
			end := earlier(i.End, other.End)
			overlapping = append(overlapping, Interval{i.Start, end})
			i.Start = end
		}
		if i.Start.Before(i.End) {
			apart = append(apart, i)
		}
	}
	return apart, overlapping
}
