package google

import (
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"time"

	"questscheduler/sim/control"
)

// tokenLife is how long an access token from the token endpoint is good, by
// the simulator's clock.
const tokenLife = time.Hour

// authenticate finds who is calling and demands one of the scopes.
func (s *Server) authenticate(r *http.Request, scopes []string) (*User, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return nil, errLogin
	}
	scheme, token, _ := strings.Cut(header, " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.world.tokens[strings.TrimSpace(token)]
	if !strings.EqualFold(scheme, "Bearer") || t == nil || !t.liveAt(s.clock.Now()) {
		return nil, errCredentials
	}
	g := s.world.grants[t.Refresh]
	if g.Revoked {
		return nil, errCredentials
	}
	if !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(g.Scopes, scope) }) {
		return nil, errScopes
	}
	return s.world.users[g.User], nil
}

// token answers a refresh of an access token. Its answer carries no refresh
// token: the old one stays good.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if !readForm(w, r) {
		return
	}
	if !s.clientKnown(r) {
		writeOAuthError(w, http.StatusUnauthorized, "invalid_client", "The OAuth client was not found.")
		return
	}
	switch kind := r.PostForm.Get("grant_type"); {
	case kind == "":
		writeOAuthError(w, http.StatusBadRequest, "invalid_request", "Required parameter is missing: grant_type")
		return
	case kind != "refresh_token":
		writeOAuthError(w, http.StatusBadRequest, "unsupported_grant_type", "This simulator gives tokens for grant_type=refresh_token alone.")
		return
	}
	refresh := r.PostForm.Get("refresh_token")
	if refresh == "" {
		writeOAuthError(w, http.StatusBadRequest, "invalid_request", "Missing required parameter: refresh_token")
		return
	}
	access, g, err := s.refresh(refresh)
	switch {
	case err != nil:
		s.opt.Log.ErrorContext(r.Context(), "google simulator: token", "error", err)
		writeOAuthError(w, http.StatusInternalServerError, "internal_failure", "")
	case g == nil:
		writeOAuthError(w, http.StatusBadRequest, "invalid_grant", "Token has been expired or revoked.")
	default:
		writeJSON(w, http.StatusOK, object{
			{"access_token", access},
			{"expires_in", int(tokenLife / time.Second)},
			{"scope", strings.Join(g.Scopes, " ")},
			{"token_type", "Bearer"},
		})
	}
}

// refresh makes an access token; a nil grant says that the refresh token is
// dead or none.
func (s *Server) refresh(refresh string) (access string, g *grant, err error) {
	access = "ya29.sim-" + s.opt.NewID()
	err = s.change(func(c *change) error {
		if g = c.world.grants[refresh]; g == nil || g.Revoked {
			g = nil
			return nil
		}
		c.record.Tokens = append(c.record.Tokens, &accessToken{Token: access, Refresh: refresh, Expires: c.now.Add(tokenLife).UTC()})
		return nil
	})
	return access, g, err
}

// clientKnown checks the client's credentials where Options has some: in the
// form or by basic authentication.
func (s *Server) clientKnown(r *http.Request) bool {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	same := func(want, got string) bool {
		return want == "" || subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
	}
	return same(s.opt.ClientID, id) && same(s.opt.ClientSecret, secret)
}

// revoke ends the grant that a refresh or access token belongs to, and with it
// all of its tokens. Watch channels live on until they expire.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if !readForm(w, r) {
		return
	}
	given := r.Form.Get("token")
	found := false
	err := s.change(func(c *change) error {
		if t := c.world.tokens[given]; t != nil && t.liveAt(c.now) {
			given = t.Refresh
		}
		g := c.world.grants[given]
		found = g != nil && !g.Revoked
		if found {
			c.revokeGrant(g)
		}
		return nil
	})
	switch {
	case err != nil:
		s.opt.Log.ErrorContext(r.Context(), "google simulator: revoke", "error", err)
		writeOAuthError(w, http.StatusInternalServerError, "internal_failure", "")
	case !found:
		writeOAuthError(w, http.StatusBadRequest, "invalid_token", "Token expired or revoked")
	default:
		writeJSON(w, http.StatusOK, object{})
	}
}

func (c *change) revokeGrant(g *grant) {
	dead := *g
	dead.Revoked = true
	c.record.Grants = append(c.record.Grants, &dead)
}

// readForm reads the parameters of body and query, the body at most maxBody
// long.
func readForm(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		writeOAuthError(w, http.StatusBadRequest, "invalid_request", "The form cannot be read.")
		return false
	}
	return true
}

// writeOAuthError answers in the shape of RFC 6749, which oauth2 makes a
// RetrieveError of.
func writeOAuthError(w http.ResponseWriter, status int, code, description string) {
	o := object{{"error", code}}
	if description != "" {
		o = append(o, field{"error_description", description})
	}
	writeJSON(w, status, o)
}

// refuseOAuth is the answer of a planted fault outside the Calendar API.
func refuseOAuth(w http.ResponseWriter, _ *http.Request, f control.Fault) {
	reason := f.Reason
	if reason == "" {
		reason = map[int]string{http.StatusBadRequest: "invalid_grant", http.StatusUnauthorized: "invalid_client"}[f.Status]
	}
	if reason == "" {
		reason = "internal_failure"
	}
	writeOAuthError(w, f.Status, reason, "planted fault")
}
