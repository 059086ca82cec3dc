package callables

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
)

// Limits of what is passed on: those of the platform that the app's functions
// run on.
const (
	maxPassedOn   = 10 << 20
	maxPassedBack = 32 << 20
	// passingPatience is below what this server gives an answer altogether, so
	// that there is one.
	passingPatience = 55 * time.Second
)

// openUpstream makes what passes calls on. Body, authorisation and answer are
// left as they are; headers that are about one connection alone go, and so does
// what a proxy would add of its own.
func (s *server) openUpstream() error {
	if s.Upstream == "" {
		return nil
	}
	target, err := url.Parse(s.Upstream)
	if err != nil || target.Host == "" {
		return fault.Field("CALLABLES_UPSTREAM", "has to be an address")
	}
	if s.UpstreamPatience <= 0 {
		s.UpstreamPatience = passingPatience
	}
	s.upstream = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target) // and the Host with it
			if _, says := r.In.Header["User-Agent"]; !says {
				r.Out.Header["User-Agent"] = nil
			}
		},
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second,
			ForceAttemptHTTP2: true, DisableCompression: true, // an answer stays as it is
			// A connection that died while the instance stood still is left, and not
			// what every further call goes by.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 5 * time.Second},
		},
		ModifyResponse: func(response *http.Response) error {
			response.Body = &bounded{response.Body, maxPassedBack}
			return nil
		},
	}
	return nil
}

// bounded ends an answer that is longer than any function may give.
type bounded struct {
	io.ReadCloser
	left int64
}

var errTooLong = errors.New("the answer is too long")

// Read implements io.Reader.
func (b *bounded) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLong
	}
	return n, err
}

// passOn has the upstream answer. It says itself which pages may read that; where
// it says nothing, what we say holds.
func (s *server) passOn(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.UpstreamPatience)
	defer cancel()
	header := c.Response().Header()
	own := header.Clone()
	clear(header)
	header.Set(echo.HeaderXRequestID, own.Get(echo.HeaderXRequestID))
	proxy := *s.upstream
	proxy.ModifyResponse = func(response *http.Response) error {
		if response.Header.Get(echo.HeaderAccessControlAllowOrigin) == "" {
			share(header, own)
		}
		if response.Header.Get(echo.HeaderXRequestID) != "" {
			header.Del(echo.HeaderXRequestID)
		}
		return s.upstream.ModifyResponse(response)
	}
	var failed error
	proxy.ErrorHandler = func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err }
	request := c.Request().WithContext(ctx)
	request.Body = http.MaxBytesReader(c.Response(), request.Body, maxPassedOn)
	proxy.ServeHTTP(c.Response(), request)
	if failed == nil {
		return nil
	}
	maps.Copy(header, own)
	if _, large := errors.AsType[*http.MaxBytesError](failed); large {
		return s.fail(c, fault.Wrap(fault.TooLarge, failed, "That is too large. Send less."))
	}
	return s.fail(c, fault.Wrap(fault.Unavailable, failed, "This function does not answer. Try again in a moment."))
}

// share copies what is said of origins.
func share(to, from http.Header) {
	for name, values := range from {
		if name == echo.HeaderVary || strings.HasPrefix(name, "Access-Control-") {
			to[name] = values
		}
	}
}
