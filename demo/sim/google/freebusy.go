package google

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"

	gcal "google.golang.org/api/calendar/v3"
)

const (
	// maxBusyCalendars is how many calendars a query is answered for.
	maxBusyCalendars = 50
	// maxBusyRange is the longest range of a query.
	maxBusyRange = 90 * 24 * time.Hour
)

// freeBusyShape is what a fields mask may ask of the answer.
var freeBusyShape = shape{"kind": nil, "timeMin": nil, "timeMax": nil, "groups": nil, "calendars": nil}

// busyQuery is a freebusy.query request, read and checked.
type busyQuery struct {
	from, to time.Time
	zone     *time.Location
	ids      []string
	most     int
}

func readBusyQuery(r *http.Request) (q busyQuery, err error) {
	text, err := readBody(r)
	if err != nil {
		return q, err
	}
	var body gcal.FreeBusyRequest
	if err := json.Unmarshal(text, &body); err != nil {
		return q, newError(http.StatusBadRequest, "parseError", "Parse Error")
	}
	for _, side := range []struct {
		name, text string
		at         *time.Time
	}{{"timeMin", body.TimeMin, &q.from}, {"timeMax", body.TimeMax, &q.to}} {
		if side.text == "" {
			return q, required("Missing " + side.name + " parameter.")
		}
		*side.at, err = time.Parse(time.RFC3339, side.text)
		if err != nil {
			return q, invalid("Invalid value for: %s", side.name)
		}
	}
	switch {
	case !q.to.After(q.from):
		return q, newError(http.StatusBadRequest, "timeRangeEmpty", "The specified time range is empty.")
	case q.to.Sub(q.from) > maxBusyRange:
		return q, newError(http.StatusBadRequest, "timeRangeTooLong", "The requested time range is too long.")
	}
	q.zone = time.UTC
	if body.TimeZone != "" {
		q.zone, err = loadZone(body.TimeZone)
		if err != nil {
			return q, invalid("Invalid time zone definition.")
		}
	}
	for _, item := range body.Items {
		if item == nil || item.Id == "" {
			return q, required("Missing calendar id.")
		}
		if !slices.Contains(q.ids, item.Id) {
			q.ids = append(q.ids, item.Id)
		}
	}
	q.most = maxBusyCalendars
	if body.CalendarExpansionMax > 0 {
		q.most = min(q.most, int(body.CalendarExpansionMax))
	}
	return q, nil
}

// queryFreeBusy says when calendars are busy. A calendar that cannot be answered for has
// an error of its own.
func (s *Server) queryFreeBusy(c *call) (answer, error) {
	q, err := readBusyQuery(c.r)
	if err != nil {
		return answer{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	calendars := object{}
	for i, id := range q.ids {
		calendars = append(calendars, field{id, s.busyCalendar(c, q, id, i < q.most)})
	}
	body, err := c.mask.apply(object{
		{"kind", "calendar#freeBusy"}, {"timeMin", q.from.In(q.zone).Format(time.RFC3339)},
		{"timeMax", q.to.In(q.zone).Format(time.RFC3339)}, {"calendars", calendars},
	})
	return answer{status: http.StatusOK, body: body}, err
}

func (s *Server) busyCalendar(c *call, q busyQuery, id string, within bool) object {
	failed := func(reason string) object {
		return object{{"errors", []object{{{"domain", "global"}, {"reason", reason}}}}, {"busy", []object{}}}
	}
	if !within {
		return failed("tooManyCalendarsRequested")
	}
	cal, _, err := s.world.calendarOf(c, id)
	if err != nil {
		return failed("notFound")
	}
	busy, err := cal.busy(q.from, q.to)
	if err != nil {
		return failed("internalError")
	}
	periods := []object{}
	for _, p := range busy {
		periods = append(periods, object{{"start", p.start.In(q.zone).Format(time.RFC3339)}, {"end", p.end.In(q.zone).Format(time.RFC3339)}})
	}
	return object{{"busy", periods}}
}

type period struct{ start, end time.Time }

// busy are the periods in which a calendar is busy, merged and cut to the range.
func (c *calendar) busy(from, to time.Time) ([]period, error) {
	var found []period
	for _, id := range c.order {
		e := c.events[id]
		if e == nil || !e.blocks() {
			continue
		}
		events := []*event{e}
		if e.recurring() {
			var err error
			events, err = c.instances(e, to)
			if err != nil {
				return nil, err
			}
		}
		for _, one := range events {
			p := period{latest(one.Start.in(c.location()), from), earliest(one.End.in(c.location()), to)}
			if p.start.Before(p.end) {
				found = append(found, p)
			}
		}
	}
	return merge(found), nil
}

// blocks says whether an event makes its calendar busy: one that is transparent or
// declined does not.
func (e *event) blocks() bool {
	if e.Cancelled || e.text("transparency") == "transparent" {
		return false
	}
	own := find(e.attendees(), e.Calendar)
	return own == nil || own["responseStatus"] != "declined"
}

func merge(periods []period) []period {
	slices.SortFunc(periods, func(a, b period) int { return a.start.Compare(b.start) })
	var merged []period
	for _, p := range periods {
		if last := len(merged) - 1; last >= 0 && !p.start.After(merged[last].end) {
			merged[last].end = latest(merged[last].end, p.end)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
