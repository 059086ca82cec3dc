package google

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"time"
)

// codeLife is how long a code of the consent page can be exchanged.
const codeLife = 10 * time.Minute

// authCode is what a consent gives back through the browser.
type authCode struct {
	Code      string    `json:"code"`
	Client    string    `json:"client"`
	Redirect  string    `json:"redirect"`
	Challenge string    `json:"challenge,omitempty"`
	Nonce     string    `json:"nonce,omitempty"`
	User      string    `json:"user"`
	Scopes    []string  `json:"scopes"`
	Offline   bool      `json:"offline,omitempty"`
	Expires   time.Time `json:"expires"`
	Used      bool      `json:"used,omitempty"`
}

func (c *authCode) liveAt(now time.Time) bool { return !c.Used && now.Before(c.Expires) }

// check holds an exchange against the request that the code was given to.
func (c *authCode) check(form url.Values) error {
	verifier := form.Get("code_verifier")
	switch {
	case form.Get("redirect_uri") != c.Redirect:
		return badToken("redirect_uri_mismatch", "Bad Request")
	case c.Challenge != "" && verifier == "":
		return badToken("invalid_grant", "Missing code verifier.")
	case c.Challenge == "" && verifier != "":
		return badToken("invalid_grant", "code_verifier or verifier is not needed.")
	case c.Challenge != "" && subtle.ConstantTimeCompare([]byte(s256(verifier)), []byte(c.Challenge)) != 1:
		return badToken("invalid_grant", "Invalid code verifier.")
	}
	return nil
}

// s256 is the challenge of a verifier (RFC 7636).
func s256(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
