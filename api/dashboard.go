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
	"questscheduler/fault"
)

// dashboardPath is where the operator's page is; its buttons are below it.
const dashboardPath = "/dashboard"

// maxToken is the longest token that fits into a cookie, with its name and path.
const maxToken = 3800

// dashboardRoutes are the operator's page (package dashboard) and its buttons. They
// are for admins in a browser and not in the OpenAPI document; programs use the
// routes under /admin.
func (s *server) dashboardRoutes() {
	s.echo.GET(dashboardPath, s.forAdmins(s.showDashboard), s.asPage)
	for _, name := range []string{"page.css", "page.js", "icon.svg"} {
		s.echo.FileFS(dashboardPath+"/"+name, "assets/"+name, dashboard.Assets, s.limitAddress)
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

// sameOrigin refuses forms that another site's page sends: the browser names their
// origin. The cookie is SameSite=Strict besides.
func sameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := protection.Check(c.Request()); err != nil {
			return fault.Wrap(fault.Forbidden, err, "That came from another page. Open the dashboard and press the button there.")
		}
		return next(c)
	}
}

// readForm reads a form within the size limit of bodies. Handlers use PostForm alone,
// and nothing of the address.
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

// withForm presses a button with its form, which is read after the caller is known.
func withForm(press func(echo.Context, caller) error) func(echo.Context, caller) error {
	return func(c echo.Context, by caller) error {
		return readForm(func(c echo.Context) error { return press(c, by) })(c)
	}
}

// asPage shows a failure to a person in a browser as a page; what does not exist
// stays a plain 404.
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
		f = s.orRateLimited(f, c)
		ctx := c.Request().Context()
		s.completeFailure(ctx, f, c.Response().Header().Set)
		return s.showPage(c, f.status, consentPage{
			Title: "That did not work", Sentence: f.Problem.Message, Code: f.Problem.Code, Request: requestOf(ctx).id,
			Links: []consentLink{{"Back to the dashboard", dashboardPath}},
		})
	}
}

// forAdmins admits admins: anonymous callers are asked to sign in, and for everybody
// else the page does not exist.
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

// done redirects to a part of the page after a button, so that reloading does not
// press it again.
func done(c echo.Context, part, what string, counts ...int) error {
	query := url.Values{"done": {what}}
	for _, count := range counts {
		query.Add("count", strconv.Itoa(count))
	}
	return c.Redirect(http.StatusSeeOther, dashboardPath+"?"+query.Encode()+"#"+part)
}

// notices say what a button did, by the name in the redirect, with places numbers.
var notices = map[string]struct {
	text   string
	places int
	failed bool
}{
	"retried":       {"The work is tried again.", 0, false},
	"retry-gone":    {"There is no such dead letter any more; it may be running again.", 0, true},
	"confirmed":     {"Confirmed: %d events are checked again, and the sessions of those that are gone are cancelled.", 1, false},
	"confirm-none":  {"Nothing was confirmed: these cancellations are no longer held, or none was chosen.", 0, true},
	"registered":    {"New watch channels: %d opened, %d failed.", 2, false},
	"registered-on": {"New watch channels so far: %d opened, %d failed. Continue with the others.", 2, false},
	"no-address":    {"Google has no address to push to. Set QS_PUBLIC_URL, and QS_SYNC to on.", 0, true},
}

// noticeOf reads what done wrote; "" for anything else.
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

// pressRetry retries a dead letter.
func (s *server) pressRetry(c echo.Context, by caller) error {
	id := c.Request().PostForm.Get("id")
	if !namesTask.fits(id) {
		return done(c, "work", "retry-gone")
	}
	switch _, err := s.retryTask(c.Request().Context(), by, &onTask{ID: id}); {
	case fault.Is(err, fault.NotFound):
		return done(c, "work", "retry-gone")
	case err != nil:
		return err
	}
	return done(c, "work", "retried")
}

// pressConfirm confirms the held cancellations that the admin chose.
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
	s.Log.InfoContext(ctx, "held cancellations are confirmed", "calendar_key", key, "events", count, "user_id", by.person.ID,
		"trace", by.cause.Trace)
	return done(c, "held", "confirmed", count)
}

// pressRegister opens new watch channels for as many calendars as there is time for;
// the page then offers to continue.
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
