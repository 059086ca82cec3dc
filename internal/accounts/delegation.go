package accounts

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"questscheduler/fault"
)

// Delegation is the key of a Google service account. With domain-wide delegation, which the
// administrator of a Workspace domain grants, it acts as people of that domain. It comes from
// configuration, is stored nowhere, and shows nothing of itself when printed or logged.
type Delegation struct {
	email    string // of the service account
	clientID string // what an administrator grants scopes to; "" if the key does not say
	tokenURL string // "" if the key does not say
	signer   jose.Signer
}

// assertionLife is how long a signed request for a token is valid; Google accepts an hour at
// most.
const assertionLife = 10 * time.Minute

// assertionMargin is how far Google's clock may be behind ours.
const assertionMargin = 10 * time.Second

// ParseDelegation reads the JSON key of a service account, as Google's console creates it.
// Invalid: the sentence says what is wrong, and holds nothing of the key.
func ParseDelegation(key []byte) (*Delegation, error) {
	var file struct {
		Type       string `json:"type"`
		Email      string `json:"client_email"`
		ClientID   string `json:"client_id"`
		PrivateKey string `json:"private_key"`
		KeyID      string `json:"private_key_id"`
		TokenURL   string `json:"token_uri"`
	}
	if json.Unmarshal(key, &file) != nil { // its error may quote the key
		return nil, errKey("it is not JSON; give the whole file that Google's console created")
	}
	switch {
	case file.Type != "service_account":
		return nil, errKey(`its "type" is not "service_account"; create a JSON key of a service account in Google's console`)
	case !strings.Contains(file.Email, "@"):
		return nil, errKey(`it has no "client_email"; give the whole file that Google's console created`)
	case file.TokenURL != "" && !safeTokenURL(file.TokenURL):
		return nil, errKey(`its "token_uri" is not an HTTPS address; give the file as Google's console created it`)
	}
	private, err := parsePrivateKey(file.PrivateKey)
	if err != nil {
		return nil, errKey(`its "private_key" cannot be read (` + err.Error() + `); create a new key in Google's console`)
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: private, KeyID: file.KeyID}},
		(&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return nil, errKey(`its "private_key" cannot sign; create a new key in Google's console`)
	}
	return &Delegation{email: file.Email, clientID: file.ClientID, tokenURL: file.TokenURL, signer: signer}, nil
}

// Email is the address of the service account; a Sheet that it reads is shared with it.
func (d *Delegation) Email() string { return d.email }

// ClientID is what the administrator of a domain grants scopes to; "" if the key does not
// say.
func (d *Delegation) ClientID() string { return d.clientID }

// String shows the address alone.
func (d *Delegation) String() string {
	if d == nil {
		return "no service account"
	}
	return "service account " + d.email
}

// GoString implements fmt.GoStringer.
func (d *Delegation) GoString() string { return d.String() }

// LogValue implements slog.LogValuer.
func (d *Delegation) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalText implements encoding.TextMarshaler.
func (d *Delegation) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// assertion signs a request for an access token (RFC 7523, 2.1). subject is the person to act
// as; "" is the service account itself.
func (d *Delegation) assertion(audience, subject, scope string, now time.Time) (string, error) {
	issued := now.Add(-assertionMargin)
	return jwt.Signed(d.signer).Claims(struct {
		Issuer   string           `json:"iss"`
		Subject  string           `json:"sub,omitempty"`
		Audience string           `json:"aud"` // one text, as Google has it
		Scope    string           `json:"scope"`
		IssuedAt *jwt.NumericDate `json:"iat"`
		Expiry   *jwt.NumericDate `json:"exp"`
	}{d.email, subject, audience, scope, jwt.NewNumericDate(issued), jwt.NewNumericDate(issued.Add(assertionLife))}).Serialize()
}

// parsePrivateKey reads a PEM block of an RSA key, in PKCS #8 as Google has it, or PKCS #1.
// Its errors hold nothing of the key.
func parsePrivateKey(text string) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("it is no PEM block")
	}
	if private, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return private, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is no PKCS #8 key")
	}
	private, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("it is no RSA key")
	}
	return private, nil
}

// safeTokenURL keeps signed requests from travelling in the clear, except to this machine.
func safeTokenURL(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return false
	}
	local := parsed.Hostname() == "localhost" || parsed.Hostname() == "127.0.0.1" || parsed.Hostname() == "::1"
	return parsed.Scheme == "https" || parsed.Scheme == "http" && local
}

func errKey(why string) error {
	return fault.New(fault.Invalid, "The key of the service account cannot be used: "+why+".")
}
