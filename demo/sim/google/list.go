package google

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultPage = 250
	maxPage     = 2500
)

// listing is an events.list request, read and checked.
type listing struct {
	max          int
	pageToken    string
	syncToken    string
	showDeleted  bool
	singleEvents bool
	orderBy      string
	filter       filter
	view         view
	// shaping are the parameters that must stay the same from the listing that
	// gave a sync token to those that use it.
	shaping string
	// all are the parameters that must stay the same from page to page.
	all string

	now       time.Time
	tokenLife time.Duration
	// visibleSince is the oldest deletion that is still visible.
	visibleSince time.Time
}

// notWithSyncToken are refused beside a sync token, as is showDeleted=false.
var notWithSyncToken = []string{
	"iCalUID", "orderBy", "privateExtendedProperty", "q", "sharedExtendedProperty", "timeMin", "timeMax", "updatedMin",
}

// givesNoSyncToken are those whose listing cannot be carried on by a sync
// token.
var givesNoSyncToken = []string{
	"iCalUID", "orderBy", "privateExtendedProperty", "q", "sharedExtendedProperty", "updatedMin",
}

// shapesListing are those that a sync token is bound to.
var shapesListing = []string{
	"alwaysIncludeEmail", "eventTypes", "maxAttendees", "showHiddenInvitations", "singleEvents", "timeZone",
}

func readListing(c *call, cal *calendar) (*listing, error) {
	q := &query{values: c.query}
	l := &listing{
		max:          q.number("maxResults"),
		pageToken:    c.query.Get("pageToken"),
		syncToken:    c.query.Get("syncToken"),
		showDeleted:  q.flag("showDeleted"),
		singleEvents: q.flag("singleEvents"),
		orderBy:      q.oneOf("orderBy", "startTime", "updated"),
		view:         q.eventView(cal, nil),
		shaping:      canonical(c, shapesListing),
		all:          canonical(c, slices.Concat(shapesListing, notWithSyncToken, []string{"showDeleted", "syncToken"})),
	}
	l.view.role = cal.role(c.user.Key)
	q.flag("showHiddenInvitations") // every invitation is shown; a wrong value is still refused
	l.filter = readFilter(q, l.view.zone)
	l.max = pageSize(l.max)
	if q.err != nil {
		return nil, q.err
	}
	if l.syncToken != "" {
		for _, name := range notWithSyncToken {
			if c.query.Has(name) {
				return nil, newError(http.StatusBadRequest, "badRequest", "Sync token cannot be used with "+name+".")
			}
		}
		if c.query.Has("showDeleted") && !l.showDeleted {
			return nil, newError(http.StatusBadRequest, "badRequest", "Sync token cannot be used with showDeleted=false.")
		}
	}
	if l.orderBy == "startTime" && !l.singleEvents {
		return nil, newError(http.StatusBadRequest, "badRequest",
			"The requested ordering is not available for the particular query.")
	}
	return l, nil
}

// canonical writes parameters down so that the same request gives the same
// text. A parameter that is given but false is one that is not given.
func canonical(c *call, names []string) string {
	var b strings.Builder
	for _, name := range names {
		values := slices.Clone(c.query[name])
		if len(values) == 0 || len(values) == 1 && values[0] == "false" {
			continue
		}
		slices.Sort(values)
		b.WriteString(name + "=" + strings.Join(values, "\x00") + "\n")
	}
	return b.String()
}

// listShape is what a fields mask may ask of a listing.
var listShape = shape{
	"kind": nil, "etag": nil, "summary": nil, "description": nil, "updated": nil, "timeZone": nil, "accessRole": nil,
	"defaultReminders": nil, "nextPageToken": nil, "nextSyncToken": nil, "items": eventShape,
}

// listEvents is a full listing, or with a sync token what changed since. The
// page is found under the lock and rendered without it.
func (s *Server) listEvents(c *call) (answer, error) {
	page, err := s.findPage(c)
	if err != nil {
		return answer{}, err
	}
	return c.showPage(page)
}

// showPage renders a page as the mask asks for it.
func (c *call) showPage(page foundPage) (answer, error) {
	itemMask, wanted := c.mask.inner("items")
	page.view.mask = itemMask
	items := make([]object, 0, len(page.events))
	for _, e := range page.events {
		if !wanted {
			break
		}
		o, err := e.render(page.view)
		if err != nil {
			return answer{}, err
		}
		items = append(items, o)
	}
	// Items are masked already; their mask must not apply again.
	head, err := c.mask.apply(append(page.head, page.tokens...))
	if err != nil {
		return answer{}, err
	}
	if wanted {
		head = append(head, field{"items", items})
	}
	return answer{status: http.StatusOK, body: head, etag: page.etag}, nil
}

// foundPage is one page of a listing.
type foundPage struct {
	events []*event
	view   view
	head   object // without events and tokens
	tokens object // nextPageToken or nextSyncToken
	etag   string
}

func (s *Server) findPage(c *call) (foundPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cal, role, err := s.world.calendarFor(c)
	if err != nil {
		return foundPage{}, err
	}
	l, err := readListing(c, cal)
	if err != nil {
		return foundPage{}, err
	}
	if err := l.filter.check(s.clock.Now()); err != nil {
		return foundPage{}, err
	}
	l.view.malformed = s.malformed[cal.ID]
	l.now, l.tokenLife, l.visibleSince = s.clock.Now(), s.opt.SyncTokenLife, s.visibleSince()
	page, err := s.world.walk(cal, l, !slices.ContainsFunc(givesNoSyncToken, c.query.Has))
	if err != nil {
		return foundPage{}, err
	}
	page.finish(c, cal, role)
	return page, nil
}

// finish adds what a page has beside events and tokens. Its etag names what the
// calendar was, what was asked for, and how many events are shown: deleted ones
// disappear from it with time alone.
func (p *foundPage) finish(c *call, cal *calendar, role Role) {
	version, shown := strconv.FormatInt(cal.lastVersion(), 36), strconv.Itoa(len(p.events))
	p.etag = `"` + digest(strings.Join([]string{version, shown, cal.entryEtag(c.user, role), c.r.URL.Path, c.query.Encode()}, "\n")) + `"`
	p.head = cal.head(role, p.view.zone, p.etag)
}

// head is a listing without its items and tokens.
func (c *calendar) head(role Role, zone *time.Location, etag string) object {
	var updated time.Time
	if n := len(c.log); n > 0 {
		updated = c.events[c.log[n-1].id].Updated
	}
	o := object{
		{"kind", "calendar#events"},
		{"etag", etag},
		{"summary", c.Summary},
		{"updated", updated.UTC().Format(instantLayout)},
		{"timeZone", zone.String()},
		{"accessRole", string(role)},
	}
	if role == Owner {
		o = append(o, field{"defaultReminders", []object{{{"method", "popup"}, {"minutes", 10}}}})
	}
	return o
}
