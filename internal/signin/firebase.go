package signin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
)

// firebaseIssuer and the project is the issuer of a project's ID tokens.
const firebaseIssuer = "https://securetoken.google.com/"

// Firebase verifies the ID tokens of a Firebase project by the rules of the guide
// "Verify ID tokens using a third-party JWT library". It is safe for concurrent
// use.
//
// The Admin SDK's verifier takes keys from Google alone, so no test could sign a
// token for it, and an environment variable has it accept unsigned tokens.
type Firebase struct{ options FirebaseOptions }

// Revocations knows which sign-ins were ended (internal/signin/revocation).
type Revocations interface {
	// Revoked reports whether a sign-in of that time was ended since: the person
	// was signed out everywhere, disabled or deleted. An error is Unavailable.
	Revoked(ctx context.Context, uid string, signedIn time.Time) (bool, error)
}

// FirebaseOptions configure Firebase; all but Revoked are needed.
type FirebaseOptions struct {
	// Project is the project's id.
	Project string
	// Keys are those of FirebaseKeysURL.
	Keys KeySource
	// Revoked, where set, is asked about each valid token. nil: a token is valid
	// for its hour.
	Revoked Revocations
	Now     func() time.Time
}

// NewFirebase makes a verifier. It fails without a project: all projects' tokens
// are signed with the same keys.
func NewFirebase(options FirebaseOptions) (*Firebase, error) {
	if options.Project == "" || options.Keys == nil {
		return nil, errors.New("the sign-in by Firebase needs a project and its keys")
	}
	return &Firebase{options}, nil
}

// firebaseClaims are the claims of an ID token beside the registered ones.
type firebaseClaims struct {
	AuthTime      *jwt.NumericDate `json:"auth_time,omitempty"`
	Email         string           `json:"email,omitempty"`
	EmailVerified bool             `json:"email_verified,omitempty"`
	Name          string           `json:"name,omitempty"`
	Firebase      struct {
		Tenant   string `json:"tenant,omitempty"`
		Provider string `json:"sign_in_provider,omitempty"` // such as password or google.com
	} `json:"firebase"`
}

// Verify implements Verifier. The answer to every refused token is the same. No
// claim makes an admin: custom claims belong to the app.
func (f *Firebase) Verify(ctx context.Context, bearer string) (Person, error) {
	registered, extra := jwt.Claims{}, firebaseClaims{}
	if err := verifyRS256(ctx, f.options.Keys, bearer, &registered, &extra); err != nil {
		return Person{}, err
	}
	person, err := firebasePerson(f.options.Project, registered, extra, f.options.Now())
	if err != nil || f.options.Revoked == nil {
		return person, err
	}
	switch revoked, err := f.options.Revoked.Revoked(ctx, person.UID, extra.AuthTime.Time()); {
	case err != nil:
		return Person{}, err
	case revoked:
		return Person{}, errRefused(errors.New("the sign-in was ended"))
	}
	return person, nil
}

// vouchingProviders are the sign-ins that prove who a person is without an
// address, as in firestore.rules.
var vouchingProviders = []string{"google.com", "custom"}

// firebasePerson checks the claims against what Firebase writes for a project's
// people. Those of its tenants are refused: their uids are of another kind.
func firebasePerson(project string, registered jwt.Claims, extra firebaseClaims, now time.Time) (Person, error) {
	switch {
	case !isFor(registered, project):
		return Person{}, errClaim("aud")
	case registered.Issuer != firebaseIssuer+project:
		return Person{}, errClaim("iss")
	case !usableUID(registered.Subject):
		return Person{}, errClaim("sub")
	case extra.Firebase.Tenant != "":
		return Person{}, errClaim("firebase.tenant")
	case extra.AuthTime == nil || *extra.AuthTime <= 0 || extra.AuthTime.Time().After(now.Add(leeway)):
		return Person{}, errClaim("auth_time")
	}
	if err := checkTimes(registered, now); err != nil {
		return Person{}, err
	}
	return Person{
		UID: registered.Subject, Email: strings.ToLower(extra.Email), Name: extra.Name, SignedIn: extra.AuthTime.Time().UTC(),
		EmailVerified: extra.EmailVerified && extra.Email != "",
		VouchedFor:    extra.EmailVerified || slices.Contains(vouchingProviders, extra.Firebase.Provider),
	}, nil
}
