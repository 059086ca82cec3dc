package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// answerPolicy lets a browser only read an answer; pages have their own policies.
const answerPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// secure sets the security headers of every answer.
func (s *server) secure(header http.Header) {
	header.Set(echo.HeaderXContentTypeOptions, "nosniff")
	header.Set(echo.HeaderReferrerPolicy, "no-referrer")
	header.Set(echo.HeaderXFrameOptions, "DENY") // for pages whose policy says nothing of frames
	header.Set(echo.HeaderContentSecurityPolicy, answerPolicy)
	header.Set(echo.HeaderCacheControl, "no-store")
	if s.HTTPS {
		header.Set(echo.HeaderStrictTransportSecurity, "max-age=31536000") // a year
	}
}

// anyOrigin allows all origins.
const anyOrigin = "*"

// shareOrigins lets the allowed origins call what is under /v1 from browsers,
// and read whatever is answered, errors included. An origin is compared whole.
// Where any may call, none may send credentials of the browser's own; the bearer
// token is none.
func (s *server) shareOrigins() echo.MiddlewareFunc {
	named := !slices.Contains(s.AllowedOrigins, anyOrigin)
	return middleware.CORSWithConfig(middleware.CORSConfig{
		Skipper: func(c echo.Context) bool {
			r := c.Request()
			plain := r.Method == http.MethodOptions && r.Header.Get(echo.HeaderOrigin) == ""
			return plain || r.URL.Path != "/v1" && !strings.HasPrefix(r.URL.Path, "/v1/")
		},
		AllowOriginFunc: func(origin string) (bool, error) {
			return !named || slices.Contains(s.AllowedOrigins, origin), nil
		},
		AllowCredentials: named,
		AllowMethods:     []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		AllowHeaders:     []string{echo.HeaderAuthorization, echo.HeaderContentType, headerKey, "Last-Event-ID", "If-Match", "If-None-Match"},
		ExposeHeaders:    []string{echo.HeaderXRequestID, echo.HeaderRetryAfter, "ETag"},
		MaxAge:           600,
	})
}
