package google

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strings"

	"questscheduler/demo/sim/control"
)

// authenticate finds who is calling, by which grant, and demands one of the
// scopes; none are demanded where there are none.
func (s *Server) authenticate(r *http.Request, scopes []string) (*User, *grant, error) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return nil, nil, errLogin
	}
	scheme, token, _ := strings.Cut(header, " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.world.tokens[strings.TrimSpace(token)]
	if !strings.EqualFold(scheme, "Bearer") || t == nil || !t.liveAt(s.clock.Now()) {
		return nil, nil, errCredentials
	}
	g := s.world.grants[t.Refresh]
	if g.Revoked {
		return nil, nil, errCredentials
	}
	if len(scopes) > 0 && !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(g.Scopes, scope) }) {
		return nil, nil, errScopes
	}
	return s.world.caller(g), g, nil
}

// clientKnown reads the client's credentials, in the form or by basic
// authentication, and checks them where Options has some.
func (s *Server) clientKnown(r *http.Request) (id string, known bool) {
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	same := func(want, got string) bool {
		return want == "" || subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
	}
	return id, same(s.opt.ClientID, id) && same(s.opt.ClientSecret, secret)
}

// revoke ends the grant that a refresh or access token belongs to, with all of
// its tokens and all else that the person gave the client on the consent page.
// Watch channels live on until they expire.
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
			c.revokeAccess(g)
		}
		return nil
	})
	switch {
	case err != nil:
		s.refuseToken(w, r, err)
	case !found:
		writeOAuthError(w, http.StatusBadRequest, "invalid_token", "Token expired or revoked")
	default:
		writeJSON(w, http.StatusOK, object{})
	}
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

// refuseToken answers an error of the endpoints outside the Calendar API.
func (s *Server) refuseToken(w http.ResponseWriter, r *http.Request, err error) {
	var e *oauthError
	if !errors.As(err, &e) {
		s.opt.Log.ErrorContext(r.Context(), "google simulator", "path", r.URL.Path, "error", err)
		e = &oauthError{http.StatusInternalServerError, "internal_failure", ""}
	}
	writeOAuthError(w, e.status, e.code, e.description)
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
