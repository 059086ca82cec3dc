package api

import (
	"bytes"
	"cmp"
	"crypto/rand"
	_ "embed" // for the page
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"questscheduler/accounts"
	"questscheduler/fault"
	"questscheduler/scheduler"
	"questscheduler/signin"
)

//go:embed consent.html
var consentText string

var consentTemplate = template.Must(template.New("consent").Parse(consentText))

// cookieName is that of the secret which a browser keeps while it is at Google.
const cookieName = "questscheduler_consent"

// hintLink is the hint of what follows from a link.
const hintLink = "relink"

// consentRoutes lead a browser to Google's consent and back (seed 003, §4).
func (s *server) consentRoutes() {
	s.echo.GET(PathStart, s.startConsent, s.limitAddress)
	s.echo.GET(PathCallback, s.endConsent, s.limitAddress)
	s.echo.GET(PathLinked, s.showEnd, s.limitAddress)
}

// startConsent sends a browser that brings a ticket, or a program that brings a
// person's token, on to Google.
func (s *server) startConsent(c echo.Context) error {
	ctx := c.Request().Context()
	ask, err := s.askedBy(c)
	if err != nil {
		return s.showFailure(c, accounts.Ask{}, err)
	}
	fromBrowser := isBrowser(c.Request())
	if fromBrowser && fromElsewhere(c.Request()) {
		return s.showPage(c, http.StatusOK, consentPage{
			Title: "Link a Google account", Sentence: "A Google account is about to be linked to " + nameOf(ask) +
				" in Quest Scheduler. Go on only if that is you, and you asked for it.",
			Links: []consentLink{{"Go on to Google", c.Request().URL.RequestURI()}},
		})
	}
	secret := ""
	if fromBrowser {
		secret = rand.Text()
	}
	address, err := s.Linked.Consents.Start(ctx, ask, secret)
	if err != nil {
		return s.showFailure(c, ask, err)
	}
	if fromBrowser {
		c.SetCookie(s.consentCookie(secret, int(accounts.StateLife.Seconds())))
	}
	return c.Redirect(http.StatusFound, address)
}

// askedBy reads what is to be linked for whom.
func (s *server) askedBy(c echo.Context) (accounts.Ask, error) {
	query := c.QueryParams()
	if ticket := query.Get("ticket"); ticket != "" {
		return s.Linked.Consents.Asked(ticket)
	}
	token, err := signin.Bearer(c.Request().Header.Get(echo.HeaderAuthorization))
	if err != nil {
		return accounts.Ask{}, fault.New(fault.Unauthenticated, "Sign in to Quest Scheduler first, and begin to link the account from there.")
	}
	known, err := s.SignIn.Verify(c.Request().Context(), token)
	if err != nil {
		return accounts.Ask{}, err
	}
	ask := accounts.Ask{PersonID: known.UID, AccountID: query.Get("account_id"), ReturnTo: query.Get("redirect_uri")}
	if known.EmailVerified {
		ask.PersonName = known.Email
	}
	return ask, nil
}

// nameOf is a person as they know themselves.
func nameOf(ask accounts.Ask) string {
	if ask.PersonName != "" {
		return ask.PersonName
	}
	return "the person " + ask.PersonID
}

// isBrowser tells a browser from a program: every browser says in this header
// what it loads, and no page can keep it from doing so.
func isBrowser(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Mode") != "" }

// fromElsewhere tells whether a browser was sent here by somebody else than us
// or a page of our site: a link in a message may bring a ticket of whoever wrote
// it.
func fromElsewhere(r *http.Request) bool {
	return !slices.Contains([]string{"same-origin", "same-site"}, r.Header.Get("Sec-Fetch-Site"))
}

// consentCookie is the cookie of a browser's secret. Google sends the browser
// back by a link, with which Lax cookies come along; to the web app's old address
// too (package callables), so it is for all of them.
func (s *server) consentCookie(secret string, seconds int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // secure wherever we are reached by HTTPS
		Name: cookieName, Value: secret, Path: "/", MaxAge: seconds,
		HttpOnly: true, Secure: s.HTTPS, SameSite: http.SameSiteLaxMode,
	}
}

