package google

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"questscheduler/demo/sim/control"
)

// decision is what a person says on the consent page.
type decision struct {
	user   string // its key
	deny   bool
	scopes []string
}

// consent takes the form of the consent page. The request stands in the
// address, as at the page itself; the form has user (key, e-mail or sub),
// decision (allow or deny), and granted once for each scope that is ticked.
// Without any granted everything asked for is.
func (s *Server) consent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	a, err := s.readAuthRequest(r.URL.Query())
	if err == nil && r.ParseForm() != nil {
		err = badRequest("The form cannot be read.")
	}
	if err != nil {
		s.showError(w, r, err)
		return
	}
	d, err := s.readDecision(a, r.PostForm)
	if err != nil {
		s.showError(w, r, err)
		return
	}
	s.finishConsent(w, r, a, d)
}

func (s *Server) readDecision(a *authRequest, form url.Values) (d decision, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range sortedKeys(s.world.users) {
		u := s.world.users[key]
		if name := form.Get("user"); name == key || fold(name) == fold(u.Email) || name == u.Sub {
			d.user = key
		}
	}
	switch form.Get("decision") {
	case "allow":
	case "deny":
		d.deny = true
	default:
		return d, badRequest("Say allow or deny.")
	}
	if d.user == "" && !d.deny { // Cancel needs no account
		return d, badRequest("Choose an account.")
	}
	d.scopes = a.scopes
	if form.Has("granted") {
		d.scopes = slices.DeleteFunc(slices.Clone(a.scopes), func(scope string) bool {
			return !slices.Contains(signInScopes, scope) && !slices.Contains(form["granted"], scope)
		})
	}
	return d, nil
}

// finishConsent sends the browser back with a code, or with access_denied
// where the person refused all of it.
func (s *Server) finishConsent(w http.ResponseWriter, r *http.Request, a *authRequest, d decision) {
	if d.deny || len(d.scopes) == 0 {
		a.sendBack(w, r, url.Values{"error": {"access_denied"}})
		return
	}
	var code *authCode
	err := s.change(func(c *change) error {
		code = s.newCode(c, a, d)
		c.record.Codes = append(c.record.Codes, code)
		return nil
	})
	if err != nil {
		s.showError(w, r, err)
		return
	}
	a.sendBack(w, r, url.Values{"code": {code.Code}, "scope": {strings.Join(code.Scopes, " ")}})
}

// newCode is the code of a consent. It will give a refresh token where the
// client asks for offline access, and for the page, or meets the person for the
// first time.
func (s *Server) newCode(c *change, a *authRequest, d decision) *authCode {
	scopes := slices.Clone(d.scopes)
	if a.addGranted {
		for _, scope := range c.world.consentedScopes(d.user, a.client, c.now, s.opt.Testing) {
			if !slices.Contains(scopes, scope) {
				scopes = append(scopes, scope)
			}
		}
	}
	asked := slices.Contains(a.prompt, "consent")
	return &authCode{
		Code: "4/0A-sim-" + s.opt.NewID(), Client: a.client, Redirect: a.redirect, Challenge: a.challenge, Nonce: a.nonce,
		User: d.user, Scopes: scopes, Expires: c.now.Add(codeLife).UTC(),
		Offline: a.offline && (asked || !c.world.hasConsented(d.user, a, c.now, s.opt.Testing)),
	}
}

// consentedScopes are all that a person has consented to for a client and not
// taken back. Grants by hand do not count.
func (w *world) consentedScopes(user, client string, now time.Time, testing bool) []string {
	var scopes []string
	for _, g := range w.grantsOf(user, client) {
		if g.consented() && g.liveAt(now, testing) {
			scopes = append(scopes, g.Scopes...)
		}
	}
	return scopes
}

// hasConsented says whether a person need not be asked again.
func (w *world) hasConsented(user string, a *authRequest, now time.Time, testing bool) bool {
	had := w.consentedScopes(user, a.client, now, testing)
	return len(had) > 0 && !slices.ContainsFunc(a.scopes, func(scope string) bool { return !slices.Contains(had, scope) })
}

// Consent is a decision for the consent page, made without a browser.
type Consent struct {
	User string // key, e-mail or sub
	// Deny refuses everything; Scopes, where not nil, are those that are
	// granted of those asked for, in Google's long spelling.
	Deny   bool
	Scopes []string
}

// Consent makes a person's decision about an authorisation request, whose
// whole address is given, by posting the form of the page. It gives the address
// that the browser is sent to, with code or error and state. An error means
// that the page showed one, or that ctx ended.
func (s *Server) Consent(ctx context.Context, authURL string, c Consent) (redirect string, err error) {
	form := url.Values{"user": {c.User}, "decision": {"allow"}}
	if c.Deny {
		form.Set("decision", "deny")
	}
	if c.Scopes != nil {
		form["granted"] = append([]string{""}, c.Scopes...)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, authURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := control.Transport(s.mux).RoundTrip(req)
	if err != nil {
		return "", fmt.Errorf("consent page: %w", err)
	}
	if err := resp.Body.Close(); err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusFound {
		return "", errors.New("consent page: " + resp.Status)
	}
	return resp.Header.Get("Location"), nil
}
