package google

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// authRequest is what a client asks a person for, through their browser.
type authRequest struct {
	client, redirect, state string
	challenge, nonce        string
	scopes                  []string // as asked, in Google's long spelling
	offline                 bool
	// account is `login_hint`: the account that the client expects, by e-mail or sub.
	account string
	// prompt holds none, consent and select_account, those that were given.
	prompt []string
	// addGranted: what was granted before stays part of the grant.
	addGranted bool
}

// pageError is a refusal that the person sees. The client receives nothing.
type pageError struct {
	status        int
	code, message string
}

// Error implements error.
func (e *pageError) Error() string { return e.code + ": " + e.message }

func badRequest(message string) *pageError {
	return &pageError{http.StatusBadRequest, "invalid_request", message}
}

// longScopes are the scopes that Google answers in another spelling than they
// were asked in.
var longScopes = map[string]string{"email": ScopeEmail, "profile": ScopeProfile}

// signInScopes come with every consent: a person cannot leave them out.
var signInScopes = []string{"openid", ScopeEmail, ScopeProfile}

// knownScopes are all that may be asked for.
var knownScopes = slices.Concat(signInScopes, []string{
	ScopeCalendar, ScopeCalendarReadonly, ScopeEvents, ScopeEventsReadonly, ScopeCalendarListReadonly,
	ScopeAppCreated, ScopeFreeBusy, ScopeSheets, ScopeSheetsReadonly,
})

// readAuthRequest reads and checks a request. Whatever is wrong is shown to
// the person and never sent back: the address might be anybody's.
func (s *Server) readAuthRequest(query url.Values) (*authRequest, error) {
	a := &authRequest{
		client: query.Get("client_id"), redirect: query.Get("redirect_uri"), state: query.Get("state"),
		challenge: query.Get("code_challenge"), nonce: query.Get("nonce"), account: query.Get("login_hint"),
		offline:    query.Get("access_type") == "offline",
		prompt:     strings.Fields(query.Get("prompt")),
		addGranted: query.Get("include_granted_scopes") == "true",
	}
	switch {
	case a.client == "" || s.opt.ClientID != "" && a.client != s.opt.ClientID:
		return nil, &pageError{http.StatusUnauthorized, "invalid_client", "The OAuth client was not found."}
	case !s.mayReturnTo(a.redirect):
		return nil, &pageError{http.StatusBadRequest, "redirect_uri_mismatch",
			"The redirect URI in the request does not match the ones authorized for the OAuth client."}
	case query.Get("response_type") == "":
		return nil, badRequest("Required parameter is missing: response_type")
	case query.Get("response_type") != "code":
		return nil, &pageError{http.StatusBadRequest, "unsupported_response_type", "This simulator gives codes alone."}
	case !slices.Contains([]string{"", "online", "offline"}, query.Get("access_type")):
		return nil, badRequest("Invalid parameter value for access_type.")
	case a.challenge != "" && query.Get("code_challenge_method") != "S256":
		return nil, badRequest("This simulator takes code_challenge_method=S256 alone.")
	case a.challenge == "" && query.Get("code_challenge_method") != "":
		return nil, badRequest("Required parameter is missing: code_challenge")
	case a.challenge != "" && len(a.challenge) != len(s256("")):
		return nil, badRequest("Invalid code challenge.")
	}
	return a, a.readScopes(query.Get("scope"))
}

func (a *authRequest) readScopes(text string) error {
	for name := range strings.FieldsSeq(text) {
		if long, ok := longScopes[name]; ok {
			name = long
		}
		if !slices.Contains(knownScopes, name) {
			return &pageError{http.StatusBadRequest, "invalid_scope", "Some requested scopes were invalid: " + name}
		}
		if !slices.Contains(a.scopes, name) {
			a.scopes = append(a.scopes, name)
		}
	}
	if len(a.scopes) == 0 {
		return badRequest("Missing required parameter: scope")
	}
	return nil
}

// mayReturnTo says whether a consent may go back to an address.
func (s *Server) mayReturnTo(redirect string) bool {
	if len(s.opt.RedirectURIs) > 0 {
		return slices.Contains(s.opt.RedirectURIs, redirect)
	}
	u, err := url.Parse(redirect)
	return err == nil && u.Host != "" && u.Fragment == "" && (u.Scheme == "https" || u.Scheme == "http" && isLoopback(u))
}

func isLoopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// sendBack sends the browser to the client with the outcome.
func (a *authRequest) sendBack(w http.ResponseWriter, r *http.Request, outcome url.Values) {
	http.Redirect(w, r, a.back(outcome), http.StatusFound) //nolint:gosec // mayReturnTo has checked the address
}

// back is where the browser goes with the outcome.
func (a *authRequest) back(outcome url.Values) string {
	if a.state != "" {
		outcome.Set("state", a.state)
	}
	u, err := url.Parse(a.redirect)
	if err != nil {
		return a.redirect // mayReturnTo has parsed it
	}
	query := u.Query()
	for name := range outcome {
		query.Set(name, outcome.Get(name))
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// authorize shows the consent page. A person whom `login_hint` names and who has
// consented to all scopes before is sent back at once, unless prompt demands the
// page.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	a, err := s.readAuthRequest(r.URL.Query())
	if err != nil {
		s.showError(w, r, err)
		return
	}
	user, users := s.askable(a)
	switch {
	case user != nil && len(a.prompt) == 0, user != nil && slices.Equal(a.prompt, []string{"none"}):
		s.finishConsent(w, r, a, decision{user: user.Key, scopes: a.scopes})
	case slices.Contains(a.prompt, "none"):
		a.sendBack(w, r, url.Values{"error": {"interaction_required"}})
	default:
		s.showConsent(w, r, a, users)
	}
}

// askable returns the people to choose from, and the person of `login_hint` if they
// have consented before.
func (s *Server) askable(a *authRequest) (known *User, all []*User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range sortedKeys(s.world.users) {
		u := s.world.users[key]
		all = append(all, u)
		if a.names(u) && s.world.hasConsented(u.Key, a, s.clock.Now(), s.opt.Testing) {
			known = u
		}
	}
	return known, all
}

func (a *authRequest) names(u *User) bool {
	return a.account != "" && (fold(a.account) == fold(u.Email) || a.account == u.Sub)
}
