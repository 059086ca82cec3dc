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
		Handler: bodylimit.Handler(handler, bodylimit.Patience), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: answerTimeout,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
}
