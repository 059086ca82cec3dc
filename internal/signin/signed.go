package signin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/internal/fault"
)

// CodeRefused is the code of every token of an issuer outside this program that
// is not good, whatever is wrong with it: who forges one learns nothing.
const CodeRefused = "token_refused"

// errRefused is the one answer to such a token. why goes to the log alone, and
// holds nothing of the token.
func errRefused(why error) error {
	return &fault.Error{
		Kind: fault.Unauthenticated, Code: CodeRefused, Message: "The bearer token is not good, or not any more. Sign in again.", Err: why,
	}
}

// verifyRS256 reads the claims of a token that one of the keys has signed by
// RS256, and by nothing else: neither what the token says of its algorithm nor a
// key that it brings along counts. An error is that of Verifier.
func verifyRS256(ctx context.Context, keys KeySource, bearer string, claims ...any) error {
	if len(bearer) > maxToken {
		return errRefused(errors.New("it is too long"))
	}
	token, err := jwt.ParseSigned(bearer, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return errRefused(errors.New("it is no JWT that is signed by RS256"))
	}
	id := token.Headers[0].KeyID
	if id == "" {
		return errRefused(errors.New("it names no key"))
	}
	key, err := keys.Key(ctx, id)
	if errors.Is(err, ErrUnknownKey) {
		return errRefused(err)
	}
	if err != nil {
		return err
	}
	if err := token.Claims(key, claims...); err != nil {
		return errRefused(errors.New("its signature is not that of its key, or its claims cannot be read"))
	}
	return nil
}

// checkTimes holds a token to one that has been issued and has not ended, give
// or take leeway.
func checkTimes(registered jwt.Claims, now time.Time) error {
	if registered.Expiry == nil || registered.IssuedAt == nil {
		return errRefused(errors.New("it does not say from when until when it is good"))
	}
	if err := registered.ValidateWithLeeway(jwt.Expected{Time: now}, leeway); err != nil {
		return errRefused(err)
	}
	return nil
}

// isFor tells whether a token is for an audience and for nobody else.
func isFor(registered jwt.Claims, audience string) bool {
	return audience != "" && len(registered.Audience) == 1 && registered.Audience[0] == audience
}

// errClaim refuses a token for one of its claims.
func errClaim(name string) error {
	return errRefused(fmt.Errorf("its claim %s is not what it has to be", name))
}
