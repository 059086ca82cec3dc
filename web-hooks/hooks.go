// Package webhooks is what machines call: Google's pushes. A route here checks
// the form, has the push authenticated and handed over
// (calendarsync.Watcher.Push), and answers; the work is done by a task.
package webhooks

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/calendarsync"
	"questscheduler/internal/fault"
)

// Pushes is where Google's pushes go (calendarsync.Watcher). It calls push.Admit
// before it reads anything, and returns its error. After nil a look follows that
// begins later than the push; Unauthenticated says that the push is forged; after
// any other error nothing was handed over.
type Pushes interface {
	Push(ctx context.Context, push calendarsync.Push) error
}

// Guard keeps forged pushes from costing anything. Both fields are needed.
type Guard struct {
	// Admit holds a push to the rate of its address, and one whose token was made for
	// its channel to the rate of that channel (api.AdmitPush). Its error is the answer.
	Admit func(c echo.Context, channelID string, proven bool) error
	// Log is for the lines of refused pushes, which anybody can cause without end
	// (api.Sampled).
	Log *slog.Logger
}

// PushPaths are where Google's pushes arrive: the path that new channels are
// given, and those of older deployments whose channels still live.
var PushPaths = []string{"/webhooks/google/calendar", "/api/calendarWebhook", "/calendarWebhook"}

// Register adds the routes to e. What they return as errors has a kind of
// package fault; e's error handler makes the answer of it, and e has named the
// request in the header X-Request-Id of the answer by then.
func Register(e *echo.Echo, pushes Pushes, guard Guard) {
	for _, path := range PushPaths {
		e.POST(path, receivePush(pushes, guard))
	}
}

// The headers of a push, and how long each may be: Google's channel ids have at
// most 64 characters and its tokens 256; the others have no such limit.
const (
	headerChannel  = "X-Goog-Channel-Id"
	headerToken    = "X-Goog-Channel-Token"
	headerResource = "X-Goog-Resource-Id"
	headerState    = "X-Goog-Resource-State"
	headerEnd      = "X-Goog-Channel-Expiration" // may be missing

	maxChannel  = 64
	maxToken    = 256
	maxResource = 256
	maxState    = 32
)

// pushPatience is how long a push may wait for the store and the queue. Anybody can
// send what looks like one, and as long as it waits it takes somebody's place.
const pushPatience = 20 * time.Second

// retryPush is when Google is asked to send a push again that could not be
// handed over. It has a backoff of its own.
const retryPush = 5 * time.Second

// receivePush answers 200 once a look is handed over, 401 to a push that does
// not prove where it comes from, what the guard says to one that is not admitted,
// and 503 where the hand-over failed, so that Google sends it again. The body says
// nothing and is not read.
func receivePush(pushes Pushes, guard Guard) echo.HandlerFunc {
	return func(c echo.Context) error {
		push, whole := pushOf(c.Request().Header)
		if !whole {
			return errForged()
		}
		push.Trace = c.Response().Header().Get(echo.HeaderXRequestID)
		var refused error
		push.Admit = func(proven bool) error {
			refused = guard.Admit(c, push.ChannelID, proven)
			return refused
		}
		ctx, cancel := context.WithTimeout(c.Request().Context(), pushPatience)
		defer cancel()
		switch err := pushes.Push(ctx, push); {
		case err == nil:
			return c.NoContent(http.StatusOK)
		case refused != nil:
			return refused
		case fault.Is(err, fault.Unauthenticated):
			guard.Log.WarnContext(ctx, "push refused", "trace", push.Trace, "error", err)
			return err
		default:
			return notHandedOver(err)
		}
	}
}

// errForged says no more than that: which part did not fit is nobody's
// business.
func errForged() error {
	return fault.New(fault.Unauthenticated, "This push is not one of ours. Check the channel and its token.")
}

func notHandedOver(err error) error {
	after := fault.RetryAfter(err)
	if after <= 0 {
		after = retryPush
	}
	return &fault.Error{
		Kind: fault.Unavailable, Message: "The push could not be handed over. Send it again.", RetryAfter: after, Err: err,
	}
}

// pushOf reads a push; whole is false where a header is missing, doubled or
// longer than Google sends.
func pushOf(header http.Header) (push calendarsync.Push, whole bool) {
	for _, field := range []struct {
		name string
		max  int
		into *string
	}{
		{headerChannel, maxChannel, &push.ChannelID},
		{headerToken, maxToken, &push.Token},
		{headerResource, maxResource, &push.ResourceID},
		{headerState, maxState, &push.State},
	} {
		values := header.Values(field.name)
		if len(values) != 1 || values[0] == "" || len(values[0]) > field.max {
			return calendarsync.Push{}, false
		}
		*field.into = values[0]
	}
	if end, err := http.ParseTime(header.Get(headerEnd)); err == nil {
		push.Expiration = end
	}
	return push, true
}
