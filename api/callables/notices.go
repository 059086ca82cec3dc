package callables

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	// maxNotice is the longest body that is read for a notice.
	maxNotice = 256 << 10
	// noteTimeout is how long recording the app's notice may take.
	noteTimeout = 10 * time.Second
)

// eventCancelled is the one event of the app whose notice replaces ours. The app
// mutes POLL_RESTORED by default, so a restore is announced here.
const eventCancelled = "POLL_CANCELLED"

// cancelledIn returns the poll whose cancellation a call, about to be passed on,
// asks the app's functions to announce; "" for any other call. The body stays
// readable.
func cancelledIn(c echo.Context) (pollID string) {
	if name, _ := c.Get(contextName).(string); name != nameEmit {
		return ""
	}
	request := c.Request()
	start, err := io.ReadAll(io.LimitReader(request.Body, maxNotice+1))
	rest := io.Reader(request.Body)
	if err != nil {
		rest = failingReader{err}
	}
	request.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), rest), request.Body}
	var sent struct {
		Data struct {
			EventType string `json:"eventType"`
			Resource  struct {
				Type string `json:"type"`
				ID   string `json:"id"`
			} `json:"resource"`
		} `json:"data"`
	}
	if err != nil || json.Unmarshal(start, &sent) != nil || sent.Data.Resource.Type != "poll" || sent.Data.EventType != eventCancelled {
		return "" // a malformed call is refused by the app's functions
	}
	return sent.Data.Resource.ID
}

type failingReader struct{ err error }

// Read implements io.Reader.
func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// noteAnnounced records that the app's functions announced a poll's cancellation, so
// that the server does not announce it again. A failure is only logged: the call was
// answered, and people may be notified twice.
func (s *server) noteAnnounced(c echo.Context, pollID, trace string) {
	status := c.Response().Status
	if pollID == "" || status < http.StatusOK || status >= http.StatusMultipleChoices {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), noteTimeout)
	defer cancel()
	in, err := s.authenticate(ctx, c)
	if err == nil {
		in.cause.Trace = trace
		err = s.Polls.AnnouncedByApp(ctx, in.person, pollID, in.cause)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "notice of the web app not recorded", slog.String("poll", pollID), slog.String("trace", trace),
			slog.Any("error", err))
	}
}
