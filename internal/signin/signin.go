// Package signin authenticates callers: it turns a bearer token into a Person
// or a Machine.
//
// Local issues and verifies this program's own tokens, Firebase verifies ID
// tokens of a Firebase project, Unsigned takes those of its emulator, and
// Machines verifies Google's OIDC tokens of service accounts.
package signin

import (
	"context"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
)

// Person is an authenticated user.
type Person struct {
	// UID identifies the person; documents and their paths contain it.
	UID string
	// Email is in lower case, "" where it is not known.
	Email string
	Name  string
	// EmailVerified means that the address is proven to be the person's. Only
	// then may they accept an invitation that was sent to it.
	EmailVerified bool
	// VouchedFor means that the sign-in proves who the person is: by a verified
	// address, by Google or a custom token (vouchedFor in firestore.rules), or by
	// a token of this program. Firebase also lets people sign in anonymously or
	// under an address that is not theirs; they create neither polls nor groups.
	VouchedFor bool
	// SignedIn is when the person signed in, in UTC; zero with a token of this program, which
	// is no sign-in.
	SignedIn time.Time
	// Admin may read and repair what belongs to others.
	Admin bool
}

// VerifiedEmail is the address if it is proven to be the person's, or "".
func (p Person) VerifiedEmail() string {
	if !p.EmailVerified {
		return ""
	}
	return p.Email
}

// Verifier checks bearer tokens.
type Verifier interface {
	// Verify returns the person of a token (without the word Bearer). The error is
	// Unauthenticated with a code and a message that says what to do, or
	// Unavailable if the issuer's keys cannot be fetched. It never holds the token.
	Verify(ctx context.Context, bearer string) (Person, error)
}

// Codes of the Unauthenticated errors.
const (
	CodeMissing   = "token_missing"
	CodeMalformed = "token_malformed"
	CodeAlgorithm = "token_algorithm"
	CodeSignature = "token_signature"
	CodeIssuer    = "token_issuer"
	CodeAudience  = "token_audience"
	CodeExpired   = "token_too_old"
	CodeEarly     = "token_not_yet_valid"
	CodeSubject   = "token_subject"
)

func refuse(code, message string) error {
	return &fault.Error{Kind: fault.Unauthenticated, Code: code, Message: message}
}

// Bearer returns the token of an Authorization header.
func Bearer(header string) (string, error) {
	if strings.TrimSpace(header) == "" {
		return "", refuse(CodeMissing, "Sign in: send an Authorization header with a bearer token.")
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" || strings.ContainsAny(token, " \t") {
		return "", refuse(CodeMalformed, "The Authorization header has to be the word Bearer, a space and the token.")
	}
	return token, nil
}

// WithAdmins wraps a verifier: the people with these uids are admins, beside
// those whose tokens say so.
func WithAdmins(verifier Verifier, uids []string) Verifier {
	return admins{verifier, uids}
}

type admins struct {
	verifier Verifier
	uids     []string
}

func (a admins) Verify(ctx context.Context, bearer string) (Person, error) {
	person, err := a.verifier.Verify(ctx, bearer)
	if err == nil && slices.Contains(a.uids, person.UID) {
		person.Admin = true
	}
	return person, err
}
