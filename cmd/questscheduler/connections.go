package main

import (
	"net/http"
	"time"
)

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
