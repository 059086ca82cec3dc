package signin

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
)

// GoogleIssuers are Google's names in the ID tokens of service accounts.
var GoogleIssuers = []string{"https://accounts.google.com", "accounts.google.com"}

// Machine is an authenticated service account.
type Machine struct {
	// Email is the account's name.
	Email string
}

// Machines verifies the OIDC tokens that Cloud Tasks, Cloud Scheduler and
// Eventarc send. It is safe for concurrent use.
//
// Any Google user can have a token for any audience signed by the same keys, so
// the caller is identified by a verified e-mail address that is configured.
type Machines struct{ options MachineOptions }

// MachineOptions configure Machines; all are needed.
type MachineOptions struct {
	// Keys are those of GoogleKeysURL.
	Keys KeySource
	// Issuers are GoogleIssuers, except in tests and with emulators.
	Issuers []string
	// Audiences are those accepted; a token must have exactly one of them. Without
	// any, every token is refused.
	Audiences []string
	// Accounts are the e-mail addresses that may call. An empty list refuses all callers.
	Accounts []string
	Now      func() time.Time
}

// NewMachines makes a verifier.
func NewMachines(options MachineOptions) *Machines { return &Machines{options} }

// Verify returns the machine of a token. Errors are those of Verifier, and the
// same for every refused token.
func (m *Machines) Verify(ctx context.Context, bearer string) (Machine, error) {
	if len(m.options.Accounts) == 0 {
		return Machine{}, errRefused(errors.New("no machine may call"))
	}
	var registered jwt.Claims
	var account struct {
		Email         string `json:"email"`
		EmailVerified bool   `json:"email_verified"`
	}
	if err := verifyRS256(ctx, m.options.Keys, bearer, &registered, &account); err != nil {
		return Machine{}, err
	}
	switch {
	case !slices.ContainsFunc(m.options.Audiences, func(audience string) bool { return isFor(registered, audience) }):
		return Machine{}, errClaim("aud")
	case registered.Issuer == "" || !slices.Contains(m.options.Issuers, registered.Issuer):
		return Machine{}, errClaim("iss")
	case registered.Subject == "":
		return Machine{}, errClaim("sub")
	case account.Email == "" || !slices.Contains(m.options.Accounts, account.Email):
		return Machine{}, errClaim("email")
	case !account.EmailVerified:
		return Machine{}, errClaim("email_verified")
	}
	if err := checkTimes(registered, m.options.Now()); err != nil {
		return Machine{}, err
	}
	return Machine{Email: account.Email}, nil
}