// endConsent takes what a browser brings back from Google, links the account,
// and sends the browser on to where its person wanted to go.
func (s *server) endConsent(c echo.Context) error {
	query := c.QueryParams()
	back := accounts.Back{
		State: query.Get("state"), Code: query.Get("code"), Error: query.Get("error"), FromBrowser: isBrowser(c.Request()),
	}
	if cookie, err := c.Cookie(cookieName); err == nil {
		back.Browser = cookie.Value
	}
	ctx := c.Request().Context()
	ask, account, err := s.Linked.Consents.Finish(ctx, back)
	if back.Browser != "" {
		c.SetCookie(s.consentCookie("", -1))
	}
	if err != nil {
		return s.showFailure(c, ask, err)
	}
	s.follow(ctx, account.ID, scheduler.Cause{Hint: hintLink, Trace: requestOf(ctx).id})
	return c.Redirect(http.StatusFound, withQuery(ask.ReturnTo, url.Values{"calendar": {"linked"}, "account_id": {account.ID}}))
}

// showEnd says how it ended, from the parameters that a web app would be given.
func (s *server) showEnd(c echo.Context) error {
	page := consentPage{Title: "Not linked", Sentence: "No account was linked. Begin again where you came from."}
	switch {
	case c.QueryParam("calendar") == "linked":
		page = consentPage{Title: "Linked", Sentence: "The Google account is linked. You can close this page."}
	case c.QueryParam("code") == accounts.CodeDeclined:
		page.Sentence = "You declined access. No account linked."
	}
	return s.showPage(c, http.StatusOK, page)
}

// waysOn are what a failure offers beside the way back: the consent once more,
// by a ticket of its own.
var waysOn = map[string][]wayOn{
	accounts.CodeScopesInsufficient: {{"Authorize again", nil}},
	accounts.CodeOtherIdentity: {
		{"Choose the right account", nil},
		{"Link this one as well", func(ask *accounts.Ask) { ask.AnyIdentity = true }},
	},
	accounts.CodeLinkedElsewhere: {{"Choose another account", func(ask *accounts.Ask) { ask.AccountID = "" }}},
	accounts.CodeExchangeFailed:  {{"Try again", nil}},
	accounts.CodeClientRefused:   {{"Try again", nil}},
}

type wayOn struct {
	text   string
	change func(ask *accounts.Ask)
}

// showFailure says why an account was not linked, and what to do: to a program
// that takes JSON as any error, to a person as a page with the ways on. Who
// declined is simply sent back.
func (s *server) showFailure(c echo.Context, ask accounts.Ask, err error) error {
	ctx := c.Request().Context()
	f := asFailure(err)
	code := fault.CodeOf(err)
	s.refused.WarnContext(ctx, "a Google account was not linked", "code", code, "trace", requestOf(ctx).id, "error", err)
	if wantsJSON(c.Request()) {
		return err
	}
	if code == "" {
		code = strings.ToLower(f.Problem.Code)
	}
	home := withQuery(cmp.Or(ask.ReturnTo, s.Linked.Consents.Home()), url.Values{"calendar": {"error"}, "code": {code}})
	if code == accounts.CodeDeclined {
		return c.Redirect(http.StatusFound, home)
	}
	page := consentPage{Title: "Not linked", Sentence: f.Problem.Message, Code: code, Request: requestOf(ctx).id}
	for _, way := range waysOn[code] {
		again := ask
		if way.change != nil {
			way.change(&again)
		}
		if ticket, _, err := s.Linked.Consents.Ticket(ctx, again); err == nil && ask.PersonID != "" {
			page.Links = append(page.Links, consentLink{way.text, s.Linked.startURL(ticket)})
		}
	}
	page.Links = append(page.Links, consentLink{"Back", home})
	requestOf(ctx).code = f.Problem.Code
	return s.showPage(c, f.status, page)
}

func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get(echo.HeaderAccept)
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// withQuery adds parameters to an address that was checked before.
func withQuery(address string, more url.Values) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query := u.Query()
	maps.Copy(query, more)
	u.RawQuery = query.Encode()
	return u.String()
}

// consentPage is what a person sees who is not sent on.
type consentPage struct {
	Title, Sentence string
	Links           []consentLink
	// Code and Request are for who is asked for help.
	Code, Request string
}

type consentLink struct{ Text, Address string }

func (s *server) showPage(c echo.Context, status int, page consentPage) error {
	var html bytes.Buffer
	if err := consentTemplate.Execute(&html, page); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, docsPolicy)
	return c.HTMLBlob(status, html.Bytes())
}
