package google

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Grant is what a person's consent gives: a refresh token for a client, and an
// access token that lives until the grant is revoked, for demos and curl.
type Grant struct {
	RefreshToken string
	AccessToken  string
	Scopes       []string
}

// grant is a Grant as it is kept. Grants are never removed.
type grant struct {
	Refresh string `json:"refresh"`
	// Access is the token without an end; "" where the consent page gave the
	// grant.
	Access  string   `json:"access,omitempty"`
	User    string   `json:"user"`
	Scopes  []string `json:"scopes"`
	Revoked bool     `json:"revoked,omitempty"`
	// Client is the OAuth client; "" where none is demanded.
	Client string `json:"client,omitempty"`
	// Number is the grant's place among all, as they were given.
	Number int `json:"number,omitempty"`
	// Offline: the client was given the refresh token.
	Offline bool `json:"offline,omitempty"`
	// Service is the service account that acts by this grant, as User or, where
	// that is "", as itself; Client is its client id.
	Service string    `json:"service,omitempty"`
	Issued  time.Time `json:"issued,omitzero"`
	Used    time.Time `json:"used,omitzero"` // last at the token endpoint
}

func (g *grant) public() Grant {
	return Grant{RefreshToken: g.Refresh, AccessToken: g.Access, Scopes: slices.Clone(g.Scopes)}
}

// consented says whether the consent page gave the grant.
func (g *grant) consented() bool { return g.Access == "" }

const (
	// idleLife is how long a refresh token lives that nobody uses.
	idleLife = 182 * 24 * time.Hour
	// testingLife is how long one lives of a client that is in testing.
	testingLife = 7 * 24 * time.Hour
	// maxGrants is how many refresh tokens an account and client may have; one
	// more ends the oldest, silently.
	maxGrants = 100
)

// liveAt says whether the refresh token is good.
func (g *grant) liveAt(now time.Time, testing bool) bool {
	switch {
	case g.Revoked, testing && !now.Before(g.Issued.Add(testingLife)):
		return false
	default:
		return g.Used.IsZero() || now.Before(g.Used.Add(idleLife))
	}
}

// NewGrant is a person's consent, once more and by hand: after a revocation,
// or with other scopes. No scopes are all of them. Earlier grants stay as they
// are.
func (s *Server) NewGrant(userKey string, scopes ...string) (g Grant, err error) {
	err = s.change(func(c *change) error {
		if c.world.users[userKey] == nil {
			return errNoUser(c.world)
		}
		if len(scopes) == 0 {
			scopes = allScopes
		}
		g = s.grantByHand(c, userKey, scopes)
		return nil
	})
	return g, err
}

func (s *Server) grantByHand(c *change, userKey string, scopes []string) Grant {
	g := &grant{Refresh: s.newRefreshToken(), Access: s.newAccessToken(), User: userKey, Scopes: slices.Clone(scopes),
		Client: s.opt.ClientID, Offline: true}
	c.addGrant(g)
	c.record.Tokens = append(c.record.Tokens, &accessToken{Token: g.Access, Refresh: g.Refresh})
	return g.public()
}

func (s *Server) newRefreshToken() string { return "1//sim-" + s.opt.NewID() }
func (s *Server) newAccessToken() string  { return "ya29.sim-" + s.opt.NewID() }

// addGrant gives a grant its number and ends the oldest where there are too
// many.
func (c *change) addGrant(g *grant) {
	g.Number, g.Issued, g.Used = len(c.world.grants)+len(c.record.Grants)+1, c.now.UTC(), c.now.UTC()
	same := c.world.grantsOf(g.User, g.Client)
	same = slices.DeleteFunc(same, func(old *grant) bool { return !old.Offline || old.Revoked })
	if g.Offline && len(same) >= maxGrants {
		c.revokeGrant(same[0])
	}
	c.record.Grants = append(c.record.Grants, g)
}

// grantsOf are a person's grants to a client, oldest first.
func (w *world) grantsOf(user, client string) []*grant {
	list := slices.SortedFunc(maps.Values(w.grants), func(a, b *grant) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Refresh, b.Refresh))
	})
	return slices.DeleteFunc(list, func(g *grant) bool { return g.User != user || g.Client != client })
}

func (c *change) revokeGrant(g *grant) {
	dead := *g
	dead.Revoked = true
	c.record.Grants = append(c.record.Grants, &dead)
}

// revokeAccess ends a grant and all that the person consented to for the same
// client: revoking one token takes the client's whole access away. Grants by
// hand end alone, so that a demo's own tokens outlive an unlinked account.
func (c *change) revokeAccess(g *grant) {
	c.revokeGrant(g)
	for _, other := range c.world.grantsOf(g.User, g.Client) {
		if other != g && other.consented() && !other.Revoked {
			c.revokeGrant(other)
		}
	}
}

// accessToken is good for calls until it expires or its grant is revoked.
type accessToken struct {
	Token   string    `json:"token"`
	Refresh string    `json:"refresh"` // of its grant
	Expires time.Time `json:"expires,omitzero"`
}

func (t *accessToken) liveAt(now time.Time) bool {
	return t.Expires.IsZero() || now.Before(t.Expires)
}
