package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/fault"
	"questscheduler/internal/signin"
)

// PathMetrics is where Prometheus reads the figures.
const PathMetrics = "/metrics"

// figureRoutes serve the figures, where there are any: they are Prometheus' own
// text and have no envelope.
func (s *server) figureRoutes() {
	if s.Metrics == nil {
		return
	}
	s.echo.GET(PathMetrics, echo.WrapHandler(s.Metrics), s.forOperators)
}

// forOperators lets through who sends the token of the figures, and admins by
// their own; and who asks from this machine, where the server is for this machine
// alone. Everybody else is told what they are told elsewhere of what is not theirs.
func (s *server) forOperators(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Request().Header.Get(echo.HeaderAuthorization)
		if header == "" && s.MetricsHere && FromThisMachine(c.Request()) {
			return next(c)
		}
		token, err := signin.Bearer(header)
		if err == nil && s.opensMetrics(token) {
			return next(c)
		}
		if err == nil {
			var known signin.Person
			if known, err = s.SignIn.Verify(c.Request().Context(), token); err == nil {
				return s.forAdmin(known, next, c)
			}
		}
		if fault.Is(err, fault.Unauthenticated) {
			c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="questscheduler"`)
		}
		return err
	}
}

// opensMetrics tells, in constant time, whether a token is that of the figures.
func (s *server) opensMetrics(token string) bool {
	want, got := sha256.Sum256([]byte(s.MetricsToken)), sha256.Sum256([]byte(token))
	return s.MetricsToken != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// forAdmin goes on for admins, whom it holds to their rate as everybody.
func (s *server) forAdmin(known signin.Person, next echo.HandlerFunc, c echo.Context) error {
	requestOf(c.Request().Context()).signedIn = true
	if err := s.limitPerson(known.UID); err != nil {
		return err
	}
	if !known.Admin {
		return fault.New(fault.NotFound, "There is nothing here.")
	}
	return next(c)
}

// passedOn are the headers by which a proxy says that it asks for somebody else,
// beside those that begin with X-Forwarded-.
var passedOn = []string{"Forwarded", "X-Real-Ip", "Via"}

// isPassedOn tells whether a proxy says that it asks for somebody else, whatever it
// says of them: a header that is there and empty may have another line below it.
// Whether a proxy is trusted (Options.TrustedProxies) does not count here, nor does
// the address that it gives.
func isPassedOn(header http.Header) bool {
	for name := range header {
		if slices.Contains(passedOn, name) || strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// FromThisMachine tells whether a request was made on this machine, for this
// machine: by a loopback connection, to a loopback name (a page in a browser can
// have any name lead here), and not on behalf of somebody else.
func FromThisMachine(r *http.Request) bool {
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !isLoopbackName(remote) {
		return false
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return isLoopbackName(host) && !isPassedOn(r.Header)
}

func isLoopbackName(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
