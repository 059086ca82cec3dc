package google

import (
	"net/http"
	"strconv"
)

// listCalendars shows the calendars that the caller may read, all on one page
// unless maxResults asks for less.
func (s *Server) listCalendars(c *call) (answer, error) {
	q := query{values: c.query}
	size := q.number("maxResults")
	least := Role(q.oneOf("minAccessRole", "freeBusyReader", string(Owner), string(Reader), string(Writer), "writerWithoutPrivateAccess"))
	skip := q.offset("pageToken")
	if c.query.Has("syncToken") {
		q.fail("syncToken", "This simulator gives no sync tokens for the list of calendars.")
	}
	if q.err != nil {
		return answer{}, q.err
	}
	if size == 0 {
		size = 100
	}
	size = min(size, 250)

	s.mu.Lock()
	defer s.mu.Unlock()
	entries := []object{}
	for _, cal := range s.world.calendarsInOrder() {
		role := cal.role(c.user.Key)
		if role.mayRead() && rank[role] >= rank[least] {
			entries = append(entries, cal.entry(c.user, role))
		}
	}
	body := object{{"kind", "calendar#calendarList"}, {"etag", `"` + digest(c.user.Key+strconv.Itoa(len(entries))) + `"`}}
	entries = entries[min(skip, len(entries)):]
	if len(entries) > size {
		entries = entries[:size]
		body = append(body, field{"nextPageToken", strconv.Itoa(skip + size)})
	}
	body, err := c.mask.apply(append(body, field{"items", entries}))
	return answer{status: http.StatusOK, body: body}, err
}

// getCalendarListEntry shows one calendar; "primary" is the caller's own.
func (s *Server) getCalendarListEntry(c *call) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cal, role, err := s.world.calendarFor(c)
	if err != nil {
		return answer{}, err
	}
	body, err := c.mask.apply(cal.entry(c.user, role))
	return answer{status: http.StatusOK, body: body}, err
}

// entry is the calendar as it stands in a person's list.
func (c *calendar) entry(user *User, role Role) object {
	o := object{
		{"kind", "calendar#calendarListEntry"},
		{"etag", `"` + digest(c.ID+strconv.FormatInt(c.Epoch, 10)) + `"`},
		{"id", c.ID},
		{"summary", c.Summary},
		{"timeZone", c.TimeZone},
		{"selected", true},
		{"accessRole", string(role)},
	}
	if c.Primary == user.Key {
		o = append(o, field{"primary", true})
	}
	return o
}
