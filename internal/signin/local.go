package signin

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/fault"
)

// localName is the issuer and the audience of this program's own tokens.
const localName = "questscheduler"

// Limits of tokens.
const (
	leeway   = 30 * time.Second // between the clocks of issuer and verifier
	maxToken = 8 << 10          // bytes
	maxUID   = 128              // bytes, as in Firebase
)

// Local issues tokens and verifies its own. It is safe for concurrent use.
type Local struct {
	signer jose.Signer
	public ed25519.PublicKey
	now    func() time.Time
}

// LocalOptions configure Local; all are needed.
type LocalOptions struct {
	Key Key
	Now func() time.Time
}

// localClaims are the claims of a token beside the registered ones.
type localClaims struct {
	Email         string `json:"email,omitempty"`
	EmailVerified bool   `json:"email_verified,omitempty"`
	Name          string `json:"name,omitempty"`
	Admin         bool   `json:"admin,omitempty"`
}

// NewLocal makes the embedded issuer. It fails on the zero Key.
func NewLocal(options LocalOptions) (*Local, error) {
	if options.Key.private == nil {
		return nil, errors.New("the embedded sign-in needs a key")
	}
	private := options.Key.private()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return nil, err
	}
	public, _ := private.Public().(ed25519.PublicKey) // an Ed25519 key has no other
	return &Local{signer: signer, public: public, now: options.Now}, nil
}

// Issue makes a token for a person, valid for ttl. Invalid: the uid could not
// stand in a document's path, or ttl is below a second.
func (l *Local) Issue(person Person, ttl time.Duration) (string, error) {
	if !usableUID(person.UID) {
		return "", errUID()
	}
	if ttl < time.Second {
		return "", fault.Field("ttl", "must be at least 1s")
	}
	now := l.now()
	return jwt.Signed(l.signer).
		Claims(jwt.Claims{
			Issuer: localName, Audience: jwt.Audience{localName}, Subject: person.UID,
			IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(ttl)),
		}).
		Claims(localClaims{Email: person.Email, EmailVerified: person.EmailVerified, Name: person.Name, Admin: person.Admin}).
		Serialize()
}

// Verify implements Verifier. Errors speak of single claims only for tokens that
// bear our signature.
func (l *Local) Verify(_ context.Context, bearer string) (Person, error) {
	if bearer == "" {
		return Person{}, refuse(CodeMissing, "Sign in: send an Authorization header with a bearer token.")
	}
	if len(bearer) > maxToken {
		return Person{}, refuse(CodeMalformed, "The bearer token is too long to be one of this server's.")
	}
	token, err := jwt.ParseSigned(bearer, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		if foreign := new(jose.ErrUnexpectedSignatureAlgorithm); errors.As(err, &foreign) {
			return Person{}, refuse(CodeAlgorithm, "The bearer token is not one of this server's own; get one with: questscheduler token --user UID")
		}
		return Person{}, refuse(CodeMalformed, "The bearer token is not a JWT; check that it was copied whole.")
	}
	registered, extra := jwt.Claims{}, localClaims{}
	if err := token.Claims(l.public, &registered, &extra); err != nil {
		if errors.Is(err, jose.ErrCryptoFailure) {
			return Person{}, refuse(
				CodeSignature,
				"The bearer token was signed with another key; get one from this server with: questscheduler token --user UID",
			)
		}
		return Person{}, refuse(CodeMalformed, "The bearer token's claims cannot be read; get a new one with: questscheduler token --user UID")
	}
	if err := l.check(registered); err != nil {
		return Person{}, err
	}
	return Person{
		UID: registered.Subject, Email: strings.ToLower(extra.Email), Name: extra.Name,
		EmailVerified: extra.EmailVerified && extra.Email != "", VouchedFor: true, Admin: extra.Admin,
	}, nil
}

func (l *Local) check(registered jwt.Claims) error {
	if registered.Expiry == nil {
		return refuse(CodeExpired, "The bearer token has no end; get one that has with: questscheduler token --user UID")
	}
	expected := jwt.Expected{Issuer: localName, AnyAudience: jwt.Audience{localName}, Time: l.now()}
	switch err := registered.ValidateWithLeeway(expected, leeway); {
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return refuse(CodeIssuer, "The bearer token is from another issuer; get one with: questscheduler token --user UID")
	case errors.Is(err, jwt.ErrInvalidAudience):
		return refuse(CodeAudience, "The bearer token is for another service; get one with: questscheduler token --user UID")
	case errors.Is(err, jwt.ErrExpired):
		return refuse(CodeExpired, "The bearer token has expired; get a new one with: questscheduler token --user UID")
	case err != nil: // nbf or iat
		return refuse(CodeEarly, "The bearer token is not valid yet; check the clocks of this server and of its issuer.")
	case !usableUID(registered.Subject):
		return refuse(CodeSubject, "The bearer token names no person; get one with: questscheduler token --user UID")
	}
	return nil
}

// usableUID reports whether a uid can stand in a document's path and in a log.
func usableUID(uid string) bool {
	odd := func(r rune) bool { return r == '/' || unicode.IsControl(r) }
	return uid != "" && uid != "." && uid != ".." && len(uid) <= maxUID &&
		utf8.ValidString(uid) && !strings.ContainsFunc(uid, odd) &&
		!(strings.HasPrefix(uid, "__") && strings.HasSuffix(uid, "__"))
}

func errUID() error {
	return fault.Field("user", "must be 1 to 128 bytes of text without slashes and control characters")
}
