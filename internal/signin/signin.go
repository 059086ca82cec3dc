// Package signin says who is calling: it turns a bearer token into a Person.
//
// Local is the embedded issuer and verifier: tokens that `questscheduler token`
// issues, signed with a key that was made at the first start. Other issuers
// stand behind the same Verifier.
package signin

import (
	"context"
	"slices"
	"strings"

	"questscheduler/internal/fault"
)

// Person is who is calling.
type Person struct {
	// UID identifies the person; it stands in documents and their paths.
	UID string
	// Email is in lower case, "" where it is not known.
	Email string
	Name  string
	// EmailVerified tells that the address is the person's for certain. Only
	// then may an invitation to it be taken as theirs.
	EmailVerified bool
	// VouchedFor tells that the sign-in says who the person is: by a verified
	// address, by Google or by a custom token, as vouchedFor in firestore.rules has
	// it, or by a token of this program's own. Firebase lets anybody sign in
	// anonymously or under an address of somebody else; such a person creates
	// neither polls nor groups.
	VouchedFor bool
	// Admin may read and mend what belongs to others.
	Admin bool
}

// Verifier checks bearer tokens.
type Verifier interface {
	// Verify gives the person that a token speaks for. bearer is the token
	// alone, as Bearer takes it out of a header. An error is Unauthenticated,
	// with a sentence that says what to do and a code below, or Unavailable
	// where the issuer's keys cannot be had; it never holds the token.
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

// Bearer takes the token out of an Authorization header.
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

// WithAdmins is a verifier that makes admins of the people named by their uid,
// beside those whose tokens say so.
func WithAdmins(verifier Verifier, uids []string) Verifier {
	return admins{verifier: verifier, uids: slices.Clone(uids)}
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
