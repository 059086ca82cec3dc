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

	"questscheduler/rules"
	"questscheduler/signin"
)

const (
	// maxNotice is how long a call may be whose notice is looked at.
	maxNotice = 256 << 10
	// notePatience is how long it may take to record what the app told.
	notePatience = 10 * time.Second
)

// tellsOf are the app's own notices of what this server would announce too, and
// the status that the poll has then.
var tellsOf = map[string]rules.Status{
	"POLL_CANCELLED": rules.Cancelled,
	"POLL_RESTORED":  rules.Finalized,
}

// notice is what a call asks the app's functions to tell people; the zero one is
// none that matters here.
type notice struct {
	pollID string
	status rules.Status
}

// noticeIn reads which notice a call asks for that is about to be passed on. The
// body stays as it came.
func (s *server) noticeIn(c echo.Context) notice {
	if name, _ := c.Get(contextName).(string); name != nameEmit {
		return notice{}
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
	if err != nil || json.Unmarshal(began, &sent) != nil || sent.Data.Resource.Type != "poll" {
		return notice{} // the app's functions say what is wrong with it
	}
	return notice{pollID: sent.Data.Resource.ID, status: tellsOf[sent.Data.EventType]}
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
func (s *server) noteTold(c echo.Context, told notice, trace string) {
	status := c.Response().Status
	if told.status == "" || told.pollID == "" || status < http.StatusOK || status >= http.StatusMultipleChoices {
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
		err = s.Polls.ToldByApp(ctx, in.person, told.pollID, told.status, in.cause)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "notice of the web app not recorded", slog.String("poll", told.pollID), slog.String("trace", trace), slog.Any("error", err))
	}
}
