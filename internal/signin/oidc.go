package signin

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
)

// GoogleIssuers are how Google names itself in the ID tokens of service
// accounts.
var GoogleIssuers = []string{"https://accounts.google.com", "accounts.google.com"}

// Machine is a service account that is calling.
type Machine struct {
	// Email is the account's name.
	Email string
}

// Machines verifies the OIDC tokens that Cloud Tasks, Cloud Scheduler and
// Eventarc send. It is safe for concurrent use.
//
// Anybody at Google can have a token for any audience signed by the same keys,
// so what says who is calling is the e-mail address, which has to be verified
// and one of those configured.
type Machines struct {
	keys      KeySource
	issuers   []string
	audiences []string
	accounts  []string
	now       func() time.Time
}

// MachineOptions are what a Machines is made of.
type MachineOptions struct {
	// Keys are those of GoogleKeysURL.
	Keys KeySource
	// Issuers are GoogleIssuers, but in tests.
	Issuers []string
	// Audiences are whom tokens may be for; a token has one, and it has to be
	// among these. None: every token is refused.
	Audiences []string
	// Accounts are the e-mail addresses of those who may call. None: nobody.
	Accounts []string
	Now      func() time.Time
}

// NewMachines makes a verifier.
func NewMachines(options MachineOptions) *Machines {
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Machines{
		keys: options.Keys, issuers: slices.Clone(options.Issuers), audiences: slices.Clone(options.Audiences),
		accounts: slices.Clone(options.Accounts), now: options.Now,
	}
}

// machineClaims are what a token says of a service account beside the registered
// claims.
type machineClaims struct {
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
}

// Verify gives the machine that a token speaks for. Errors are as those of
// Verifier: every token that is not good gets the same answer.
func (m *Machines) Verify(ctx context.Context, bearer string) (Machine, error) {
	if len(m.accounts) == 0 {
		return Machine{}, errRefused(errors.New("no machine may call"))
	}
	registered, extra := jwt.Claims{}, machineClaims{}
	if err := verifyRS256(ctx, m.keys, bearer, &registered, &extra); err != nil {
		return Machine{}, err
	}
	switch {
	case !slices.ContainsFunc(m.audiences, func(audience string) bool { return isFor(registered, audience) }):
		return Machine{}, errClaim("aud")
	case registered.Issuer == "" || !slices.Contains(m.issuers, registered.Issuer):
		return Machine{}, errClaim("iss")
	case registered.Subject == "":
		return Machine{}, errClaim("sub")
	case extra.Email == "" || !slices.Contains(m.accounts, extra.Email):
		return Machine{}, errClaim("email")
	case !extra.EmailVerified:
		return Machine{}, errClaim("email_verified")
	}
	if err := checkTimes(registered, m.now()); err != nil {
		return Machine{}, err
	}
	return Machine{Email: extra.Email}, nil
}
