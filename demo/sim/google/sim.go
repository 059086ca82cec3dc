package google

import (
	"errors"
	"net/http"
	"strings"

	"questscheduler/demo/sim/control"
)

// errNoUser names the users that there are.
func errNoUser(w *world) error {
	return errors.New("no such user; there are: " + strings.Join(sortedKeys(w.users), ", "))
}

// Revoke kills every grant of a user: calls answer 401 authError, refreshing
// answers invalid_grant. What service accounts may do as the user is not the
// user's to take back, and stays.
func (s *Server) Revoke(userKey string) error { return s.revokeExcept(userKey, "") }

// revokeExcept kills every grant of a user but that of an access token: the token of
// a browser that shows what becomes of the others.
func (s *Server) revokeExcept(userKey, keep string) error {
	return s.change(func(c *change) error {
		if c.world.users[userKey] == nil {
			return errNoUser(c.world)
		}
		kept := ""
		if keep != "" {
			token := c.world.tokens[keep]
			if token == nil || c.world.grants[token.Refresh].User != userKey {
				return errors.New("keep: no access token of this user")
			}
			kept = token.Refresh
		}
		for _, refresh := range sortedKeys(c.world.grants) {
			if g := c.world.grants[refresh]; g.User == userKey && g.Service == "" && !g.Revoked && refresh != kept {
				c.revokeGrant(g)
			}
		}
		return nil
	})
}

// ExpireSyncTokens makes every sync token that was given so far answer 410
// fullSyncRequired.
func (s *Server) ExpireSyncTokens() error { return s.expireSyncTokens("") }

// RejectSyncTokens makes every sync token that was given so far answer 400, as
// one that Google never gave. A full listing gives one that is good again.
func (s *Server) RejectSyncTokens() error { return s.expireSyncTokens(errSyncToken.reason) }

// expireSyncTokens takes a reason of tokenEndings.
func (s *Server) expireSyncTokens(reason string) error {
	return s.change(func(c *change) error {
		epoch := c.world.epoch + 1
		c.record.Epoch, c.record.Reason = &epoch, reason
		return nil
	})
}

// simRevoke is POST /_sim/revoke {"user": "gm", "keep": "an access token"}.
func (s *Server) simRevoke(w http.ResponseWriter, r *http.Request) {
	var body struct {
		User string `json:"user"`
		Keep string `json:"keep"`
	}
	if !control.Decode(w, r, &body) {
		return
	}
	if err := s.revokeExcept(body.User, body.Keep); err != nil {
		control.Refuse(w, http.StatusNotFound, err)
		return
	}
	control.Answer(w, http.StatusOK, map[string]string{"revoked": body.User})
}

// simExpireSyncTokens is POST /_sim/expire-sync-tokens, with or without
// {"reason": "updatedMinTooLongAgo"}, or {"status": 400}.
func (s *Server) simExpireSyncTokens(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Status int    `json:"status"`
		Reason string `json:"reason"`
	}
	if r.ContentLength != 0 && !control.Decode(w, r, &body) {
		return
	}
	if body.Status == http.StatusBadRequest && body.Reason == "" {
		body.Reason = errSyncToken.reason
	}
	ending := tokenEndings[body.Reason]
	switch {
	case ending == nil:
		control.Refuse(w, http.StatusBadRequest,
			errors.New("reason: fullSyncRequired or updatedMinTooLongAgo, or with status 400 invalidParameter"))
		return
	case body.Status != 0 && body.Status != ending.status:
		control.Refuse(w, http.StatusBadRequest, errors.New("status: 410, or 400 without a reason"))
		return
	}
	if err := s.expireSyncTokens(body.Reason); err != nil {
		control.Refuse(w, http.StatusInternalServerError, err)
		return
	}
	control.Answer(w, http.StatusOK, map[string]bool{"expired": true})
}
