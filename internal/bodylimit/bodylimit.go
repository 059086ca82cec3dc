// Package bodylimit bounds how long the body of an HTTP request may take to
// arrive. The bound holds for every route of a server, also for routes that do
// not read the body.
package bodylimit

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// Patience is how long a body may take to arrive, on every listener of the
// program.
const Patience = 10 * time.Second

// restPatience is how long an answer waits for the rest of a body that its route
// did not read: a client that sends it at all sent it by then.
const restPatience = time.Second

// maxRest is how much of an unread body is read and dropped before an answer, so
// that the connection can be kept; net/http has the same limit.
const maxRest = 256 << 10

// Handler answers by next, and bounds each request that has a body:
//
//   - The body must arrive within patience after its first read, so that the time
//     of a sign-in before it does not count. Later reads fail, and the connection
//     is closed after the answer.
//   - An answer of 400 or above closes the connection unless the whole body was
//     read before. The rest of the body is not read.
//   - An answer below 400 waits a second for a body that the route did not read,
//     and closes the connection where it does not arrive.
//   - Once the whole body was read the connection has no deadline, so a stream or
//     a slow handler is not cut off.
func Handler(next http.Handler, patience time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		sent := &body{from: r.Body, connection: http.NewResponseController(w), patience: patience}
		switch err := sent.setDeadline(time.Now().Add(patience)); {
		case errors.Is(err, http.ErrNotSupported): // no connection, as in tests with a recorder
			next.ServeHTTP(w, r)
			return
		case err != nil: // the connection is gone
			panic(http.ErrAbortHandler)
		}
		defer sent.finish()
		bounded := r.WithContext(r.Context()) // net/http looks at the body of r itself
		bounded.Body = sent
		reply := &answer{ResponseWriter: w, sent: sent}
		next.ServeHTTP(reply, bounded)
		reply.settle(http.StatusOK) // for a handler that wrote nothing
	})
}

// Extend lets the body of a request arrive until then, as long as each part of
// it follows the one before within the patience of Handler. It must be called
// before the body is wrapped; a request without a bounded body is left alone.
func Extend(r *http.Request, until time.Time) error {
	sent, bounded := r.Body.(*body)
	if !bounded {
		return nil
	}
	return sent.extend(until)
}

// answer settles what becomes of the rest of the body before the header leaves.
type answer struct {
	http.ResponseWriter
	sent    *body
	settled bool
}

// Unwrap implements the contract of http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		a.settle(status)
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *answer) Write(content []byte) (int, error) {
	a.settle(http.StatusOK)
	return a.ResponseWriter.Write(content)
}

// FlushError implements the contract of http.ResponseController.
func (a *answer) FlushError() error {
	a.settle(http.StatusOK)
	return a.sent.connection.Flush()
}

// settle reads the rest of the body, within restPatience, or has the connection
// closed after a refusal and where the rest does not arrive.
func (a *answer) settle(status int) {
	if a.settled {
		return
	}
	a.settled = true
	a.sent.settle()
	if a.sent.isWhole() || status < http.StatusBadRequest && a.sent.drop(maxRest, time.Now().Add(restPatience)) {
		return
	}
	// A reader over its limit has net/http close the connection after the
	// answer, and wait before that until the client had time to read it.
	over := http.MaxBytesReader(a.ResponseWriter, io.NopCloser(strings.NewReader("rest")), 0)
	_, _ = over.Read(make([]byte, 1)) // its error is that limit
	// net/http reads the rest after the answer: with this deadline it reads
	// nothing. Where setting it fails the connection is gone.
	if err := a.sent.setDeadline(time.Now()); err != nil {
		panic(http.ErrAbortHandler)
	}
}
