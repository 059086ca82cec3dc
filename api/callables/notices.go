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

	"questscheduler/internal/signin"
)

const (
	// maxNotice is how long a call may be whose notice is looked at.
	maxNotice = 256 << 10
	// notePatience is how long it may take to record what the app told.
	notePatience = 10 * time.Second
)

// eventCancelled is the one event of the app whose notice stands for ours. Of
// POLL_RESTORED the app tells nobody unless they asked for it (it is muted by
// default), so a restore is announced here.
const eventCancelled = "POLL_CANCELLED"

// cancelledIn reads of which poll's cancellation a call that is about to be
// passed on asks the app's functions to tell people; "" for any other call. The
// body stays as it came.
func (s *server) cancelledIn(c echo.Context) (pollID string) {
	if name, _ := c.Get(contextName).(string); name != nameEmit {
		return ""
	}
	request := c.Request()
	began, err := io.ReadAll(io.LimitReader(request.Body, maxNotice+1))
	rest := io.Reader(request.Body)
	if err != nil {
		rest = failing{err}
	}
	request.Body = whole{io.MultiReader(bytes.NewReader(began), rest), request.Body}
	var sent struct {
		Data struct {
			EventType string `json:"eventType"`
			Resource  struct {
				Type string `json:"type"`
				ID   string `json:"id"`
			} `json:"resource"`
		} `json:"data"`
	}
	if err != nil || json.Unmarshal(began, &sent) != nil || sent.Data.Resource.Type != "poll" || sent.Data.EventType != eventCancelled {
		return "" // where it is wrong, the app's functions say so
	}
	return sent.Data.Resource.ID
}

// whole is a body that was begun to be read.
type whole struct {
	io.Reader
	io.Closer
}

// failing is the end of a body that could not be read.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// noteTold records that the app's functions took a notice that the poll's creator
// asked for, so that it is not announced here again. What cannot be recorded is
// announced twice, which is no reason to fail a call that was answered.
func (s *server) noteTold(c echo.Context, pollID, trace string) {
	status := c.Response().Status
	if pollID == "" || status < http.StatusOK || status >= http.StatusMultipleChoices {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request().Context()), notePatience)
	defer cancel()
	token, err := signin.Bearer(c.Request().Header.Get(echo.HeaderAuthorization))
	var known signin.Person
	if err == nil {
		known, err = s.SignIn.Verify(ctx, token)
	}
	if err == nil {
		in := callOf(c, known)
		in.cause.Trace = trace
		err = s.Polls.ToldByApp(ctx, in.person, pollID, in.cause)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "notice of the web app not recorded", slog.String("poll", pollID), slog.String("trace", trace), slog.Any("error", err))
	}
}
