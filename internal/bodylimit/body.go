package bodylimit

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// body is a body that arrives under a deadline of its connection. A proxy may
// read it in a goroutine of its own, also after the handler returned: from then
// on the deadline belongs to the next request and is left alone.
type body struct {
	from       io.Reader
	connection *http.ResponseController
	patience   time.Duration

	mu       sync.Mutex
	until    time.Time // see Extend; zero: the deadline does not move
	begun    bool      // the first read began
	whole    bool      // it was read to its end
	closed   bool
	settled  bool // the answer set the last deadline
	finished bool // the handler returned
}

// Read implements io.Reader. The first one gives the body its time.
func (b *body) Read(into []byte) (int, error) {
	if err := b.begin(); err != nil {
		return 0, err
	}
	return b.read(into)
}

// begin sets the deadline of the first read.
func (b *body) begin() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return http.ErrBodyReadAfterClose
	}
	if b.begun || b.whole || b.settled || b.finished {
		return nil
	}
	b.begun = true
	return b.move()
}

// read moves the deadline with what arrives, and lifts it at the end.
func (b *body) read(into []byte) (int, error) {
	n, err := b.from.Read(into)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.finished:
	case errors.Is(err, io.EOF):
		b.whole = true
		if failed := b.connection.SetReadDeadline(time.Time{}); failed != nil {
			return n, failed
		}
	case err == nil && n > 0 && !b.until.IsZero():
		err = b.move()
	}
	return n, err
}

// Close implements io.Closer: nothing can be read any more. Unlike the body of
// net/http it does not read the rest, for which a proxy would wait.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// extend gives the body until then.
func (b *body) extend(until time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.whole || b.settled {
		return nil
	}
	b.until = until
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

// settle leaves the deadline to the answer: no read moves it any more.
func (b *body) settle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settled, b.until = true, time.Time{}
}

// drop reads the rest and forgets it; false where it does not arrive until then,
// or is longer than most.
func (b *body) drop(most int64, until time.Time) bool {
	if err := b.setDeadline(until); err != nil {
		return false
	}
	_, err := io.CopyN(io.Discard, readerFunc(b.read), most)
	return errors.Is(err, io.EOF) && b.isWhole()
}

// setDeadline sets the deadline of the connection.
func (b *body) setDeadline(at time.Time) error { return b.connection.SetReadDeadline(at) }

// finish says that the handler returned.
func (b *body) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.finished = true
}

func (b *body) isWhole() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.whole
}

type readerFunc func(into []byte) (int, error)

func (f readerFunc) Read(into []byte) (int, error) { return f(into) }
