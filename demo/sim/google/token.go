package google

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// tokenLife is how long an access token from the token endpoint is good, by
// the simulator's clock.
const tokenLife = time.Hour

// oauthError is a refusal of the token endpoint, in the words of RFC 6749.
type oauthError struct {
	status            int
	code, description string
}

// Error implements error.
func (e *oauthError) Error() string { return e.code + ": " + e.description }

func badToken(code, description string) *oauthError {
	return &oauthError{http.StatusBadRequest, code, description}
}

// issued is what the token endpoint gives.
type issued struct {
	access string
	grant  *grant
	// of the exchange of a code alone; "" where there is none
	refresh, identity string
}

// token exchanges a code of the consent page, refreshes an access token, or gives
// a service account one.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if !readForm(w, r) {
		return
	}
	if r.PostForm.Get("grant_type") == bearerGrant { // the signature says who asks
		given, err := s.assert(r)
		s.answerToken(w, r, given, err)
		return
	}
	client, known := s.clientKnown(r)
	if !known {
		writeOAuthError(w, http.StatusUnauthorized, "invalid_client", "The OAuth client was not found.")
		return
	}
	var given *issued
	var err error
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		given, err = s.exchange(client, r.PostForm)
	case "refresh_token":
		given, err = s.refresh(client, r.PostForm.Get("refresh_token"))
	case "":
		err = badToken("invalid_request", "Required parameter is missing: grant_type")
	default:
		err = badToken("unsupported_grant_type", "Invalid grant_type: "+r.PostForm.Get("grant_type"))
	}
	s.answerToken(w, r, given, err)
}

func (s *Server) answerToken(w http.ResponseWriter, r *http.Request, given *issued, err error) {
	if err != nil {
		s.refuseToken(w, r, err)
		return
	}
	body := object{
		{"access_token", given.access},
		{"expires_in", int(tokenLife / time.Second)},
		{"scope", strings.Join(given.grant.Scopes, " ")},
		{"token_type", "Bearer"},
	}
	if given.refresh != "" {
		body = append(body, field{"refresh_token", given.refresh})
		if s.opt.Testing {
			body = append(body, field{"refresh_token_expires_in", int(testingLife / time.Second)})
		}
	}
	if given.identity != "" {
		body = append(body, field{"id_token", given.identity})
	}
	writeJSON(w, http.StatusOK, body)
}

// refresh makes an access token. Its answer carries no refresh token: the old
// one stays good.
func (s *Server) refresh(client, refresh string) (given *issued, err error) {
	if refresh == "" {
		return nil, badToken("invalid_request", "Missing required parameter: refresh_token")
	}
	err = s.change(func(c *change) error {
		g := c.world.grants[refresh]
		switch {
		case g == nil || g.consented() && !g.Offline || !g.liveAt(c.now, s.opt.Testing):
			return badToken("invalid_grant", "Token has been expired or revoked.")
		case g.Client != client && g.Client != "":
			return &oauthError{http.StatusUnauthorized, "unauthorized_client", "Unauthorized"}
		}
		used := *g
		used.Used = c.now.UTC()
		c.record.Grants = append(c.record.Grants, &used)
		given = &issued{access: s.accessToken(c, &used), grant: &used}
		return nil
	})
	return given, err
}

// accessToken adds one to a grant.
func (s *Server) accessToken(c *change, g *grant) string {
	t := &accessToken{Token: s.newAccessToken(), Refresh: g.Refresh, Expires: c.now.Add(tokenLife).UTC()}
	c.record.Tokens = append(c.record.Tokens, t)
	return t.Token
}

// exchange makes a grant of a code. A code is good once, for the client and
// address it was given to, and with the verifier of its challenge.
func (s *Server) exchange(client string, form url.Values) (given *issued, err error) {
	text := form.Get("code")
	if text == "" {
		return nil, badToken("invalid_request", "Missing required parameter: code")
	}
	err = s.change(func(c *change) error {
		code := c.world.codes[text]
		if code == nil || !code.liveAt(c.now) || code.Client != client {
			return badToken("invalid_grant", "Malformed auth code.")
		}
		if err := code.check(form); err != nil {
			return err
		}
		spent := *code
		spent.Used = true
		c.record.Codes = append(c.record.Codes, &spent)
		g := &grant{Refresh: s.newRefreshToken(), User: code.User, Scopes: code.Scopes, Client: client, Offline: code.Offline}
		c.addGrant(g)
		given = &issued{access: s.accessToken(c, g), grant: g}
		if g.Offline {
			given.refresh = g.Refresh
		}
		given.identity, err = identify(c.world.users[g.User], code, g.Scopes, c.now)
		return err
	})
	return given, err
}
