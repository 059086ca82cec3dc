package bodylimit

import (
	"net/http"
	"time"
)

// Server bounds headers, bodies and idle connections. It has no ReadTimeout,
// which would cut off streams and slow handlers; answerTimeout 0 is no limit.
func Server(handler http.Handler, answerTimeout time.Duration) *http.Server {
	return &http.Server{
		Handler: Handler(handler, Timeout), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: answerTimeout,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
}
