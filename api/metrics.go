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

	"questscheduler/fault"
	"questscheduler/internal/signin"
)

// PathMetrics is the path of the metrics.
const PathMetrics = "/metrics"

// metricsRoutes serve the metrics in Prometheus' text format, without an envelope.
func (s *server) metricsRoutes() {
	if s.Metrics == nil {
		return
	}
	s.echo.GET(PathMetrics, echo.WrapHandler(s.Metrics), s.guardMetrics)
}

// guardMetrics admits the metrics token, admins, and with MetricsLocal callers on
// this machine.
func (s *server) guardMetrics(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Request().Header.Get(echo.HeaderAuthorization)
		if header == "" && s.MetricsLocal && FromThisMachine(c.Request()) {
			return next(c)
		}
		token, err := signin.Bearer(header)
		if err == nil && s.isMetricsToken(token) {
			return next(c)
		}
		if err == nil {
			err = s.admitAdmin(c, token)
		}
		if err == nil {
			return next(c)
		}
		if fault.Is(err, fault.Unauthenticated) {
			c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="questscheduler"`)
		}
		return err
	}
}

// isMetricsToken compares in constant time.
func (s *server) isMetricsToken(token string) bool {
	want, got := sha256.Sum256([]byte(s.MetricsToken)), sha256.Sum256([]byte(token))
	return s.MetricsToken != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

func (s *server) admitAdmin(c echo.Context, token string) error {
	known, err := s.SignIn.Verify(c.Request().Context(), token)
	if err != nil {
		return err
	}
	requestOf(c.Request().Context()).signedIn = true
	if err := s.limitPerson(known.UID); err != nil {
		return err
	}
	if !known.Admin {
		return fault.New(fault.NotFound, "There is nothing here.")
	}
	return nil
}

// isForwarded reports whether a proxy, trusted or not, added a header. An empty one
// counts: another line of it may follow.
func isForwarded(header http.Header) bool {
	for name := range header {
		if slices.Contains([]string{"Forwarded", "X-Real-Ip", "Via"}, name) || strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// FromThisMachine reports whether a request was made on this machine for this
// machine: by a loopback connection, to a loopback name (a web page can have any name
// lead here), and without a proxy.
func FromThisMachine(r *http.Request) bool {
	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !isLoopbackName(remote) {
		return false
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	return isLoopbackName(host) && !isForwarded(r.Header)
}

func isLoopbackName(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
