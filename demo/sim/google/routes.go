package google

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"questscheduler/demo/sim/control"
)

// call is one authenticated call of the Calendar or Sheets API.
type call struct {
	r     *http.Request
	user  *User
	grant *grant
	query url.Values
	mask  mask
	// ownOnly: the grant is good for calendars that its client made alone.
	ownOnly bool
}

// answer is what a call gives where it succeeds.
type answer struct {
	status int
	body   object // nil: none
	etag   string
}

// knownTo says whether the caller has the answer already: its If-None-Match
// names the etag (RFC 9110, 13.1.2).
func (a answer) knownTo(r *http.Request) bool {
	for text := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		text = strings.TrimPrefix(strings.TrimSpace(text), "W/")
		if a.etag != "" && (text == a.etag || text == "*") {
			return true
		}
	}
	return false
}

// route is one method of an API. Its name is that of faults and counts.
type route struct {
	name  string
	verb  string
	path  string // below /calendar/v3, or sheetsBase
	scope []string
	shape shape // what a fields mask may ask for; nil: anything
	serve func(*Server, *call) (answer, error)
}

// writes says whether the method changes events.
func (rt route) writes() bool {
	return slices.ContainsFunc([][]string{writeEvents, moveEvents, clearCalendars, makeCalendars}, func(scopes []string) bool {
		return slices.Equal(rt.scope, scopes)
	})
}

// apiRoutes are those of the Calendar API.
func apiRoutes() []route {
	const events = "/calendars/{calendarId}/events"
	return []route{
		{"events.list", "GET", events, readEvents, listShape, (*Server).listEvents},
		{"events.get", "GET", events + "/{eventId}", readEvents, eventShape, (*Server).getEvent},
		{"events.insert", "POST", events, writeEvents, eventShape, (*Server).insertEvent},
		{"events.patch", "PATCH", events + "/{eventId}", writeEvents, eventShape, (*Server).patchEvent},
		{"events.update", "PUT", events + "/{eventId}", writeEvents, eventShape, (*Server).updateEvent},
		{"events.delete", "DELETE", events + "/{eventId}", writeEvents, nil, (*Server).deleteEvent},
		{"events.instances", "GET", events + "/{eventId}/instances", readEvents, listShape, (*Server).listInstances},
		{"events.move", "POST", events + "/{eventId}/move", moveEvents, eventShape, (*Server).moveEvent},
		{"events.watch", "POST", events + "/watch", readEvents, nil, (*Server).watchEvents},
		{"channels.stop", "POST", "/channels/stop", readEvents, nil, (*Server).stopChannel},
		{"calendars.insert", "POST", "/calendars", makeCalendars, calendarShape, (*Server).insertCalendar},
		{"calendars.delete", "DELETE", "/calendars/{calendarId}", makeCalendars, nil, (*Server).deleteCalendar},
		{"freebusy.query", "POST", "/freeBusy", readFreeBusy, freeBusyShape, (*Server).queryFreeBusy},
		{"calendars.clear", "POST", "/calendars/{calendarId}/clear", clearCalendars, nil, (*Server).clearCalendar},
		{"calendarList.list", "GET", "/users/me/calendarList", readCalendarList, entriesShape, (*Server).listCalendars},
		{"calendarList.get", "GET", "/users/me/calendarList/{calendarId}", readEntry, entryShape, (*Server).getCalendarListEntry},
	}
}

// pushMethod is the name of what the simulator itself sends.
const pushMethod = "push"

// oauthRoute is a call outside the Calendar API.
type oauthRoute struct {
	name, pattern string
	serve         func(*Server, http.ResponseWriter, *http.Request)
}

// oauthRoutes: the consent page has both of its addresses at Google.
func oauthRoutes() []oauthRoute {
	return []oauthRoute{
		{"oauth.authorize", "GET /o/oauth2/v2/auth", (*Server).authorize},
		{"oauth.authorize", "GET /o/oauth2/auth", (*Server).authorize},
		{"oauth.consent", "POST /o/oauth2/v2/auth", (*Server).consent},
		{"oauth.consent", "POST /o/oauth2/auth", (*Server).consent},
		{"oauth.token", "POST /token", (*Server).token},
		{"oauth.revoke", "POST /revoke", (*Server).revoke},
		{"oauth.certs", "GET /oauth2/v3/certs", (*Server).certs},
		{"oauth.userinfo", "GET /v1/userinfo", (*Server).userInfo},
	}
}

