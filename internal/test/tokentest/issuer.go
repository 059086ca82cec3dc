// Package tokentest signs tokens as Google does, and forges them as nobody
// should be able to, for tests of those who verify them.
package tokentest

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Claims are the claims of a token.
type Claims map[string]any

// With gives a copy in which some claims are others; nil takes one away.
func (c Claims) With(changed Claims) Claims {
	copied := Claims{}
	for _, claims := range []Claims{c, changed} {
		for name, value := range claims {
			copied[name] = value
			if value == nil {
				delete(copied, name)
			}
		}
	}
	return copied
}

// Issuer signs tokens, and publishes its keys over HTTP until the test ends.
type Issuer struct {
	t testing.TB
	// URL is the issuer's address: it answers /.well-known/openid-configuration
	// and, at /jwks, with the keys.
	URL string
	// Header is what the answer with the keys carries; a test may set it before
	// anybody asks.
	Header http.Header

	mu      sync.Mutex
	key     *rsa.PrivateKey
	id      string
	fetched int
	down    bool
}

// keys are made once: making one takes a while.
var keys = [2]func() (*rsa.PrivateKey, error){
	sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }),
	sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }),
}

func keyNumber(t testing.TB, n int) *rsa.PrivateKey {
	t.Helper()
	key, err := keys[n]()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// NewIssuer makes an issuer whose key has the id "first".
func NewIssuer(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t, Header: http.Header{}, key: keyNumber(t, 0), id: "first"}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.URL = server.URL
	return i
}

// ServeHTTP implements http.Handler.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if r.URL.Path == "/jwks" {
		i.fetched++
	}
	if i.down {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	var says any = map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/jwks"}
	if r.URL.Path == "/jwks" {
		maps.Copy(w.Header(), i.Header)
		says = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: i.key.Public(), KeyID: i.id, Algorithm: "RS256", Use: "sig"}}}
	}
	if err := json.NewEncoder(w).Encode(says); err != nil {
		i.t.Error(err)
	}
}

// Fetched counts how often the keys were asked for, answered or not.
func (i *Issuer) Fetched() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetched
}

// Rotate takes another key, of that id.
func (i *Issuer) Rotate(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key, i.id = keyNumber(i.t, 1), id
}

// SetDown has it answer nobody, or everybody again.
func (i *Issuer) SetDown(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// Sign makes a token of the claims.
func (i *Issuer) Sign(claims Claims) string {
	i.t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	return sign(i.t, jose.SigningKey{Algorithm: jose.RS256, Key: i.key}, i.id, false, claims)
}

// sign makes a token with any key; embed puts the public key into its header.
func sign(t testing.TB, key jose.SigningKey, id string, embed bool, claims Claims) string {
	t.Helper()
	options := (&jose.SignerOptions{EmbedJWK: embed}).WithType("JWT")
	if id != "" && !embed {
		options = options.WithHeader("kid", id)
	}
	signer, err := jose.NewSigner(key, options)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(map[string]any(claims)).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// Unsigned makes a token by a header and no signature.
func Unsigned(t testing.TB, header map[string]any, claims Claims) string {
	t.Helper()
	return encode(t, header) + "." + encode(t, claims) + "."
}

func encode(t testing.TB, part any) string {
	t.Helper()
	text, err := json.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// Person are the claims of an ID token that Firebase makes for somebody.
func Person(project, uid string, now time.Time) Claims {
	return Claims{
		"iss": "https://securetoken.google.com/" + project, "aud": project, "sub": uid, "user_id": uid,
		"iat": now.Unix(), "auth_time": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"email": uid + "@party.example", "email_verified": true, "name": uid,
		"firebase": map[string]any{"sign_in_provider": "google.com"},
	}
}

// Machine are the claims of an ID token that an issuer makes for a service
// account.
func Machine(issuer, account, audience string, now time.Time) Claims {
	return Claims{
		"iss": issuer, "aud": audience, "sub": "1042", "azp": "1042", "email": account, "email_verified": true,
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
}
