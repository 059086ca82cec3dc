package main

import (
	"net/http"
	"time"

	"questscheduler/internal/bodylimit"
)

// newHTTPServer bounds headers, bodies and idle connections. It has no ReadTimeout,
// which would cut off streams and slow handlers; answerTimeout 0 is no limit.
func newHTTPServer(handler http.Handler, answerTimeout time.Duration) *http.Server {
	return &http.Server{
		Handler: bodylimit.Handler(handler, bodylimit.Timeout), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: answerTimeout,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
}

// Health checks of connections. quiet is how long a connection may be silent before
// the other side is pinged, as often as Google's own clients do; quietPatience is how
// long the answer may take.
const (
	quiet         = 30 * time.Second
	quietPatience = 5 * time.Second
)

// newTransport is for calls to Google and Discord. While a Cloud Run instance or a
// laptop is frozen, something in between may drop its connections silently. HTTP/2
// puts all calls on one connection, and without pings they would fail for a quarter
// of an hour.
func newTransport(quiet, patience time.Duration) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: quiet, PingTimeout: patience}
	return transport
}
