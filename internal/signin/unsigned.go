package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/internal/fault"
)

// EmulatorVariable says to Google's own clients that the Firebase Auth emulator
// stands in for Firebase.
const EmulatorVariable = "FIREBASE_AUTH_EMULATOR_HOST"

// DemoPrefix begins the ids of projects that exist on emulators alone: Firebase
// keeps the prefix for them. Unsigned tokens are taken for such a project, and
// for another only where its documents are on an emulator: nothing of a project's
// own is ever reached by them.
const DemoPrefix = "demo-"

// Unsigned takes the tokens of the Firebase Auth emulator, which are signed by
// nobody, so that anybody can speak for anybody: for development alone. It also
// makes such tokens, where no emulator is at hand. It is safe for concurrent
// use.
type Unsigned struct {
	project string
	now     func() time.Time
}

var _ Verifier = (*Unsigned)(nil)

// NewUnsigned makes a verifier of the tokens of a project. One that does not begin
// with DemoPrefix is refused, unless all documents are on an emulator (emulated),
// as where a web app is developed under the id that it has in production.
func NewUnsigned(project string, emulated bool, now func() time.Time) (*Unsigned, error) {
	if project == "" || !emulated && !strings.HasPrefix(project, DemoPrefix) {
		return nil, errors.New("unsigned tokens are taken for projects alone that begin with " + DemoPrefix + " or have their documents on an emulator")
	}
	return &Unsigned{project: project, now: now}, nil
}

// unsignedHeader is the first part of every token of the emulator.
type unsignedHeader struct {
	Algorithm string `json:"alg"`
	Type      string `json:"typ"`
}

// Verify implements Verifier: a token has to be unsigned, and otherwise as
// Firebase would have made it.
func (u *Unsigned) Verify(_ context.Context, bearer string) (Person, error) {
	parts := strings.Split(bearer, ".")
	if len(bearer) > maxToken || len(parts) != 3 || parts[2] != "" {
		return Person{}, errRefused(errors.New("it is no unsigned JWT, as the emulator makes them"))
	}
	var header unsignedHeader
	registered, extra := jwt.Claims{}, firebaseClaims{}
	for _, read := range []struct {
		part string
		into any
	}{{parts[0], &header}, {parts[1], &registered}, {parts[1], &extra}} {
		text, err := base64.RawURLEncoding.DecodeString(read.part)
		if err == nil {
			err = json.Unmarshal(text, read.into)
		}
		if err != nil {
			return Person{}, errRefused(errors.New("its parts cannot be read"))
		}
	}
	if header.Algorithm != "none" {
		return Person{}, errRefused(errors.New("it says that it is signed, and is not"))
	}
	if err := checkFirebase(u.project, registered, extra, u.now()); err != nil {
		return Person{}, err
	}
	return firebasePerson(registered, extra), nil
}

// Issue makes a token as the emulator would, good for ttl from now. Invalid
// where the uid could not stand in a document's path.
func (u *Unsigned) Issue(person Person, ttl time.Duration) (string, error) {
	if !usableUID(person.UID) {
		return "", fault.Field("user", "must be 1 to 128 bytes of text without slashes and control characters")
	}
	now := u.now()
	header, err := json.Marshal(unsignedHeader{Algorithm: "none", Type: "JWT"})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{
		"iss": firebaseIssuer + u.project, "aud": u.project, "sub": person.UID, "user_id": person.UID,
		"iat": now.Unix(), "auth_time": now.Unix(), "exp": now.Add(ttl).Unix(),
		"email": person.Email, "email_verified": person.EmailVerified, "name": person.Name,
		"firebase": map[string]any{"identities": map[string]any{}, "sign_in_provider": "custom"},
	})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode(header) + "." + encode(claims) + ".", nil
}
