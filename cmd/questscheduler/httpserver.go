package main

import (
	"net/http"
	"time"

	"questscheduler/internal/bodylimit"
)

// newHTTPServer makes what answers on a listener, under the bounds that hold for
// every one: headers, bodies and idle connections end. It has no ReadTimeout,
// which would cut off streams and handlers that run long.
func newHTTPServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: bodylimit.Handler(handler, bodylimit.Patience), ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
}
