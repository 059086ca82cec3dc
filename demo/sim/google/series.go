package google

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// series is what an event's recurrence says.
type series struct {
	rules    []rule
	more     []time.Time // RDATE
	excluded []time.Time // EXDATE
	beyond   bool        // it says more than the simulator can expand
}

var errRecurrence = newError(http.StatusBadRequest, "invalid", "Invalid recurrence rule.")

// errExpand is the simulator's own.
var errExpand = newError(http.StatusBadRequest, "badRequest",
	"This simulator cannot expand that recurrence: list with singleEvents=false.")

// series reads the recurrence of an event. What is no recurrence is an error.
func (e *event) series() (series, error) {
	var s series
	var lines []string
	if err := json.Unmarshal(e.Fields["recurrence"], &lines); err != nil {
		return s, err
	}
	zone := e.ownZone()
	for _, line := range lines {
		head, value, ok := strings.Cut(line, ":")
		if !ok {
			return s, errRecurrence
		}
		name, parameters, _ := strings.Cut(head, ";")
		if !s.take(strings.ToUpper(name), parameters, value, zone) {
			return s, errRecurrence
		}
	}
	return s, nil
}

func (s *series) take(name, parameters, value string, zone *time.Location) bool {
	switch name {
	case "RRULE":
		r, ok := parseRule(value, zone)
		s.rules, s.beyond = append(s.rules, r), s.beyond || r.beyond || len(s.rules) > 0
		return ok
	case "EXRULE":
		s.beyond = true
		return true
	case "RDATE", "EXDATE":
		if _, id, ok := strings.Cut(parameters, "TZID="); ok {
			other, err := loadZone(id)
			if err != nil {
				return false
			}
			zone = other
		}
		for text := range strings.SplitSeq(value, ",") {
			at, _, ok := parseStamp(strings.TrimSpace(text), zone)
			if !ok {
				return false
			}
			if name == "RDATE" {
				s.more = append(s.more, at)
			} else {
				s.excluded = append(s.excluded, at)
			}
		}
		return true
	}
	return false
}

// ownZone is the zone in which an event recurs.
func (e *event) ownZone() *time.Location {
	if zone, err := loadZone(e.Start.Zone); err == nil {
		return zone
	}
	return time.UTC // all-day events recur by date
}

// starts are when a series takes place, in order, each once: by its rules up to a time;
// zero: a number of them.
func (e *event) starts(until time.Time) ([]moment, error) {
	s, err := e.series()
	switch {
	case err != nil:
		return nil, err
	case s.beyond:
		return nil, errExpand
	}
	zone := e.ownZone()
	first := e.Start.in(zone).In(zone)
	times := slices.Clone(s.more)
	if len(s.rules) == 0 {
		times = append(times, first)
	}
	for _, r := range s.rules {
		times = slices.AppendSeq(times, r.starts(first, until))
	}
	times = slices.DeleteFunc(times, func(at time.Time) bool {
		return slices.ContainsFunc(s.excluded, at.Equal)
	})
	slices.SortFunc(times, time.Time.Compare)
	times = slices.CompactFunc(times, time.Time.Equal)
	starts := make([]moment, len(times))
	for i, at := range times {
		starts[i] = e.Start.at(at)
	}
	return starts, nil
}

// startsAt says whether a series takes place at a moment by its recurrence.
func (e *event) startsAt(at moment) (bool, error) {
	if at.allDay() != e.Start.allDay() {
		return false, nil
	}
	zone := e.ownZone()
	starts, err := e.starts(at.in(zone))
	return slices.ContainsFunc(starts, func(start moment) bool { return start.in(zone).Equal(at.in(zone)) }), err
}

// at is the moment moved to another time, of the same kind.
func (m moment) at(t time.Time) moment {
	if m.allDay() {
		return moment{Date: t.Format(dateLayout)}
	}
	return moment{Instant: t.UTC(), Zone: m.Zone}
}

// stamp is what an instance's id ends in.
func (m moment) stamp() string {
	if m.allDay() {
		return strings.ReplaceAll(m.Date, "-", "")
	}
	return m.Instant.UTC().Format(stampLayout)
}

// instance is a series as it takes place once.
func (e *event) instance(start moment) *event {
	one := *e
	one.ID = e.ID + "_" + start.stamp()
	one.Series, one.Original = e.ID, start
	one.Start, one.End = start, e.End.at(start.in(time.UTC).Add(e.End.in(time.UTC).Sub(e.Start.in(time.UTC))))
	one.Fields = maps.Clone(e.Fields)
	delete(one.Fields, "recurrence")
	return &one
}

// instances are those of a series that were not changed or deleted on their own; see
// event.starts. Those of the day after until are among them: a day begins at another time
// elsewhere.
func (c *calendar) instances(master *event, until time.Time) ([]*event, error) {
	if !until.IsZero() {
		until = until.Add(24 * time.Hour)
	}
	starts, err := master.starts(until)
	if err != nil {
		return nil, err
	}
	var list []*event
	for _, start := range starts {
		if one := master.instance(start); c.events[one.ID] == nil {
			list = append(list, one)
		}
	}
	return list, nil
}

// find is the event of an id: one that is stored, or an instance of a series;
// nil where there is none.
func (c *calendar) find(id string) *event {
	if e := c.events[id]; e != nil {
		return e
	}
	masterID, stamp, ok := strings.Cut(id, "_")
	master := c.events[masterID]
	if !ok || master == nil || !master.recurring() || master.Cancelled {
		return nil
	}
	at, isDate, ok := parseStamp(stamp, time.UTC)
	if !ok || isDate != master.Start.allDay() {
		return nil
	}
	start := master.Start.at(at)
	if takesPlace, err := master.startsAt(start); err != nil || !takesPlace || start.stamp() != stamp {
		return nil
	}
	return master.instance(start)
}

// exceptions are the stored instances of a series, as they were made.
func (c *calendar) exceptions(masterID string) []*event {
	var list []*event
	for _, id := range c.order {
		if e := c.events[id]; e != nil && e.Series == masterID {
			list = append(list, e)
		}
	}
	return list
}

// resetSeries cancels the instances that were changed by themselves, where the series is
// deleted or no longer takes place when they stand for. The others keep their changes, as
// Google documents.
func (c *change) resetSeries(before, after *event) error {
	if before == nil || before.Cancelled || !before.recurring() {
		return nil
	}
	if !after.Cancelled && after.Start == before.Start && bytes.Equal(after.Fields["recurrence"], before.Fields["recurrence"]) {
		return nil
	}
	for _, one := range c.world.calendars[before.Calendar].exceptions(before.ID) {
		if one.Cancelled {
			continue
		}
		if !after.Cancelled && after.recurring() {
			if stays, err := after.startsAt(one.Original); err == nil && stays {
				continue
			}
		}
		if err := c.cancel(one); err != nil {
			return err
		}
	}
	return nil
}
