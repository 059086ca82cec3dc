package signin_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/fault"
	"questscheduler/internal/signin"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newKey(t *testing.T) signin.Key {
	t.Helper()
	key, err := signin.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newLocal(t *testing.T, options signin.LocalOptions) *signin.Local {
	t.Helper()
	if options.Now == nil {
		options.Now = func() time.Time { return noon }
	}
	local, err := signin.NewLocal(options)
	if err != nil {
		t.Fatal(err)
	}
	return local
}

func issue(t *testing.T, local *signin.Local, person signin.Person, ttl time.Duration) string {
	t.Helper()
	token, err := local.Issue(person, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func wantRefused(t *testing.T, err error, code string) {
	t.Helper()
	if !fault.Is(err, fault.Unauthenticated) || fault.CodeOf(err) != code {
		t.Errorf("got %v (%s), want it refused with %s", err, fault.CodeOf(err), code)
	}
}

func TestLocal_IssuedToken_ReturnsItsPerson(t *testing.T) {
	t.Parallel()
	local := newLocal(t, signin.LocalOptions{Key: newKey(t)})
	for _, person := range []signin.Person{
		{UID: "gm"},
		{UID: "ana", Email: "ana@example.org", Name: "Ana", EmailVerified: true},
		{UID: "root", Admin: true},
		{UID: "Zoë 🎲", Email: "z@example.org"},
	} {
		got, err := local.Verify(t.Context(), issue(t, local, person, time.Hour))
		person.VouchedFor = true // by this program
		if err != nil || got != person {
			t.Errorf("got %+v, %v, want %+v", got, err, person)
		}
	}
}

func TestLocal_Email_IsInLowerCase(t *testing.T) {
	t.Parallel()
	local := newLocal(t, signin.LocalOptions{Key: newKey(t)})
	got, err := local.Verify(t.Context(), issue(t, local, signin.Person{UID: "u", Email: "Ana@Example.ORG"}, time.Hour))
	if err != nil || got.Email != "ana@example.org" {
		t.Errorf("got %q, %v", got.Email, err)
	}
}

func TestLocal_TokenAtItsLimits_HasTheLeeway(t *testing.T) {
	t.Parallel()
	c := &clock{at: noon}
	local := newLocal(t, signin.LocalOptions{Key: newKey(t), Now: c.now})
	token := issue(t, local, signin.Person{UID: "u"}, time.Hour)
	for _, step := range []struct {
		at   time.Duration
		code string
	}{
		{-31 * time.Second, signin.CodeEarly}, {-30 * time.Second, ""}, {0, ""},
		{time.Hour, ""}, {time.Hour + 30*time.Second, ""}, {time.Hour + 31*time.Second, signin.CodeExpired},
	} {
		c.at = noon.Add(step.at)
		_, err := local.Verify(t.Context(), token)
		if step.code == "" && err != nil {
			t.Errorf("after %v: %v", step.at, err)
		} else if step.code != "" {
			wantRefused(t, err, step.code)
		}
	}
}

func TestLocal_ForeignToken_IsRefusedWithItsOwnMessage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	key, err := signin.LoadOrCreateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	local := newLocal(t, signin.LocalOptions{Key: key})
	ours := func(issuer, audience string) string {
		return signWithFile(t, path, jwt.Claims{
			Issuer: issuer, Audience: jwt.Audience{audience}, Subject: "u", Expiry: jwt.NewNumericDate(noon.Add(time.Hour)),
		})
	}
	good := issue(t, local, signin.Person{UID: "u"}, time.Hour)
	part := strings.Split(good, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"questscheduler","aud":"questscheduler","sub":"root","exp":9999999999,"admin":true}`))
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))

	for name, tc := range map[string]struct{ token, code string }{
		"nothing":        {"", signin.CodeMissing},
		"no JWT":         {"hello", signin.CodeMalformed},
		"cut short":      {good[:len(good)/2], signin.CodeMalformed},
		"endless":        {strings.Repeat("a", 9000), signin.CodeMalformed},
		"claims changed": {part[0] + "." + forged + "." + part[2], signin.CodeSignature},
		"another installation's": {
			issue(t, newLocal(t, signin.LocalOptions{Key: newKey(t)}), signin.Person{UID: "u"}, time.Hour), signin.CodeSignature,
		},
		"another issuer under our key":  {ours("other", "questscheduler"), signin.CodeIssuer},
		"another audience":              {ours("questscheduler", "other"), signin.CodeAudience},
		"unsigned":                      {unsigned + "." + forged + ".", signin.CodeAlgorithm},
		"signed with the public key":    {hmacToken(t), signin.CodeAlgorithm},
		"an RS256 token, as Firebase's": {rsaToken(t), signin.CodeAlgorithm},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			person, err := local.Verify(t.Context(), tc.token)
			wantRefused(t, err, tc.code)
			if person != (signin.Person{}) {
				t.Errorf("a refused token gave %+v", person)
			}
			if err != nil && tc.token != "" && strings.Contains(err.Error(), tc.token) {
				t.Error("the error holds the token")
			}
		})
	}
}

func hmacToken(t *testing.T) string {
	t.Helper()
	return foreign(t, jose.SigningKey{Algorithm: jose.HS256, Key: make([]byte, 32)})
}

func rsaToken(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return foreign(t, jose.SigningKey{Algorithm: jose.RS256, Key: key})
}

func foreign(t *testing.T, key jose.SigningKey) string {
	t.Helper()
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: "questscheduler", Audience: jwt.Audience{"questscheduler"}, Subject: "root",
		Expiry: jwt.NewNumericDate(noon.Add(time.Hour)),
	}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestLocal_IncompleteTokenUnderOurKey_IsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	key, err := signin.LoadOrCreateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	local := newLocal(t, signin.LocalOptions{Key: key})
	signed := func(claims any) string { return signWithFile(t, path, claims) }
	base := func() jwt.Claims {
		return jwt.Claims{
			Issuer: "questscheduler", Audience: jwt.Audience{"questscheduler"}, Subject: "u",
			Expiry: jwt.NewNumericDate(noon.Add(time.Hour)),
		}
	}
	endless, nobody, path2, later := base(), base(), base(), base()
	endless.Expiry, nobody.Subject, path2.Subject = nil, "", "a/b"
	later.NotBefore = jwt.NewNumericDate(noon.Add(time.Hour))
	for name, tc := range map[string]struct{ token, code string }{
		"no end":                  {signed(endless), signin.CodeExpired},
		"no person":               {signed(nobody), signin.CodeSubject},
		"a person with a slash":   {signed(path2), signin.CodeSubject},
		"not before later":        {signed(later), signin.CodeEarly},
		"claims of another shape": {signed(map[string]any{"sub": 7}), signin.CodeMalformed},
	} {
		_, err := local.Verify(t.Context(), tc.token)
		t.Run(name, func(t *testing.T) { wantRefused(t, err, tc.code) })
	}
	if person, err := local.Verify(t.Context(), signed(base())); err != nil || person.UID != "u" {
		t.Errorf("a token that lacks nothing: %+v, %v", person, err)
	}
}

func TestIssue_UnusableUIDOrTTL_IsRefused(t *testing.T) {
	t.Parallel()
	local := newLocal(t, signin.LocalOptions{Key: newKey(t)})
	for name, tc := range map[string]struct {
		uid string
		ttl time.Duration
	}{
		"no uid": {"", time.Hour}, "a slash": {"a/b", time.Hour}, "a dot": {".", time.Hour},
		"a line end": {"a\nb", time.Hour}, "no UTF-8": {"\xff", time.Hour},
		"too long": {strings.Repeat("u", 129), time.Hour}, "reserved": {"__x__", time.Hour},
		"no time": {"u", 0}, "past": {"u", -time.Hour},
	} {
		if _, err := local.Issue(signin.Person{UID: tc.uid}, tc.ttl); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
}

func TestLoadOrCreateKey_TokensSurviveARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signin.key")
	first, err := signin.LoadOrCreateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	token := issue(t, newLocal(t, signin.LocalOptions{Key: first}), signin.Person{UID: "u"}, time.Hour)
	second, err := signin.LoadOrCreateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newLocal(t, signin.LocalOptions{Key: second}).Verify(t.Context(), token); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

func TestLoadOrCreateKey_FileWithoutAKey_IsRefused(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"text":             "hello",
		"another sort":     "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
		"a broken key":     "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"something behind": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\nmore",
	} {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := signin.LoadOrCreateKey(path); err == nil {
			t.Errorf("%s was accepted as a key", name)
		}
	}
}

func TestNewLocal_WithoutAKey_Fails(t *testing.T) {
	t.Parallel()
	if _, err := signin.NewLocal(signin.LocalOptions{}); err == nil {
		t.Error("an issuer without a key was made")
	}
}
