package api

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/accounts"
)

// cookieName is that of the secret which a browser keeps from the start until it
// comes back from Google.
const cookieName = "questscheduler_consent"

// hostPrefix, before the name of a cookie, has browsers take it by HTTPS from
// this host alone (RFC 6265bis, "__Host-"): no other host of the domain can plant
// one.
const hostPrefix = "__Host-"

// consentCookie is the cookie of a browser's secret, for as long as a consent may
// take. Google sends the browser back by a link, with which Lax cookies come along;
// to the web app's old address too (package callables), so it is for all of them.
func (s *server) consentCookie(secret string) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // secure wherever we are reached by HTTPS
		Name: s.consentCookieName(), Value: secret, Path: "/", MaxAge: int(accounts.StateLife.Seconds()),
		HttpOnly: true, Secure: s.HTTPS, SameSite: http.SameSiteLaxMode,
	}
}

func (s *server) consentCookieName() string {
	if s.HTTPS {
		return hostPrefix + cookieName
	}
	return cookieName
}

// browserSecret is the secret of the browser that asks. One that it has stays, for
// its other tabs.
func (s *server) browserSecret(c echo.Context) string {
	secret := s.keptSecret(c)
	if secret == "" {
		secret = rand.Text()
	}
	c.SetCookie(s.consentCookie(secret))
	return secret
}

// keptSecret is the secret that a browser brings; "" for none.
func (s *server) keptSecret(c echo.Context) string {
	cookie, err := c.Cookie(s.consentCookieName())
	if err != nil {
		return ""
	}
	return cookie.Value
}

// fromUs tells whether a browser says that a page of ours, or of our site, led
// here. What a browser does not say is not believed: older ones never do, and
// none does without HTTPS.
func fromUs(r *http.Request) bool {
	return slices.Contains([]string{"same-origin", "same-site"}, r.Header.Get("Sec-Fetch-Site"))
}

// isConfirmed tells whether a browser comes by the link of the page that it was
// shown for a ticket: the link holds what nobody makes without its secret.
func isConfirmed(c echo.Context, secret, ticket string) bool {
	return hmac.Equal([]byte(c.QueryParam("confirmed")), []byte(confirmation(secret, ticket)))
}

// confirmedURL is that link.
func confirmedURL(secret, ticket string) string {
	return PathStart + "?ticket=" + url.QueryEscape(ticket) + "&confirmed=" + confirmation(secret, ticket)
}

func confirmation(secret, ticket string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(ticket))
	return hex.EncodeToString(mac.Sum(nil))
}
