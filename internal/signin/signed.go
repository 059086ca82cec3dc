package signin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/fault"
)

// CodeRefused is the code of every refused token of an outside issuer, whatever
// is wrong with it: a forger learns nothing.
const CodeRefused = "token_refused"

// errRefused is the one answer to such a token. The reason goes to the log alone
// and holds nothing of the token.
func errRefused(reason error) error {
	return &fault.Error{
		Kind: fault.Unauthenticated, Code: CodeRefused, Message: "The bearer token is not good, or not any more. Sign in again.", Err: reason,
	}
}

func errClaim(name string) error {
	return errRefused(fmt.Errorf("claim %s does not match", name))
}

// verifyRS256 reads the claims of a token that one of the keys signed by RS256.
// The algorithm and the keys that the token itself names do not count. Errors are
// those of Verifier.
func verifyRS256(ctx context.Context, keys KeySource, bearer string, claims ...any) error {
	if len(bearer) > maxToken {
		return errRefused(errors.New("token too long"))
	}
	token, err := jwt.ParseSigned(bearer, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return errRefused(errors.New("not a JWT signed by RS256"))
	}
	id := token.Headers[0].KeyID
	if id == "" {
		return errRefused(errors.New("token names no key"))
	}
	key, err := keys.Key(ctx, id)
	if errors.Is(err, ErrUnknownKey) {
		return errRefused(err)
	}
	if err != nil {
		return err
	}
	if err := token.Claims(key, claims...); err != nil {
		return errRefused(errors.New("wrong signature or unreadable claims"))
	}
	return nil
}

// checkTimes demands that a token was issued and has not expired, give or take
// leeway.
func checkTimes(registered jwt.Claims, now time.Time) error {
	if registered.Expiry == nil || registered.IssuedAt == nil {
		return errRefused(errors.New("token lacks exp or iat"))
	}
	if err := registered.ValidateWithLeeway(jwt.Expected{Time: now}, leeway); err != nil {
		return errRefused(err)
	}
	return nil
}

// isFor reports whether a token has this one audience.
func isFor(registered jwt.Claims, audience string) bool {
	return audience != "" && len(registered.Audience) == 1 && registered.Audience[0] == audience
}
