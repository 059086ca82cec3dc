package google

import (
	"net/http"
	"strconv"
	"strings"
)

// notWithListToken are refused beside a sync token of the list of calendars,
// and hiding what was deleted or hidden too.
var notWithListToken = []string{"minAccessRole", "showOwnOrganizationOnly", "showDeleted=false", "showHidden=false"}

// listToken is what stands in a sync token of the list of calendars: the etag
// of each entry that was shown, by id. Tokens are not stored.
type listToken struct {
	User  string            `json:"u"`
	Epoch int64             `json:"e"`
	Given int64             `json:"t"` // Unix seconds
	Shown map[string]string `json:"s"`
}

// calendarListing is a calendarList.list request, read and checked.
type calendarListing struct {
	size, skip int
	least      Role
	hidden     bool       // show what the caller hid; beside a token that is always shown
	token      *listToken // nil: a full listing
}

func (s *Server) readCalendarListing(c *call) (l calendarListing, err error) {
	q := query{values: c.query}
	l.size, l.skip = min(q.number("maxResults"), 250), q.offset("pageToken")
	if l.size == 0 {
		l.size = 100
	}
	l.least = Role(q.oneOf("minAccessRole", string(FreeBusyReader), string(Owner), string(Reader), string(Writer),
		string(WriterWithoutPrivateAccess)))
	for _, name := range []string{"showDeleted", "showOwnOrganizationOnly"} {
		q.flag(name)
	}
	l.hidden = q.flag("showHidden") || c.query.Get("syncToken") != ""
	if q.err != nil || c.query.Get("syncToken") == "" {
		return l, q.err
	}
	for _, forbidden := range notWithListToken {
		name, value, valued := strings.Cut(forbidden, "=")
		if c.query.Has(name) && (!valued || c.query.Get(name) == value) {
			return l, newError(http.StatusBadRequest, "badRequest", "Sync token cannot be used with "+forbidden+".")
		}
	}
	l.token = &listToken{}
	switch now := s.clock.Now(); {
	case !decodeToken(c.query.Get("syncToken"), l.token) || l.token.User != c.user.Key:
		return l, errSyncToken
	case l.token.Epoch != s.world.epoch && s.world.epochReason == errSyncToken.reason:
		return l, errSyncToken
	case l.token.Epoch != s.world.epoch, now.Unix()-l.token.Given >= int64(s.opt.SyncTokenLife.Seconds()):
		return l, errFullSync
	}
	return l, nil
}

// listCalendars shows the calendars that the caller has, or with a sync token
// those that came, changed or went since.
func (s *Server) listCalendars(c *call) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, err := s.readCalendarListing(c)
	if err != nil {
		return answer{}, err
	}
	token := listToken{User: c.user.Key, Epoch: s.world.epoch, Given: s.clock.Now().Unix(), Shown: map[string]string{}}
	entries := []object{}
	for _, cal := range s.world.calendarsInOrder() {
		role := cal.role(c.user.Key)
		if !role.mayRead() || rank[role] < rank[l.least] {
			continue
		}
		etag := cal.entryEtag(c.user, role)
		token.Shown[cal.ID] = etag
		if (l.hidden || !cal.Hidden[c.user.Key]) && (l.token == nil || l.token.Shown[cal.ID] != etag) {
			entries = append(entries, cal.entry(c.user, role))
		}
	}
	if l.token != nil {
		entries = append(entries, l.token.gone(token)...)
	}
	etag := `"` + digest(encodeToken(token.Shown)+c.query.Encode()) + `"`
	body := object{{"kind", "calendar#calendarList"}, {"etag", etag}}
	entries = entries[min(l.skip, len(entries)):]
	if len(entries) > l.size {
		entries = entries[:l.size]
		body = append(body, field{"nextPageToken", strconv.Itoa(l.skip + l.size)})
	} else if l.least == "" {
		body = append(body, field{"nextSyncToken", encodeToken(token)})
	}
	body, err = c.mask.apply(append(body, field{"items", entries}))
	return answer{status: http.StatusOK, body: body, etag: etag}, err
}

// gone are the entries of an earlier token that are not in a later one.
func (t *listToken) gone(later listToken) []object {
	var entries []object
	for _, id := range sortedKeys(t.Shown) {
		if _, there := later.Shown[id]; !there {
			entries = append(entries, object{{"kind", "calendar#calendarListEntry"}, {"etag", t.Shown[id]}, {"id", id}, {"deleted", true}})
		}
	}
	return entries
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
	return answer{status: http.StatusOK, body: body, etag: cal.entryEtag(c.user, role)}, err
}

// entryEtag differs for whatever an entry shows.
func (c *calendar) entryEtag(user *User, role Role) string {
	shown := []string{c.ID, c.Summary, c.Description, c.TimeZone, user.Key, string(role)}
	if c.Hidden[user.Key] {
		shown = append(shown, "hidden")
	}
	return `"` + digest(strings.Join(shown, "\n")) + `"`
}

// entry is the calendar as it stands in a person's list.
func (c *calendar) entry(user *User, role Role) object {
	o := object{
		{"kind", "calendar#calendarListEntry"},
		{"etag", c.entryEtag(user, role)},
		{"id", c.ID},
		{"summary", c.Summary},
		{"timeZone", c.TimeZone},
		{"colorId", "14"},
		{"backgroundColor", "#9fe1e7"},
		{"foregroundColor", "#000000"},
		{"selected", true},
		{"accessRole", string(role)},
		{"defaultReminders", []object{}},
	}
	if c.Description != "" {
		o = append(o, field{"description", c.Description})
	}
	if c.Primary == user.Key {
		o = append(o, field{"primary", true})
	}
	if c.Hidden[user.Key] {
		o = append(o, field{"hidden", true})
	}
	return o
}
