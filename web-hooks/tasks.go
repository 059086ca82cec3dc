package webhooks

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

// Tasks are the queue's tasks, delivered by Cloud Tasks (cloudtasks.Queue). The
// status is 200 where a task has ended, and otherwise 429 or 503 with how long
// after it is to come again.
type Tasks interface {
	Deliver(ctx context.Context, kind string, header http.Header, body []byte) (status int, retryAfter time.Duration)
}

// TaskPath is where Cloud Tasks delivers tasks.
const TaskPath = "/tasks/:kind"

// taskPatience is how long an answer may take: a handler's time, the wait for its
// turn, and what is to be written behind it.
const taskPatience = queue.RunTimeout + 30*time.Second

// RegisterTasks adds the route to e, for the machine alone that Cloud Tasks calls
// as. A task that cannot come again with more luck is kept as a dead letter and
// answered 200, since Cloud Tasks tries whatever else it is answered for ever.
func RegisterTasks(e *echo.Echo, machines Machines, tasks Tasks) {
	e.POST(TaskPath, func(c echo.Context) error {
		request := c.Request()
		// Handlers take longer than other requests are given.
		err := http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(taskPatience))
		if err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		body, err := io.ReadAll(http.MaxBytesReader(c.Response(), request.Body, queue.MaxPayload))
		if err != nil {
			if errors.As(err, new(*http.MaxBytesError)) {
				return fault.New(fault.TooLarge, "No task of this server is that large.")
			}
			return fault.Wrap(fault.Unavailable, err, "The task did not arrive whole. Send it again.")
		}
		status, after := tasks.Deliver(request.Context(), c.Param("kind"), request.Header, body)
		if status != http.StatusOK {
			c.Response().Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(after.Seconds())))))
		}
		return c.NoContent(status)
	}, OnlyMachines(machines))
}
