package callables

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/bodylimit"
	"questscheduler/internal/fault"
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

// keptHere are credentials for this server, and for what stands before it. The
// protocol's own are in Authorization and Firebase's headers, which are passed on.
var keptHere = []string{
	"Cookie", "X-Serverless-Authorization", "X-Goog-Iap-Jwt-Assertion",
	"X-Goog-Authenticated-User-Email", "X-Goog-Authenticated-User-Id", "X-Forwarded-Client-Cert",
}

// notTheirs are headers of an answer by which it would change what browsers keep
// for this server's host, or where they look for it.
var notTheirs = []string{
	"Set-Cookie", "Set-Cookie2", "Clear-Site-Data", echo.HeaderStrictTransportSecurity, "Alt-Svc",
	"Nel", "Report-To", "Reporting-Endpoints", "Service-Worker-Allowed",
}

// drop takes headers out.
func drop(header http.Header, names []string) {
	for _, name := range names {
		header.Del(name)
	}
}

// openUpstream makes what passes calls on. Body, authorisation and answer are
// left as they are; headers that are about one connection alone go, and so do
// keptHere, notTheirs, and what a proxy would add of its own.
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
			drop(r.Out.Header, keptHere)
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
		// What it says, passOn logs with the name of the function.
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	return nil
}

// bounded ends an answer that is longer than any function may give, and keeps the
// error that broke an answer off.
type bounded struct {
	io.ReadCloser
	left   int64
	failed error
}

var errTooLong = errors.New("the answer is too long")

// Read implements io.Reader.
func (b *bounded) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, errTooLong
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.failed = err
	}
	return n, err
}

// sentBody is the body of a request. It remembers that the client broke it off,
// which the request's context does not say: no one waits for the connection's end
// while a body is read from it. The transport reads it in a goroutine of its own.
type sentBody struct {
	io.ReadCloser
	brokenOff atomic.Bool
}

// Read implements io.Reader.
func (b *sentBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err != nil && !errors.Is(err, io.EOF) {
		b.brokenOff.Store(true)
	}
	return n, err
}

// passOn has the upstream answer. It says itself which pages may read that; where
// it says nothing, what we say holds. An answer that is broken off breaks the
// connection to the client off too.
func (s *server) passOn(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.UpstreamPatience)
	defer cancel()
	until, _ := ctx.Deadline()
	if err := bodylimit.Extend(c.Request(), until); err != nil {
		return s.fail(c, fault.Wrap(fault.Unavailable, err, "The connection is gone. Send the request again."))
	}
	header := c.Response().Header()
	own := header.Clone()
	clear(header)
	header.Set(echo.HeaderXRequestID, own.Get(echo.HeaderXRequestID))
	if keep := own.Get(echo.HeaderStrictTransportSecurity); keep != "" {
		header.Set(echo.HeaderStrictTransportSecurity, keep)
	}
	proxy := *s.upstream
	answer := &bounded{left: maxPassedBack}
	proxy.ModifyResponse = func(response *http.Response) error {
		drop(response.Header, notTheirs)
		if response.Header.Get(echo.HeaderAccessControlAllowOrigin) == "" {
			share(header, own)
		}
		if response.Header.Get(echo.HeaderXRequestID) != "" {
			header.Del(echo.HeaderXRequestID)
		}
		answer.ReadCloser, response.Body = response.Body, answer
		return nil
	}
	cancelled := s.cancelledIn(c)
	var failed error
	proxy.ErrorHandler = func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err }
	request := c.Request().WithContext(ctx)
	sent := &sentBody{ReadCloser: request.Body}
	request.Body = http.MaxBytesReader(c.Response(), sent, maxPassedOn)
	defer func() {
		cut := recover()
		if cut == http.ErrAbortHandler { //nolint:errorlint // a value of a panic, as net/http compares it
			cause := answer.failed
			if cause == nil { // it was read well, so the client did not take it
				cause = errDisconnected
			}
			s.logFailure(c, fault.Wrap(fault.Unavailable, cause, "This function broke its answer off. Try again in a moment."))
		}
		if cut != nil {
			panic(cut)
		}
	}()
	proxy.ServeHTTP(c.Response(), request)
	if failed == nil {
		s.noteTold(c, cancelled, own.Get(echo.HeaderXRequestID))
		return nil
	}
	maps.Copy(header, own)
	if _, large := errors.AsType[*http.MaxBytesError](failed); large {
		return s.fail(c, fault.Wrap(fault.TooLarge, failed, "That is too large. Send less."))
	}
	if sent.brokenOff.Load() {
		failed = errors.Join(errDisconnected, failed)
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
