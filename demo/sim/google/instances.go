package google

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// listInstances shows a series as it takes place, the instances included that
// were changed by themselves.
func (s *Server) listInstances(c *call) (answer, error) {
	page, err := s.findInstances(c)
	if err != nil {
		return answer{}, err
	}
	return c.showPage(page)
}

func (s *Server) findInstances(c *call) (page foundPage, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cal, role, err := s.world.calendarFor(c)
	if err != nil {
		return page, err
	}
	master := cal.find(c.r.PathValue("eventId"))
	switch {
	case master == nil || cal.vanished(master, s.visibleSince()):
		return page, errNotFound
	case !master.recurring():
		return page, invalid("The event is not recurring.")
	}
	q := &query{values: c.query}
	page.view = q.eventView(cal, nil)
	page.view.role, page.view.malformed = role, s.malformed[cal.ID]
	shown := readInstanceFilter(q, page.view.zone)
	size, skip := q.number("maxResults"), q.offset("pageToken")
	if q.err != nil {
		return page, q.err
	}
	all, err := cal.instances(master, shown.until())
	if err != nil {
		return page, err
	}
	all = slices.DeleteFunc(append(all, cal.exceptions(master.ID)...), func(e *event) bool { return !shown.shows(e) })
	slices.SortFunc(all, func(a, b *event) int { return strings.Compare(a.ID, b.ID) })
	page.events = all[min(skip, len(all)):]
	size = pageSize(size)
	if len(page.events) > size {
		page.events = page.events[:size]
		page.tokens = object{{"nextPageToken", strconv.Itoa(skip + size)}}
	}
	page.finish(c, cal, role)
	return page, nil
}

// instanceFilter says which instances are shown.
type instanceFilter struct {
	filter
	showDeleted bool
	original    time.Time
}

func readInstanceFilter(q *query, zone *time.Location) instanceFilter {
	f := instanceFilter{filter: readFilter(q, zone), showDeleted: q.flag("showDeleted")}
	if text := q.values.Get("originalStart"); text != "" {
		var err error
		f.original, err = time.ParseInLocation(dateLayout, text, zone)
		if err != nil {
			f.original = q.instant("originalStart")
		}
	}
	return f
}

// until is the end of the time in which instances can be shown; zero: unknown.
func (f *instanceFilter) until() time.Time {
	if !f.original.IsZero() {
		return f.original
	}
	return f.timeMax
}

func (f *instanceFilter) shows(e *event) bool {
	if !f.original.IsZero() && !e.Original.in(f.zone).Equal(f.original) {
		return false
	}
	if e.Cancelled {
		return f.showDeleted
	}
	return f.filter.shows(e)
}

// offset is how many entries the pages before have shown.
func (q *query) offset(name string) int {
	text := q.values.Get(name)
	if text == "" {
		return 0
	}
	skip, err := strconv.Atoi(text)
	if err != nil || skip < 0 {
		q.fail(name, "Invalid page token value.")
	}
	return skip
}

// pageSize is what is asked for, within Google's limits.
func pageSize(asked int) int {
	if asked == 0 {
		return defaultPage
	}
	return min(asked, maxPage)
}
