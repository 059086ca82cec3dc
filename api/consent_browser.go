package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/accounts"
)

// consentCookieName names the cookie of the secret that binds a consent to a
// browser. By HTTPS browsers take "__Host-" cookies from this host alone (RFC
// 6265bis), so that no sibling host can plant one.
func (s *server) consentCookieName() string {
	if s.HTTPS {
		return "__Host-questscheduler_consent"
	}
	return "questscheduler_consent"
}

// browserSecret returns the browser's secret, or gives it one for as long as a
// consent may take. An existing one is kept for its other tabs. Lax cookies come
// along with Google's redirect, and all paths get it, since the redirect may lead to
// the web app's old address (package callables).
func (s *server) browserSecret(c echo.Context) string {
	secret := s.keptSecret(c)
	if secret == "" {
		secret = rand.Text()
	}
	c.SetCookie(&http.Cookie{ //nolint:gosec // secure if we are reached by HTTPS
		Name: s.consentCookieName(), Value: secret, Path: "/", MaxAge: int(accounts.StateLife.Seconds()),
		HttpOnly: true, Secure: s.HTTPS, SameSite: http.SameSiteLaxMode,
	})
	return secret
}

// keptSecret is the secret that a browser sends, or "".
func (s *server) keptSecret(c echo.Context) string {
	cookie, err := c.Cookie(s.consentCookieName())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// fromUs reports whether a browser says that a page of our site led here. Older
// browsers never do, and none does without HTTPS.
func fromUs(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "same-origin" || site == "same-site"
}

// isConfirmed reports whether a browser comes by confirmedURL, which nobody can make
// without its secret.
func isConfirmed(c echo.Context, secret, ticket string) bool {
	return hmac.Equal([]byte(c.QueryParam("confirmed")), []byte(confirmation(secret, ticket)))
}

// confirmedURL leads on from the page of PathStart, whose own path a proxy may have changed.
func confirmedURL(secret, ticket string) string {
	return "?ticket=" + url.QueryEscape(ticket) + "&confirmed=" + confirmation(secret, ticket)
}

func confirmation(secret, ticket string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(ticket))
	return hex.EncodeToString(mac.Sum(nil))
}
