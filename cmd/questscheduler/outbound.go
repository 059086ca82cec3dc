package main

import (
	"net/http"
	"time"
)

// How a connection is known to be dead.
const (
	// quiet is how long nobody may say anything on one before the other side is
	// asked whether it is there; Google's own clients ask as often.
	quiet = 30 * time.Second
	// quietPatience is how long that may take to answer.
	quietPatience = 5 * time.Second
)

// newTransport is how this server calls Google and Discord. On Cloud Run an
// instance stands still between its requests, and so does a machine that sleeps:
// its connections may be forgotten meanwhile by whoever is in between, without a
// word. HTTP/2 puts every call on one of them, and without the question after
// quiet would do so for a quarter of an hour, in which each call fails.
func newTransport(quiet, patience time.Duration) *http.Transport {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		standard = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	}
	transport := standard.Clone()
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: quiet, PingTimeout: patience}
	return transport
}
