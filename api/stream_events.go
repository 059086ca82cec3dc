package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// writeTimeout is how long a caller may take to receive an event.
const writeTimeout = 10 * time.Second

// eventWriter writes server-sent events and flushes each.
type eventWriter struct {
	out        http.ResponseWriter
	connection *http.ResponseController
}

// event sends an event with its data as JSON, which has no line breaks.
func (w *eventWriter) event(name, id string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return w.write(fmt.Appendf(nil, "event: %s\nid: %s\ndata: %s\n\n", name, id, text))
}

func (w *eventWriter) write(text []byte) error {
	if err := w.extend(); err != nil {
		return err
	}
	if _, err := w.out.Write(text); err != nil {
		return err
	}
	return w.connection.Flush()
}

// extend sets the deadline of the next write, by the connection's real clock. It
// replaces the server's deadline for whole answers. Test writers have none.
func (w *eventWriter) extend() error {
	err := w.connection.SetWriteDeadline(time.Now().Add(writeTimeout))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
