package google

import (
	"errors"
	"net/http"
	"strings"

	"questscheduler/sim/control"
)

// errNoUser names the users that there are.
func errNoUser(w *world) error {
	return errors.New("no such user; there are: " + strings.Join(sortedKeys(w.users), ", "))
}

// Revoke kills every grant of a user: calls answer 401 authError, refreshing
// answers invalid_grant.
func (s *Server) Revoke(userKey string) error {
	return s.change(func(c *change) error {
		if c.world.users[userKey] == nil {
			return errNoUser(c.world)
		}
		for _, refresh := range sortedKeys(c.world.grants) {
			if g := c.world.grants[refresh]; g.User == userKey && !g.Revoked {
				c.revokeGrant(g)
			}
		}
		return nil
	})
}

// ExpireSyncTokens makes every sync token that was given so far answer 410
// fullSyncRequired.
func (s *Server) ExpireSyncTokens() error {
	return s.change(func(c *change) error {
		epoch := c.world.epoch + 1
		c.record.Epoch = &epoch
		return nil
	})
}

// simRevoke is POST /_sim/revoke {"user": "gm"}.
func (s *Server) simRevoke(w http.ResponseWriter, r *http.Request) {
	var body struct {
		User string `json:"user"`
	}
	if !control.Decode(w, r, &body) {
		return
	}
	if err := s.Revoke(body.User); err != nil {
		control.Refuse(w, http.StatusNotFound, err)
		return
	}
	control.Answer(w, http.StatusOK, map[string]string{"revoked": body.User})
}

// simExpireSyncTokens is POST /_sim/expire-sync-tokens.
func (s *Server) simExpireSyncTokens(w http.ResponseWriter, _ *http.Request) {
	if err := s.ExpireSyncTokens(); err != nil {
		control.Refuse(w, http.StatusInternalServerError, err)
		return
	}
	control.Answer(w, http.StatusOK, map[string]bool{"expired": true})
}
