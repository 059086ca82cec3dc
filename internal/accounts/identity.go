package accounts

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/fault"
)

// issuers are Google's names for itself in id_tokens.
var issuers = []string{"https://accounts.google.com", "accounts.google.com"}

// identify reads from the id_token who consented. The token comes from the token endpoint
// over TLS, so its signature need not be checked (OpenID Connect Core, 3.1.3.7, step 6);
// issuer, audience, lifetime and nonce are.
func (l *Linking) identify(identity string, begun state) (Identity, error) {
	parsed, err := jwt.ParseSigned(identity, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return Identity{}, fmt.Errorf("id_token: %w", err)
	}
	var said struct {
		jwt.Claims
		Email string `json:"email"`
		Nonce string `json:"nonce"`
	}
	if err := parsed.UnsafeClaimsWithoutVerification(&said); err != nil {
		return Identity{}, fmt.Errorf("id_token: %w", err)
	}
	expected := jwt.Expected{AnyAudience: jwt.Audience{l.oauth.ClientID}, Time: l.accounts.now()}
	if err := said.ValidateWithLeeway(expected, time.Minute); err != nil {
		return Identity{}, fmt.Errorf("id_token: %w", err)
	}
	switch {
	case !slices.Contains(issuers, said.Issuer):
		return Identity{}, fmt.Errorf("id_token: another issuer than Google")
	case said.Nonce != begun.ID:
		return Identity{}, fmt.Errorf("id_token: of another consent")
	case said.Subject == "":
		return Identity{}, fmt.Errorf("id_token: without a sub")
	}
	return Identity{Provider: Google, Sub: said.Subject, Email: strings.ToLower(said.Email)}, nil
}

// safeReturn resolves a return address: "" is home, and a path belongs to home. Addresses
// outside the allowed origins are refused, to prevent open redirects.
func (l *Linking) safeReturn(address string) (string, error) {
	if address == "" {
		return l.home, nil
	}
	home, err := url.Parse(l.home)
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "The address of the web app cannot be used; check QS_APP_URL.")
	}
	odd := func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }
	given, err := url.Parse(address)
	if err != nil || strings.ContainsFunc(address, odd) {
		return "", errUnsafeReturn()
	}
	// A path belongs to home; two leading slashes name a host.
	if path := strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//"); path && home.Host != "" {
		given = home.ResolveReference(given)
	}
	origin := given.Scheme + "://" + given.Host
	if given.Host == "" || given.User != nil || given.Opaque != "" || !slices.Contains(l.origins, strings.ToLower(origin)) {
		return "", errUnsafeReturn()
	}
	return given.String(), nil
}

func errUnsafeReturn() error {
	return &fault.Error{
		Kind: fault.Invalid, Code: CodeUnsafeReturn, Message: "return_to has to be an address of the web app.",
		Details: []fault.Detail{{Field: "return_to", Rule: "has to be an address of the web app"}},
	}
}
