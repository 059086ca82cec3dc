package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"questscheduler/api/dashboard"
	"questscheduler/internal/fault"
)

// dashboardPath is where the operator's page is; its buttons are below it.
const dashboardPath = "/dashboard"

// maxToken is the longest token that fits into a cookie, with its name and path.
const maxToken = 3800

// dashboardRoutes are the operator's page (package dashboard) and what its
// buttons do. They are for admins in a browser and stand in no OpenAPI document;
// programs have the routes under /admin.
func (s *server) dashboardRoutes() {
	s.echo.GET(dashboardPath, s.forAdmins(s.showDashboard), s.asPage)
	for name := range dashboard.Assets {
		s.echo.GET(dashboardPath+"/"+name, sendAsset(name), s.limitAddress)
	}
	s.echo.POST(dashboardPath+"/sign-in", s.signIn, s.asPage, s.limitAddress, sameOrigin, readForm)
	s.echo.POST(dashboardPath+"/sign-out", s.signOut, s.asPage, s.limitAddress, sameOrigin)
	for _, button := range []struct {
		path  string
		press func(echo.Context, caller) error
	}{
		{"/tasks/retry", s.pressRetry},
		{"/cancellations/confirm", s.pressConfirm},
		{"/watches/register", s.pressRegister},
	} {
		s.echo.POST(dashboardPath+button.path, s.forAdmins(withForm(button.press)), s.asPage, sameOrigin)
	}
}

func sendAsset(name string) echo.HandlerFunc {
	return func(c echo.Context) error {
		content, err := dashboard.Asset(name)
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, dashboard.Assets[name], content)
	}
}

// sameOrigin refuses what a page of somebody else sends: the browser says where
// a form comes from, and the cookie is Strict besides.
func sameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := protection.Check(c.Request()); err != nil {
			return fault.Wrap(fault.Forbidden, err, "That came from another page. Open the dashboard and press the button there.")
		}
		return next(c)
	}
}

// readForm reads a form within the size that bodies have. What is in
// it alone counts (PostForm), and nothing of the address.
func readForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		body, err := readBody(c)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err := r.ParseForm(); err != nil {
			return fault.Wrap(fault.Invalid, err, "That is not the dashboard's form. Open the dashboard and try again.")
		}
		return next(c)
	}
}

// withForm has a button pressed with its form, which is not read before it is
// known who presses it.
func withForm(press func(echo.Context, caller) error) func(echo.Context, caller) error {
	return func(c echo.Context, by caller) error {
		return readForm(func(c echo.Context) error { return press(c, by) })(c)
	}
}

// asPage says to a person in a browser what went wrong, as a page. Where nothing
// is, nothing is.
func (s *server) asPage(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := next(c)
		if err == nil || wantsJSON(c.Request()) || c.Response().Committed {
			return err
		}
		f := asFailure(err)
		if f.status == http.StatusNotFound {
			return f
		}
		f = s.orTooFast(f, c)
		ctx := c.Request().Context()
		s.completeFailure(ctx, f, c.Response().Header().Set)
		return s.showPage(c, f.status, consentPage{
			Title: "That did not work", Sentence: f.Problem.Message, Code: f.Problem.Code, Request: requestOf(ctx).id,
			Links: []consentLink{{"Back to the dashboard", dashboardPath}},
		})
	}
}

// forAdmins is for what admins do: whoever is nobody known is asked to sign in,
// and for everybody else nothing is there.
func (s *server) forAdmins(do func(echo.Context, caller) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		by, err := s.adminOf(c)
		switch {
		case fault.Is(err, fault.Unauthenticated) && !wantsJSON(c.Request()):
			if err := s.charge(c); err != nil {
				return err
			}
			return s.showSignIn(c, dashboard.SignIn{Out: c.QueryParam("done") == "signed-out"})
		case err != nil:
			return err
		}
		return do(c, by)
	}
}

// showDashboard shows the page.
func (s *server) showDashboard(c echo.Context, by caller) error {
	place := listing{name: "accounts", collection: "accounts"}
	after, err := place.cursor(c.QueryParam("accounts"))
	if err != nil {
		return err
	}
	overview, err := s.Health.Overview(c.Request().Context(), after)
	if err != nil {
		return err
	}
	next, err := place.token(overview.Next)
	if err != nil {
		return err
	}
	page := dashboard.Page{Overview: overview, Version: s.Version, Admin: by.person.ID, Further: after != nil}
	if next != "" {
		page.NextAccounts = dashboardPath + "?" + url.Values{"accounts": {next}}.Encode()
	}
	if at := c.QueryParam("cursor"); keyShape.MatchString(at) {
		page.NextRegister = at
	}
	page.Notice, page.Failed = noticeOf(c.QueryParams())
	return sendPage(c, http.StatusOK, func(html *bytes.Buffer) error { return dashboard.Render(html, page) })
}

