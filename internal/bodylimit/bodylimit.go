// Package bodylimit limits how long the body of an HTTP request may take to
// arrive, for every route of a server, also those that do not read the body.
package bodylimit

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Timeout is how long a body may take to arrive, on every listener of the
// program.
const Timeout = 10 * time.Second

// An answer drops the rest of an unread body, so that the connection can be kept.
const (
	restPatience = time.Second // a client that sends the rest at all sent it by then
	maxRest      = 256 << 10   // as in net/http
)

// Handler limits each request that has a body before it calls next:
//
//   - The body must arrive within patience after its first read, so the time of a
//     sign-in before that does not count. Later reads fail, and the connection is
//     closed after the answer.
//   - An answer of 400 or above closes the connection unless the whole body was
//     read before. The rest of the body is not read.
//   - An answer below 400 waits a second for a body that the route did not read,
//     and closes the connection if it does not arrive.
//   - Once the whole body was read the connection has no deadline, so a stream or
//     a slow handler is not cut off.
func Handler(next http.Handler, patience time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		sent := &body{from: r.Body, connection: http.NewResponseController(w), patience: patience}
		switch err := sent.connection.SetReadDeadline(time.Now().Add(patience)); {
		case errors.Is(err, http.ErrNotSupported): // no connection, as in tests with a recorder
			next.ServeHTTP(w, r)
			return
		case err != nil: // the connection is gone
			panic(http.ErrAbortHandler)
		}
		defer sent.release()
		limited := r.WithContext(r.Context()) // net/http reads the body of r itself
		limited.Body = sent
		reply := &answer{ResponseWriter: w, sent: sent}
		next.ServeHTTP(reply, limited)
		reply.settle(http.StatusOK) // for a handler that wrote nothing
	})
}

// Extend lets the body of a request arrive until then, as long as each part
// follows the one before within the patience of Handler. It must be called before
// the body is wrapped. It does nothing to a body without a limit.
func Extend(r *http.Request, until time.Time) error {
	sent, limited := r.Body.(*body)
	if !limited {
		return nil
	}
	sent.mu.Lock()
	defer sent.mu.Unlock()
	if sent.whole || sent.released {
		return nil
	}
	sent.until = until
	return sent.move()
}

// body arrives under a read deadline of its connection. A proxy may read it in
// another goroutine, also after the handler returned.
type body struct {
	from       io.Reader
	connection *http.ResponseController
	patience   time.Duration

	mu       sync.Mutex
	until    time.Time // see Extend; zero: the first read alone moves the deadline
	begun    bool
	whole    bool // it was read to its end
	closed   bool
	released bool // the deadline is the answer's or the next request's
}

// Read implements io.Reader.
func (b *body) Read(into []byte) (int, error) {
	if err := b.begin(); err != nil {
		return 0, err
	}
	n, err := b.from.Read(into)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.released:
	case errors.Is(err, io.EOF):
		b.whole = true
		if failed := b.connection.SetReadDeadline(time.Time{}); failed != nil {
			err = failed
		}
	case err == nil && n > 0 && !b.until.IsZero():
		err = b.move()
	}
	return n, err
}

// begin gives the body its time, once.
func (b *body) begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return http.ErrBodyReadAfterClose
	}
	if b.begun || b.whole || b.released {
		return nil
	}
	b.begun = true
	return b.move()
}

// move gives the next part its time. The caller holds mu.
func (b *body) move() error {
	deadline := time.Now().Add(b.patience)
	if !b.until.IsZero() && deadline.After(b.until) {
		deadline = b.until
	}
	return b.connection.SetReadDeadline(deadline)
}

// Close implements io.Closer. Unlike the body of net/http it does not read the
// rest, for which a proxy would wait.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// release stops reads from moving the deadline, and reports whether the whole body
// was read.
func (b *body) release() (whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.released = true
	return b.whole
}

// drop reads the rest and forgets it; false if it does not arrive in time or is
// too long.
func (b *body) drop() bool {
	if err := b.connection.SetReadDeadline(time.Now().Add(restPatience)); err != nil {
		return false
	}
	_, err := io.CopyN(io.Discard, b.from, maxRest)
	return errors.Is(err, io.EOF) && b.connection.SetReadDeadline(time.Time{}) == nil
}

// answer decides about the rest of the body before the header is sent.
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

// settle drops the rest of the body, or has the connection closed after a refusal
// and if the rest does not arrive.
func (a *answer) settle(status int) {
	if a.settled {
		return
	}
	a.settled = true
	if a.sent.release() || status < http.StatusBadRequest && a.sent.drop() {
		return
	}
	// A reader over its limit makes net/http close the connection after the answer,
	// once the client had time to read that.
	over := http.MaxBytesReader(a.ResponseWriter, io.NopCloser(strings.NewReader("rest")), 0)
	_, _ = over.Read(make([]byte, 1)) // its error is that limit
	// net/http reads the rest after the answer: with this deadline it reads nothing.
	if err := a.sent.connection.SetReadDeadline(time.Now()); err != nil {
		panic(http.ErrAbortHandler) // the connection is gone
	}
}
