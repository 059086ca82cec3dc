package tokentest

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Forged are tokens, by what is wrong with each, none of which is to let anybody
// in who takes tokens with the claims good at now. Whatever else they are, they
// are as good as their forger could make them.
func (i *Issuer) Forged(good Claims, now time.Time) map[string]string {
	i.t.Helper()
	own := jose.SigningKey{Algorithm: jose.RS256, Key: keyNumber(i.t, 1)}
	signed := i.Sign(good)
	part := strings.Split(signed, ".")
	forged := map[string]string{
		"unsigned":                     Unsigned(i.t, map[string]any{"alg": "none", "typ": "JWT"}, good),
		"unsigned, naming our key":     Unsigned(i.t, map[string]any{"alg": "none", "typ": "JWT", "kid": "first"}, good),
		"None in other letters":        Unsigned(i.t, map[string]any{"alg": "nOnE", "typ": "JWT", "kid": "first"}, good),
		"signed with the public key":   sign(i.t, jose.SigningKey{Algorithm: jose.HS256, Key: i.publicPEM()}, "first", false, good),
		"another key under our id":     sign(i.t, own, "first", false, good),
		"a key of an unknown id":       sign(i.t, own, "elsewhere", false, good),
		"our key under an unknown id":  sign(i.t, jose.SigningKey{Algorithm: jose.RS256, Key: keyNumber(i.t, 0)}, "elsewhere", false, good),
		"no id of a key":               sign(i.t, own, "", false, good),
		"its own key in its header":    sign(i.t, own, "first", true, good),
		"another algorithm of our key": sign(i.t, jose.SigningKey{Algorithm: jose.RS512, Key: keyNumber(i.t, 0)}, "first", false, good),
		"claims changed": part[0] + "." + encode(i.t,
			good.With(Claims{"sub": "root", "email": "root@party.example"})) + "." + part[2],
		"its signature cut off":     part[0] + "." + part[1] + ".",
		"another token's signature": part[0] + "." + part[1] + "." + strings.Split(i.Sign(good.With(Claims{"sub": "other"})), ".")[2],
		"a fourth part":             signed + "." + part[2],
		"as JSON":                   `{"payload":"` + part[1] + `","protected":"` + part[0] + `","signature":"` + part[2] + `"}`,
		"endless":                   part[0] + "." + strings.Repeat("A", 20_000) + "." + part[2],
		"no JWT":                    "hello",
	}
	for what, changed := range map[string]Claims{
		"expired":                   {"iat": now.Add(-2 * time.Hour).Unix(), "exp": now.Add(-time.Hour).Unix()},
		"issued later":              {"iat": now.Add(time.Hour).Unix(), "exp": now.Add(2 * time.Hour).Unix()},
		"not before later":          {"nbf": now.Add(time.Hour).Unix()},
		"without an end":            {"exp": nil},
		"without a beginning":       {"iat": nil},
		"another audience":          {"aud": "somebody-else"},
		"a second audience":         {"aud": []any{good["aud"], "somebody-else"}},
		"no audience":               {"aud": nil},
		"another issuer":            {"iss": "https://securetoken.google.com/somebody-else"},
		"no issuer":                 {"iss": nil},
		"no subject":                {"sub": nil},
		"an empty subject":          {"sub": ""},
		"a subject that is no text": {"sub": 7},
		"a custom token": {
			"aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit",
			"iss": "firebase-adminsdk@p.iam.gserviceaccount.com", "uid": good["sub"],
		},
		"a session cookie":            {"iss": fmt.Sprint("https://session.firebase.google.com/", good["aud"])},
		"an end that is no number":    {"exp": "tomorrow"},
		"an address of no-one's mail": {"email": 7},
	} {
		forged[what] = i.Sign(good.With(changed))
	}
	return forged
}

// publicPEM is the issuer's public key as everybody can have it.
func (i *Issuer) publicPEM() []byte {
	i.t.Helper()
	der, err := x509.MarshalPKIXPublicKey(keyNumber(i.t, 0).Public())
	if err != nil {
		i.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}