// methods are all names that faults and counts go by.
func methods() []string {
	names := []string{pushMethod}
	for _, r := range oauthRoutes() {
		names = append(names, r.name)
	}
	for _, r := range slices.Concat(apiRoutes(), sheetsRoutes()) {
		names = append(names, r.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s *Server) routes() {
	refuse := func(w http.ResponseWriter, req *http.Request, f control.Fault) { s.writeError(w, req, planted(f)) }
	for _, r := range apiRoutes() {
		s.mux.HandleFunc(r.verb+" /calendar/v3"+r.path, s.control.Wrap(r.name, refuse, s.handle(r)))
	}
	for _, r := range sheetsRoutes() {
		s.mux.HandleFunc(r.verb+" "+sheetsBase+r.path, s.control.Wrap(r.name, refuse, s.handle(r)))
	}
	for _, r := range oauthRoutes() {
		serve := func(w http.ResponseWriter, req *http.Request) { r.serve(s, w, req) }
		s.mux.HandleFunc(r.pattern, s.control.Wrap(r.name, refuseOAuth, serve))
	}
	s.control.Register(s.mux)
	s.mux.HandleFunc("POST /_sim/revoke", s.simRevoke)
	s.mux.HandleFunc("POST /_sim/quota", s.simQuota)
	s.mux.HandleFunc("POST /_sim/channels", s.simChannels)
	s.mux.HandleFunc("POST /_sim/expire-sync-tokens", s.simExpireSyncTokens)
	s.mux.HandleFunc("PUT /_sim/calendars/{calendar}", s.simCalendar)
	s.mux.HandleFunc("POST /_sim/calendars/{calendar}/clear", s.simClear)
	s.mux.HandleFunc("POST /_sim/calendars/{calendar}/duplicate", s.simDuplicate)
	s.mux.HandleFunc("PUT /_sim/sheets/{spreadsheet}", s.simSheet)
	s.mux.HandleFunc("GET /_sim/sheets/{spreadsheet}", s.simSheetNow)
	s.mux.HandleFunc("PUT /_sim/service-accounts/{email}", s.simServiceAccount)
	s.mux.HandleFunc("POST /_sim/malformed", s.simMalform)
	s.mux.HandleFunc("GET /_sim/malformed", s.simMalformed)
	s.mux.HandleFunc("DELETE /_sim/malformed", s.simClearMalformed)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.writeError(w, r, errNotFound) })
}

// handle authenticates a call, reads what all methods have in common and
// answers what the method gives.
func (s *Server) handle(rt route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		a, err := s.answer(rt, r)
		if err != nil {
			s.writeError(w, r, err)
		} else {
			if a.etag != "" {
				w.Header().Set("ETag", a.etag)
			}
			if rt.verb == http.MethodGet && a.knownTo(r) {
				a.status, a.body = http.StatusNotModified, nil
			}
			writeJSON(w, a.status, a.body)
		}
		s.opt.Log.LogAttrs(r.Context(), slog.LevelDebug, "google simulator",
			slog.String("method", rt.name), slog.Any("error", err), slog.Duration("took", time.Since(began)))
	}
}

func (s *Server) answer(rt route, r *http.Request) (answer, error) {
	user, g, err := s.authenticate(r, rt.scope)
	if err != nil {
		return answer{}, err
	}
	if err := s.takeQuota(rt, user); err != nil {
		return answer{}, err
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return answer{}, newError(http.StatusBadRequest, "badRequest", "Bad Request")
	}
	m, err := s.masks.of(rt, query.Get("fields"))
	if err != nil {
		return answer{}, err
	}
	ownOnly := !slices.ContainsFunc(rt.scope, func(scope string) bool { return scope != ScopeAppCreated && slices.Contains(g.Scopes, scope) })
	return rt.serve(s, &call{r: r, user: user, grant: g, query: query, mask: m, ownOnly: ownOnly})
}

// describe is what faults are limited by. "primary" is the caller's.
func (s *Server) describe(r *http.Request) control.Call {
	call := control.Call{Event: r.PathValue("eventId")}
	if strings.Contains(r.URL.RawQuery, "syncToken=") { // else the query need not be parsed
		call.Token = r.URL.Query().Get("syncToken") != ""
	}
	id := r.PathValue("calendarId")
	if id == "" {
		return call
	}
	user := &User{}
	if caller, _, err := s.authenticate(r, nil); err == nil {
		user = caller
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cal := s.world.named(user, id); cal != nil {
		call.Calendar = cal.ID
	}
	return call
}

// calendarFor finds the calendar that a call names in its path.
func (w *world) calendarFor(c *call) (*calendar, Role, error) {
	return w.calendarOf(c, c.r.PathValue("calendarId"))
}

// named is the calendar that a person's call means by an id, nil where there is
// none; "primary" is their own.
func (w *world) named(user *User, id string) *calendar {
	if id == "primary" {
		id = user.Email
	}
	if cal := w.calendars[id]; cal != nil {
		return cal
	}
	return w.calendars[fold(id)]
}

// calendarOf finds a calendar for a call. One that its person may not read, or its client
// has no access to, is not found; one that its person is refused is forbidden.
func (w *world) calendarOf(c *call, id string) (*calendar, Role, error) {
	cal := w.named(c.user, id)
	if cal == nil || c.ownOnly && cal.App != appOf(c.grant) {
		return nil, NoAccess, errNotFound
	}
	role := cal.role(c.user.Key)
	switch {
	case role == Refused:
		return nil, NoAccess, errForbidden
	case !role.mayRead():
		return nil, NoAccess, errNotFound
	}
	return cal, role, nil
}
