package api

import (
	"bytes"
	"cmp"
	_ "embed" // for the page
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

//go:embed consent.html
var consentText string

var consentTemplate = template.Must(template.New("consent").Parse(consentText))

// triggerLink is the trigger of what follows from a link.
const triggerLink = "relink"

// consentRoutes lead a browser to Google's consent and back.
func (s *server) consentRoutes() {
	s.echo.GET(PathStart, s.startConsent, s.limitAddress)
	s.echo.GET(PathCallback, s.endConsent, s.limitAddress)
	s.echo.GET(PathLinked, s.showEnd, s.limitAddress)
}

// startConsent redirects a browser with a ticket, or a program with a person's token,
// to Google. A browser that another site may have sent here first sees whose account
// will be linked, and continues from there.
func (s *server) startConsent(c echo.Context) error {
	ask, program, err := s.askedBy(c)
	if err != nil {
		return s.showFailure(c, accounts.Ask{}, err)
	}
	secret := ""
	if !program {
		secret = s.browserSecret(c)
		ticket := c.QueryParam("ticket")
		if !fromUs(c.Request()) && !isConfirmed(c, secret, ticket) {
			name := cmp.Or(ask.PersonName, "the person "+ask.PersonID)
			return s.showPage(c, http.StatusOK, consentPage{
				Title: "Link a Google account", Sentence: "A Google account is about to be linked to " + name +
					" in Quest Scheduler. Go on only if that is you, and you asked for it.",
				Links: []consentLink{{"Go on to Google", confirmedURL(secret, ticket)}},
			})
		}
	}
	address, err := s.Accounts.Consents.Start(c.Request().Context(), ask, secret)
	if err != nil {
		return s.showFailure(c, ask, err)
	}
	return c.Redirect(http.StatusFound, address)
}

// askedBy reads what to link for whom. A program sends a person's valid token, and
// may send a ticket of that person too. Any other Authorization header is ignored if
// there is a ticket: a proxy may add one to what browsers send.
func (s *server) askedBy(c echo.Context) (ask accounts.Ask, program bool, err error) {
	query := c.QueryParams()
	known, err := s.personOf(c)
	if ticket := query.Get("ticket"); ticket != "" && (err == nil || fault.Is(err, fault.Unauthenticated)) {
		program = err == nil
		ask, err = s.Accounts.Consents.Asked(ticket)
		if program && err == nil && ask.PersonID != known.UID {
			return accounts.Ask{}, true, fault.New(fault.Forbidden, "Somebody else began to link this account. Begin anew with your own token.")
		}
		return ask, program, err
	}
	if err != nil {
		return accounts.Ask{}, true, err
	}
	return accounts.Ask{
		PersonID: known.UID, PersonName: known.VerifiedEmail(), AccountID: query.Get("account_id"), ReturnTo: query.Get("redirect_uri"),
	}, true, nil
}

// personOf authenticates a program.
func (s *server) personOf(c echo.Context) (signin.Person, error) {
	token, err := signin.Bearer(c.Request().Header.Get(echo.HeaderAuthorization))
	if err != nil {
		return signin.Person{}, fault.New(fault.Unauthenticated, "Sign in to Quest Scheduler first, and begin to link the account from there.")
	}
	return s.SignIn.Verify(c.Request().Context(), token)
}

// endConsent links the account that a browser brings back from Google, and redirects
// the browser to where its person wanted to go. A program that began with a person's
// token sends that token again. The browser keeps its secret for its other tabs;
// each state is valid once.
func (s *server) endConsent(c echo.Context) error {
	query := c.QueryParams()
	back := accounts.Back{
		State: query.Get("state"), Code: query.Get("code"), Error: query.Get("error"), Browser: s.keptSecret(c),
	}
	known, err := s.personOf(c)
	sent := c.Request().Header.Get(echo.HeaderAuthorization) != ""
	if err != nil && (!fault.Is(err, fault.Unauthenticated) || sent && back.Browser == "") {
		return s.showFailure(c, accounts.Ask{}, err)
	}
	back.PersonID = known.UID
	ctx := c.Request().Context()
	ask, account, err := s.Accounts.Consents.Finish(ctx, back)
	if err != nil {
		return s.showFailure(c, ask, err)
	}
	s.follow(ctx, account.ID, scheduler.Cause{Trigger: triggerLink, Trace: requestOf(ctx).id})
	return c.Redirect(http.StatusFound, withQuery(ask.ReturnTo, url.Values{"calendar": {"linked"}, "account_id": {account.ID}}))
}

// showEnd shows the outcome, from the parameters that a web app would receive.
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

// retries are the links that a failure offers beside the way back: the consent again,
// with a ticket of its own.
var retries = map[string][]retry{
	accounts.CodeScopesInsufficient: {{"Authorize again", nil}},
	accounts.CodeOtherIdentity: {
		{"Choose the right account", nil},
		{"Link this one as well", func(ask *accounts.Ask) { ask.AnyIdentity = true }},
	},
	accounts.CodeLinkedElsewhere: {{"Choose another account", func(ask *accounts.Ask) { ask.AccountID = "" }}},
	accounts.CodeExchangeFailed:  {{"Try again", nil}},
	accounts.CodeClientRefused:   {{"Try again", nil}},
}

type retry struct {
	text   string
	change func(ask *accounts.Ask)
}

// showFailure says why an account was not linked: to a program that accepts JSON as
// an error, to a person as a page with links to continue. Somebody who declined is
// redirected back.
func (s *server) showFailure(c echo.Context, ask accounts.Ask, err error) error {
	ctx := c.Request().Context()
	f := asFailure(err)
	code := fault.CodeOf(err)
	s.refused.WarnContext(ctx, "a Google account was not linked", "code", code, "trace", requestOf(ctx).id, "error", err)
	if wantsJSON(c.Request()) {
		return err
	}
	code = cmp.Or(code, strings.ToLower(f.Problem.Code))
	home := withQuery(cmp.Or(ask.ReturnTo, s.Accounts.Consents.Home()), url.Values{"calendar": {"error"}, "code": {code}})
	if code == accounts.CodeDeclined {
		return c.Redirect(http.StatusFound, home)
	}
	page := consentPage{Title: "Not linked", Sentence: f.Problem.Message, Code: code, Request: requestOf(ctx).id}
	for _, retry := range retries[code] {
		again := ask
		if retry.change != nil {
			retry.change(&again)
		}
		if address, _, err := s.Accounts.Start(ctx, again); err == nil && ask.PersonID != "" {
			page.Links = append(page.Links, consentLink{retry.text, address})
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

// consentPage is a page for a person. Code and Request are for support.
type consentPage struct {
	Title, Sentence string
	Links           []consentLink
	Code, Request   string
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
