// Package webhooks is what machines call. A route here checks the form of a
// request, authenticates it, hands it over and answers; the outbox does the work.
package webhooks

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/calendarsync"
	"questscheduler/fault"
)

// Pushes takes Google's pushes (calendarsync.Watcher). Push calls push.Admit before
// it reads anything, and returns its error. After nil, a sync begins later than the
// push, unless it only announces the channel (state sync) or nobody follows the calendar.
// Unauthenticated: the push is forged. After any other error, no sync was requested.
type Pushes interface {
	Push(ctx context.Context, push calendarsync.Push) error
}

// Guard keeps forged pushes cheap. Both fields are needed.
type Guard struct {
	// Admit applies the rate limit of a push's address, or of its channel if its
	// token was made for that (api.AdmitPush). Its error is the answer.
	Admit func(c echo.Context, channelID string, proven bool) error
	// Log is for refused pushes, which anybody can cause without end (api.Sampled).
	Log *slog.Logger
}

// PushPaths are where Google's pushes arrive: the path of new channels, and those
// of older deployments whose channels still live.
var PushPaths = []string{"/webhooks/google/calendar", "/api/calendarWebhook", "/calendarWebhook"}

const (
	// pushPatience is how long a push may wait for the store. Anybody
	// can send one, and it takes a place while it waits.
	pushPatience = 20 * time.Second
	// retryPush is when to send again what could not be handed over. Google has a
	// backoff of its own.
	retryPush = 5 * time.Second
)

// Register adds the routes of PushPaths to e, whose error handler answers errors by
// their kind and which has set X-Request-Id. A push is answered 200 once a sync is
// handed over, 401 without a proof of its origin, as the guard says if it is not
// admitted, and 503 if the hand-over failed, so that Google sends it again. Its body
// says nothing and is not read.
func Register(e *echo.Echo, pushes Pushes, guard Guard) {
	for _, path := range PushPaths {
		e.POST(path, func(c echo.Context) error {
			push, whole := pushOf(c.Request().Header)
			if !whole { // it does not say which part is wrong
				return fault.New(fault.Unauthenticated, "This push is not one of ours. Check the channel and its token.")
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
				after := cmp.Or(max(fault.RetryAfter(err), 0), retryPush)
				return &fault.Error{Kind: fault.Unavailable, Message: "The push could not be handed over. Send it again.", RetryAfter: after, Err: err}
			}
		})
	}
}

// pushOf reads a push; whole is false if a header is missing, doubled or longer
// than Google sends. Google's channel ids have at most 64 characters and its tokens
// 256; it gives no limit for the others.
func pushOf(header http.Header) (push calendarsync.Push, whole bool) {
	for _, field := range []struct {
		name string
		max  int
		into *string
	}{
		{"X-Goog-Channel-Id", 64, &push.ChannelID},
		{"X-Goog-Channel-Token", 256, &push.Token},
		{"X-Goog-Resource-Id", 256, &push.ResourceID},
		{"X-Goog-Resource-State", 32, &push.State},
	} {
		values := header.Values(field.name)
		if len(values) != 1 || values[0] == "" || len(values[0]) > field.max {
			return calendarsync.Push{}, false
		}
		*field.into = values[0]
	}
	if end, err := http.ParseTime(header.Get("X-Goog-Channel-Expiration")); err == nil { // Google may leave it out
		push.Expiration = end
	}
	return push, true
}
