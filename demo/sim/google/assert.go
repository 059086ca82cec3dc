package google

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// bearerGrant is the grant type of RFC 7523, by which a service account asks for
// an access token.
const bearerGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer"

const (
	// assertionLife is how long an assertion may be good at most.
	assertionLife = time.Hour
	// assertionSkew is how far the clock of a client may be ahead or behind.
	assertionSkew = 5 * time.Minute
)

// The refusals of assertions, in Google's words.
var (
	errNoAssertion  = badToken("invalid_request", "Missing required parameter: assertion")
	errNoService    = badToken("invalid_grant", "Invalid grant: account not found")
	errBadAssertion = badToken("invalid_grant", "Invalid JWT Signature.")
	errBadAudience  = badToken("invalid_grant", "Invalid JWT: Failed audience check.")
	errBadTime      = badToken(
		"invalid_grant",
		"Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values "+
			"in the JWT claim.",
	)
	errNoScope      = badToken("invalid_scope", "Empty or missing scope not allowed.")
	errNoPerson     = badToken("invalid_grant", "Invalid email or User ID")
	errNotDelegated = &oauthError{http.StatusUnauthorized, "unauthorized_client",
		"Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested."}
)

// assertion are the claims of a request for an access token.
type assertion struct {
	Issuer   string           `json:"iss"`
	Subject  string           `json:"sub"`
	Audience string           `json:"aud"`
	Scope    string           `json:"scope"`
	IssuedAt *jwt.NumericDate `json:"iat"`
	Expiry   *jwt.NumericDate `json:"exp"`
}

// assert gives an access token for a request that a service account signed
// (RFC 7523, 2.1).
func (s *Server) assert(r *http.Request) (given *issued, err error) {
	text := r.PostForm.Get("assertion")
	if text == "" {
		return nil, errNoAssertion
	}
	err = s.change(func(c *change) error {
		account, claims, err := c.world.verify(text)
		if err != nil {
			return err
		}
		scopes := strings.Fields(claims.Scope)
		switch {
		case !claims.meant(r):
			return errBadAudience
		case !claims.timely(c.now):
			return errBadTime
		case len(scopes) == 0:
			return errNoScope
		}
		user, err := c.world.subject(account, claims.Subject, scopes)
		if err != nil {
			return err
		}
		g := c.assertedGrant(account, user, scopes)
		given = &issued{access: s.accessToken(c, g), grant: g}
		return nil
	})
	return given, err
}

// verify finds the service account that signed a request.
func (w *world) verify(text string) (*serviceAccount, assertion, error) {
	parsed, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return nil, assertion{}, badToken("invalid_grant", "Invalid JWT: the assertion cannot be read.")
	}
	var claims assertion
	if err := parsed.UnsafeClaimsWithoutVerification(&claims); err != nil {
		return nil, assertion{}, badToken("invalid_grant", "Invalid JWT: the claims cannot be read.")
	}
	account := w.services[fold(claims.Issuer)]
	if account == nil {
		return nil, assertion{}, errNoService
	}
	public, err := account.publicKey()
	if err != nil {
		return nil, assertion{}, err
	}
	if id := parsed.Headers[0].KeyID; id != "" && id != account.KeyID || parsed.Claims(public, &claims) != nil {
		return nil, assertion{}, errBadAssertion
	}
	return account, claims, nil
}

// publicKey verifies what the service account signs.
func (a *serviceAccount) publicKey() (any, error) {
	block, _ := pem.Decode([]byte(a.PrivateKey))
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	return private.(interface{ Public() crypto.PublicKey }).Public(), nil
}

// meant says whether a request is for this token endpoint, by Google's address
// or by the one it came to.
func (a assertion) meant(r *http.Request) bool {
	if a.Audience == googleTokenURL {
		return true
	}
	address, err := url.Parse(a.Audience)
	return err == nil && address.Host == r.Host && address.Path == r.URL.Path
}

// timely says whether a request is good now, and for an hour at most.
func (a assertion) timely(now time.Time) bool {
	if a.IssuedAt == nil || a.Expiry == nil {
		return false
	}
	issued, ends := a.IssuedAt.Time(), a.Expiry.Time()
	return !issued.After(now.Add(assertionSkew)) && ends.After(now.Add(-assertionSkew)) &&
		ends.After(issued) && ends.Sub(issued) <= assertionLife
}

// subject is the key of the user that a service account may act as; "" is
// itself.
func (w *world) subject(account *serviceAccount, email string, scopes []string) (string, error) {
	if email == "" || fold(email) == account.Email {
		return "", nil
	}
	if !account.mayActAs(email, scopes) {
		return "", errNotDelegated
	}
	key := w.byEmail[fold(email)]
	if key == "" {
		return "", errNoPerson
	}
	return key, nil
}

// assertedGrant is the grant that access tokens of a service account hang on.
// There is one for the same person and scopes, until it is revoked.
func (c *change) assertedGrant(account *serviceAccount, user string, scopes []string) *grant {
	slices.Sort(scopes)
	for n := 1; ; n++ {
		name := "service:" + digest(strings.Join([]string{account.Email, user, strings.Join(scopes, " ")}, "\n")) + "-" + strconv.Itoa(n)
		old := c.world.grants[name]
		if old == nil {
			g := &grant{Refresh: name, User: user, Scopes: scopes, Client: account.ClientID, Service: account.Email}
			c.addGrant(g)
			return g
		}
		if !old.Revoked {
			return old
		}
	}
}
