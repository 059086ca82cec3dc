package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// writePatience is how long a caller may take to receive an event. One who takes
// longer is gone, or slower than what happens.
const writePatience = 10 * time.Second

// eventWriter writes server-sent events, each at once.
type eventWriter struct {
	out        http.ResponseWriter
	connection *http.ResponseController
}

func newEventWriter(out http.ResponseWriter) *eventWriter {
	return &eventWriter{out: out, connection: http.NewResponseController(out)}
}

// event sends an event with its data as JSON, which has no line breaks.
func (w *eventWriter) event(name, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	fmt.Fprintf(&lines, "event: %s\nid: %s\ndata: %s\n\n", name, id, text)
	return w.send(lines.Bytes())
}

// comment sends what callers pass over.
func (w *eventWriter) comment() error { return w.send([]byte(": still here\n\n")) }

// end lets what the server itself writes at the end of an answer still leave.
func (w *eventWriter) end() error { return w.extend() }

// extend sets the deadline of what is written next. It stands in place of the
// server's for whole answers, and is the connection's, on its real clock. A
// writer without deadlines, as tests have, keeps none.
func (w *eventWriter) extend() error {
	err := w.connection.SetWriteDeadline(time.Now().Add(writePatience))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// send writes within a deadline of its own.
func (w *eventWriter) send(text []byte) error {
	if err := w.extend(); err != nil {
		return err
	}
	if _, err := w.out.Write(text); err != nil {
		return err
	}
	return w.connection.Flush()
}
