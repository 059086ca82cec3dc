package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"questscheduler/api/dashboard"
	"questscheduler/fault"
	"questscheduler/internal/signin"
)

// adminCookie holds the token of an admin who signed in with a browser. Scripts
// cannot read it, pages of other sites cannot send it, and no route under /v1 takes
// it.
const adminCookie = "questscheduler_admin"

// adminPaths are where browsers send it.
var adminPaths = []string{dashboardPath, "/admin"}

// signIn stores an admin's token in a cookie of the browser's session. The answer
// to a forged or expired token, or one of somebody who is no admin, is the same.
func (s *server) signIn(c echo.Context) error {
	ctx, token := c.Request().Context(), strings.TrimSpace(c.Request().PostForm.Get("token"))
	if _, err := s.verifyAdmin(c, token); err != nil {
		if fault.Is(err, fault.Unavailable) {
			return err
		}
		s.refused.WarnContext(ctx, "a sign-in to the dashboard was refused", "code", fault.CodeOf(err), "trace", requestOf(ctx).id)
		return s.showSignIn(c, dashboard.SignIn{Failed: true})
	}
	s.setAdminCookie(c, token, 0)
	return c.Redirect(http.StatusSeeOther, dashboardPath)
}

// signOut removes the cookie; the token stays valid.
func (s *server) signOut(c echo.Context) error {
	s.setAdminCookie(c, "", -1)
	return c.Redirect(http.StatusSeeOther, dashboardPath+"?done=signed-out")
}

func (s *server) setAdminCookie(c echo.Context, token string, seconds int) {
	for _, cookie := range AdminCookies(token, s.HTTPS) {
		cookie.MaxAge = seconds
		c.SetCookie(cookie)
	}
}

// AdminCookies sign a browser's session in to the dashboard with an admin's token.
func AdminCookies(token string, secure bool) (cookies []*http.Cookie) {
	for _, path := range adminPaths {
		cookies = append(cookies, &http.Cookie{ //nolint:gosec // secure wherever we are reached by HTTPS
			Name: adminCookie, Value: token, Path: path, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
		})
	}
	return cookies
}

// adminOf authenticates an admin by bearer token or cookie, and holds them to their
// rate. Errors are Unauthenticated, or echo.ErrNotFound for anybody who is no admin.
func (s *server) adminOf(c echo.Context) (caller, error) {
	token := ""
	if header := c.Request().Header.Get(echo.HeaderAuthorization); header != "" {
		var err error
		token, err = signin.Bearer(header)
		if err != nil {
			return caller{}, err
		}
	} else if cookie, err := c.Cookie(adminCookie); err == nil {
		token = cookie.Value
	}
	by, err := s.verifyAdmin(c, token)
	if errors.Is(err, echo.ErrNotFound) {
		s.setAdminCookie(c, "", -1) // no longer an admin
	}
	if err != nil {
		return caller{}, err
	}
	return by, s.limitPerson(by.person.ID)
}

func (s *server) verifyAdmin(c echo.Context, token string) (caller, error) {
	if len(token) > maxToken {
		return caller{}, fault.New(fault.Unauthenticated, "The token is too long for a browser's cookie.")
	}
	by, err := s.callerBy(c.Request().Context(), token)
	if err != nil {
		return caller{}, err
	}
	requestOf(c.Request().Context()).signedIn = true
	if !by.person.Admin {
		return caller{}, echo.ErrNotFound
	}
	return by, nil
}

// takeCookie lets an admin's browser read routes under /admin, to which the
// dashboard links. What changes something demands the header, which no other site's
// page can make a browser send.
func takeCookie(ctx huma.Context) (huma.Context, error) {
	r := humaecho.Unwrap(ctx).Request()
	if cookie, err := r.Cookie(adminCookie); err == nil && r.Method == http.MethodGet && r.Header.Get(echo.HeaderAuthorization) == "" {
		r.Header.Set(echo.HeaderAuthorization, "Bearer "+cookie.Value)
	}
	return ctx, nil
}
