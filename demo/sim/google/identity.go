package google

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/demo/sim/control"
)

// Issuer is the iss of an id_token.
const Issuer = "https://accounts.google.com"

// identityKeyID names the key that signs id_tokens.
const identityKeyID = "sim-1"

// identityKey signs the id_tokens of every simulator of the process. It is
// made at the first, since that takes a while, and no history depends on it.
var identityKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// claims are those of an id_token beside the registered ones.
type claims struct {
	jwt.Claims
	Audience        string `json:"aud"` // one text, as Google has it
	AuthorizedParty string `json:"azp"`
	Email           string `json:"email,omitempty"`
	EmailVerified   bool   `json:"email_verified,omitempty"`
	Nonce           string `json:"nonce,omitempty"`
}

// identify makes an id_token; "" where openid was not granted. The e-mail is
// in it where that was.
func identify(user *User, code *authCode, scopes []string, now time.Time) (string, error) {
	if !slices.Contains(scopes, "openid") {
		return "", nil
	}
	key, err := identityKey()
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: identityKeyID}},
		(&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	said := claims{
		Claims: jwt.Claims{
			Issuer: Issuer, Subject: user.Sub,
			IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(tokenLife)),
		},
		Audience: code.Client, AuthorizedParty: code.Client, Nonce: code.Nonce,
	}
	if slices.Contains(scopes, ScopeEmail) {
		said.Email, said.EmailVerified = user.Email, true
	}
	return jwt.Signed(signer).Claims(said).Serialize()
}

// certs are the public keys that verify id_tokens.
func (s *Server) certs(w http.ResponseWriter, r *http.Request) {
	key, err := identityKey()
	if err != nil {
		s.refuseToken(w, r, err)
		return
	}
	control.Answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: key.Public(), KeyID: identityKeyID, Algorithm: string(jose.RS256), Use: "sig"},
	}})
}

// userInfo says who an access token belongs to.
func (s *Server) userInfo(w http.ResponseWriter, r *http.Request) {
	user, g, err := s.authenticate(r, []string{"openid"})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	body := object{{"sub", user.Sub}}
	if slices.Contains(g.Scopes, ScopeEmail) || slices.Contains(g.Scopes, "email") {
		body = append(body, field{"email", user.Email}, field{"email_verified", true})
	}
	writeJSON(w, http.StatusOK, body)
}
