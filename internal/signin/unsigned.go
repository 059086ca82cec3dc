package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
)

// EmulatorVariable points Google's own clients at the Firebase Auth emulator.
const EmulatorVariable = "FIREBASE_AUTH_EMULATOR_HOST"

// DemoPrefix begins the ids of projects that Firebase reserves for emulators.
// Unsigned tokens are accepted for such a project, or if all documents are on an
// emulator, so they never reach real data.
const DemoPrefix = "demo-"

// Unsigned accepts the unsigned tokens of the Firebase Auth emulator, with which
// anybody can speak for anybody: it is for development alone. It also issues such
// tokens. It is safe for concurrent use.
type Unsigned struct {
	project string
	now     func() time.Time
}

// NewUnsigned makes a verifier for a project. It fails unless the project begins
// with DemoPrefix or all documents are on an emulator (emulated), as when a web
// app is developed under its production id.
func NewUnsigned(project string, emulated bool, now func() time.Time) (*Unsigned, error) {
	if project == "" || !emulated && !strings.HasPrefix(project, DemoPrefix) {
		return nil, errors.New("unsigned tokens are accepted only for projects whose id begins with " + DemoPrefix +
			" or whose documents are on an emulator")
	}
	return &Unsigned{project: project, now: now}, nil
}

// Verify implements Verifier: a token has to be unsigned, and otherwise as
// Firebase would have made it.
func (u *Unsigned) Verify(_ context.Context, bearer string) (Person, error) {
	parts := strings.Split(bearer, ".")
	if len(bearer) > maxToken || len(parts) != 3 || parts[2] != "" {
		return Person{}, errRefused(errors.New("not an unsigned JWT"))
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	registered, extra := jwt.Claims{}, firebaseClaims{}
	if err := errors.Join(decodePart(parts[0], &header), decodePart(parts[1], &registered), decodePart(parts[1], &extra)); err != nil {
		return Person{}, errRefused(errors.New("unreadable header or claims"))
	}
	if header.Algorithm != "none" {
		return Person{}, errRefused(errors.New("token claims to be signed and is not"))
	}
	return firebasePerson(u.project, registered, extra, u.now())
}

func decodePart(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// Issue makes a token as the emulator would, valid for ttl. Invalid: the uid could
// not stand in a document's path.
func (u *Unsigned) Issue(person Person, ttl time.Duration) (string, error) {
	if !usableUID(person.UID) {
		return "", errUID()
	}
	now := u.now()
	claims, err := json.Marshal(map[string]any{
		"iss": firebaseIssuer + u.project, "aud": u.project, "sub": person.UID, "user_id": person.UID,
		"iat": now.Unix(), "auth_time": now.Unix(), "exp": now.Add(ttl).Unix(),
		"email": person.Email, "email_verified": person.EmailVerified, "name": person.Name,
		"firebase": map[string]any{"identities": map[string]any{}, "sign_in_provider": "custom"},
	})
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + encode(claims) + ".", err
}
