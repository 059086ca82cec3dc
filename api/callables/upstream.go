package callables

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/bodylimit"
)

// Limits of what is passed on: those of the platform of the app's functions.
const (
	maxPassedOn   = 10 << 20
	maxPassedBack = 32 << 20
	// upstreamTimeout is below this server's time for an answer, so that there is one.
	upstreamTimeout = 55 * time.Second
)

// keptHere are credentials for this server and for proxies before it. The
// protocol's own credentials (Authorization, Firebase's headers) are passed on.
var keptHere = []string{
	"Cookie", "X-Serverless-Authorization", "X-Goog-Iap-Jwt-Assertion",
	"X-Goog-Authenticated-User-Email", "X-Goog-Authenticated-User-Id", "X-Forwarded-Client-Cert",
}

// notTheirs are headers that would change what browsers keep for this server's host.
var notTheirs = []string{
	"Set-Cookie", "Set-Cookie2", "Clear-Site-Data", echo.HeaderStrictTransportSecurity, "Alt-Svc",
	"Nel", "Report-To", "Reporting-Endpoints", "Service-Worker-Allowed",
}

func drop(header http.Header, names []string) {
	for _, name := range names {
		header.Del(name)
	}
}

// openUpstream makes the proxy. Body, authorisation and answer pass unchanged;
// hop-by-hop headers, keptHere and notTheirs do not.
func (s *server) openUpstream() error {
	if s.Upstream == "" {
		return nil
	}
	target, err := url.Parse(s.Upstream)
	if err != nil || target.Host == "" {
		return fault.Field("CALLABLES_UPSTREAM", "has to be an address")
	}
	if s.UpstreamTimeout <= 0 {
		s.UpstreamTimeout = upstreamTimeout
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
			ForceAttemptHTTP2: true, DisableCompression: true,
			// Find connections that died while the instance was frozen.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 5 * time.Second},
		},
		// passOn logs the same with the function's name.
		ErrorLog: slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	return nil
}

var errTooLong = errors.New("the answer is too long")

// proxiedBody ends after left bytes with errTooLong, and keeps the error that broke
// it off. The transport reads a request's body in a goroutine of its own.
type proxiedBody struct {
	io.ReadCloser
	left   int64
	failed atomic.Pointer[error]
}

// Read implements io.Reader.
func (b *proxiedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.left -= int64(n)
	if b.left < 0 {
		n, err = 0, errTooLong
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.failed.Store(&err)
	}
	return n, err
}

// passOn has the upstream answer. Its cross-origin headers replace ours, if it
// sends any. If the answer breaks off, so does the connection to the client.
func (s *server) passOn(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), s.UpstreamTimeout)
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
	answer := &proxiedBody{left: maxPassedBack}
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
	cancelled := cancelledIn(c)
	var failed error
	proxy.ErrorHandler = func(_ http.ResponseWriter, _ *http.Request, err error) { failed = err }
	request := c.Request().WithContext(ctx)
	// The context does not tell that the client disconnected while its body is read.
	sent := &proxiedBody{ReadCloser: request.Body, left: math.MaxInt64}
	request.Body = http.MaxBytesReader(c.Response(), sent, maxPassedOn)
	defer func() {
		cut := recover()
		if cut == http.ErrAbortHandler { //nolint:errorlint // a value of a panic, as net/http compares it
			cause := errDisconnected
			if failed := answer.failed.Load(); failed != nil {
				cause = *failed
			}
			s.logFailure(c, fault.Wrap(fault.Unavailable, cause, "This function broke its answer off. Try again in a moment."))
		}
		if cut != nil {
			panic(cut)
		}
	}()
	proxy.ServeHTTP(c.Response(), request)
	if failed == nil {
		s.noteAnnounced(c, cancelled, own.Get(echo.HeaderXRequestID))
		return nil
	}
	maps.Copy(header, own)
	if _, large := errors.AsType[*http.MaxBytesError](failed); large {
		return s.fail(c, fault.Wrap(fault.TooLarge, failed, "That is too large. Send less."))
	}
	if sent.failed.Load() != nil {
		failed = errors.Join(errDisconnected, failed)
	}
	return s.fail(c, fault.Wrap(fault.Unavailable, failed, "This function does not answer. Try again in a moment."))
}

// share copies the headers about origins.
func share(to, from http.Header) {
	for name, values := range from {
		if name == echo.HeaderVary || strings.HasPrefix(name, "Access-Control-") {
			to[name] = values
		}
	}
}