func (s *server) showSignIn(c echo.Context, page dashboard.SignIn) error {
	requestOf(c.Request().Context()).code = codeAuth
	return sendPage(c, http.StatusUnauthorized, func(html *bytes.Buffer) error { return dashboard.RenderSignIn(html, page) })
}

func sendPage(c echo.Context, status int, render func(*bytes.Buffer) error) error {
	var html bytes.Buffer
	if err := render(&html); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, dashboard.Policy)
	return c.HTMLBlob(status, html.Bytes())
}

// done goes back to the page, to a part of it, after a button: so that reloading
// presses it no second time.
func done(c echo.Context, part, what string, counts ...int) error {
	query := url.Values{"done": {what}}
	for _, count := range counts {
		query.Add("count", strconv.Itoa(count))
	}
	return c.Redirect(http.StatusSeeOther, dashboardPath+"?"+query.Encode()+"#"+part)
}

// notices say what a button did, by the name that it goes back with, with as many
// numbers as they have places.
var notices = map[string]struct {
	text   string
	places int
	failed bool
}{
	"retried":       {"The task is put back to work.", 0, false},
	"retry-gone":    {"There is no such dead letter any more; it may be at work again already.", 0, true},
	"confirmed":     {"Confirmed: %d events are looked at again, and the sessions of those that are gone are cancelled.", 1, false},
	"confirm-none":  {"Nothing was confirmed: none of these cancellations is held any more, or none was chosen.", 0, true},
	"registered":    {"New watch channels: %d opened, %d failed.", 2, false},
	"registered-on": {"New watch channels so far: %d opened, %d failed. There was no time for the others: go on.", 2, false},
	"no-address":    {"Google has no address to push to. Set QS_PUBLIC_URL, and QS_SYNC to on.", 0, true},
}

// noticeOf reads what a button did; "" where none says so, or not in the way that
// done writes.
func noticeOf(query url.Values) (text string, failed bool) {
	notice, known := notices[query.Get("done")]
	counts := query["count"]
	if !known || len(counts) != notice.places {
		return "", false
	}
	numbers := make([]any, len(counts))
	for i, count := range counts {
		n, err := strconv.Atoi(count)
		if err != nil {
			return "", false
		}
		numbers[i] = n
	}
	return fmt.Sprintf(notice.text, numbers...), notice.failed
}

// pressRetry puts a dead letter back to work.
func (s *server) pressRetry(c echo.Context, by caller) error {
	id := c.Request().PostForm.Get("id")
	if !namesTask.fits(id) {
		return done(c, "queue", "retry-gone")
	}
	switch _, err := s.retryTask(c.Request().Context(), by, &onTask{ID: id}); {
	case fault.Is(err, fault.NotFound):
		return done(c, "queue", "retry-gone")
	case err != nil:
		return err
	}
	return done(c, "queue", "retried")
}

// pressConfirm takes the admin's word for the held cancellations that they chose.
func (s *server) pressConfirm(c echo.Context, by caller) error {
	ctx, key, polls := c.Request().Context(), c.Request().PostForm.Get("key"), c.Request().PostForm["poll_id"]
	if !namesCalendar.fits(key) || len(polls) == 0 || slices.ContainsFunc(polls, func(id string) bool { return !idShape.MatchString(id) }) {
		return done(c, "held", "confirm-none")
	}
	count, err := s.Calendars.Confirm(ctx, by.person, key, polls, by.cause)
	switch {
	case fault.Is(err, fault.NotFound), err == nil && count == 0:
		return done(c, "held", "confirm-none")
	case err != nil:
		return err
	}
	s.Log.InfoContext(ctx, "held cancellations are confirmed", "calendar_key", key, "events", count, "userId", by.person.ID, "trace", by.cause.Trace)
	return done(c, "held", "confirmed", count)
}

// pressRegister opens new watch channels, for as many calendars as there is time
// for; the page then offers to go on.
func (s *server) pressRegister(c echo.Context, by caller) error {
	at := c.Request().PostForm.Get("cursor")
	if !keyShape.MatchString(at) {
		at = ""
	}
	did, err := s.registerWatches(c.Request().Context(), by, &registerWatches{Cursor: at})
	switch {
	case fault.Is(err, fault.Conflict):
		return done(c, "watches", "no-address")
	case err != nil:
		return err
	case did.next == "":
		return done(c, "watches", "registered", did.Opened, did.Failed)
	}
	query := url.Values{"done": {"registered-on"}, "count": {strconv.Itoa(did.Opened), strconv.Itoa(did.Failed)}, "cursor": {did.next}}
	return c.Redirect(http.StatusSeeOther, dashboardPath+"?"+query.Encode()+"#watches")
}
