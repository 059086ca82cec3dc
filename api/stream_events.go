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

// send sends an event with its data as JSON, which has no line breaks. Its id is for
// the caller's logs; a stream cannot be resumed at one.
func (f *feed) send(event string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	return f.out.write(fmt.Appendf(nil, "event: %s\nid: %s\ndata: %s\n\n", event, f.NewID("evt"), text))
}

// write extends the connection's deadline, by its real clock: the server's own is for
// whole answers. Test writers have none.
func (w *eventWriter) write(text []byte) error {
	err := w.connection.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := w.out.Write(text); err != nil {
		return err
	}
	return w.connection.Flush()
}
