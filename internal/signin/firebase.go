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

// Firebase verifies the ID tokens of a Firebase project, as the guide "Verify ID
// tokens using a third-party JWT library" has it. It is safe for concurrent use.
//
// The Admin SDK has a verifier too; its keys come from Google alone, so that no
// test could sign a token for it, and it follows a variable of the environment
// to an emulator, from where it takes unsigned ones.
type Firebase struct {
	project string
	keys    KeySource
	revoked Revocations
	now     func() time.Time
}

// Revocations knows whose sign-ins were ended (internal/signin/revocation).
type Revocations interface {
	// Revoked tells whether a sign-in of that time does not count any more: the
	// person was signed out everywhere since, was disabled, or is there no more.
	// An error is Unavailable.
	Revoked(ctx context.Context, uid string, signedIn time.Time) (bool, error)
}

// FirebaseOptions are what a Firebase is made of.
type FirebaseOptions struct {
	// Project is the id of the project.
	Project string
	// Keys are those of FirebaseKeysURL.
	Keys KeySource
	// Revoked, where set, is asked of each token that is good otherwise; nil: a
	// token is good for its hour.
	Revoked Revocations
	Now     func() time.Time
}

var _ Verifier = (*Firebase)(nil)

// NewFirebase makes a verifier. It fails where no project is named: every
// project's tokens are signed with the same keys.
func NewFirebase(options FirebaseOptions) (*Firebase, error) {
	if options.Project == "" || options.Keys == nil {
		return nil, errors.New("the sign-in by Firebase needs a project and its keys")
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Firebase{project: options.Project, keys: options.Keys, revoked: options.Revoked, now: options.Now}, nil
}

// firebaseClaims are what an ID token says of a person beside the registered
// claims.
type firebaseClaims struct {
	AuthTime      *jwt.NumericDate `json:"auth_time,omitempty"`
	Email         string           `json:"email,omitempty"`
	EmailVerified bool             `json:"email_verified,omitempty"`
	Name          string           `json:"name,omitempty"`
	Firebase      struct {
		Tenant string `json:"tenant,omitempty"`
		// Provider is how the person signed in, such as password or google.com.
		Provider string `json:"sign_in_provider,omitempty"`
	} `json:"firebase"`
}

// Verify implements Verifier. Every token that is not good gets the same answer;
// a token's claims make nobody an admin, since the app's custom claims are not
// ours.
func (f *Firebase) Verify(ctx context.Context, bearer string) (Person, error) {
	registered, extra := jwt.Claims{}, firebaseClaims{}
	if err := verifyRS256(ctx, f.keys, bearer, &registered, &extra); err != nil {
		return Person{}, err
	}
	if err := checkFirebase(f.project, registered, extra, f.now()); err != nil {
		return Person{}, err
	}
	if f.revoked != nil {
		revoked, err := f.revoked.Revoked(ctx, registered.Subject, extra.AuthTime.Time())
		if err != nil {
			return Person{}, err
		}
		if revoked {
			return Person{}, errRefused(errors.New("the sign-in was ended"))
		}
	}
	return firebasePerson(registered, extra), nil
}

// checkFirebase holds the claims to what Firebase writes for a project's people.
// Those of its tenants are not among them: their uids are of another kind.
func checkFirebase(project string, registered jwt.Claims, extra firebaseClaims, now time.Time) error {
	switch {
	case !isFor(registered, project):
		return errClaim("aud")
	case registered.Issuer != firebaseIssuer+project:
		return errClaim("iss")
	case !usableUID(registered.Subject):
		return errClaim("sub")
	case extra.Firebase.Tenant != "":
		return errClaim("firebase.tenant")
	case extra.AuthTime == nil || *extra.AuthTime <= 0 || extra.AuthTime.Time().After(now.Add(leeway)):
		return errClaim("auth_time")
	}
	return checkTimes(registered, now)
}

// vouchingProviders are the sign-ins that say who a person is without an address,
// as firestore.rules lists them.
var vouchingProviders = []string{"google.com", "custom"}

func firebasePerson(registered jwt.Claims, extra firebaseClaims) Person {
	return Person{
		UID: registered.Subject, Email: strings.ToLower(extra.Email), Name: extra.Name,
		EmailVerified: extra.EmailVerified && extra.Email != "",
		VouchedFor:    extra.EmailVerified || slices.Contains(vouchingProviders, extra.Firebase.Provider),
	}
}
