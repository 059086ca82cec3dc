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

// Tasks runs a task that Cloud Tasks delivers (cloudtasks.Queue). The status is 200
// if the task has ended, and otherwise 429 or 503 with the time until the next
// delivery.
type Tasks interface {
	Deliver(ctx context.Context, kind string, header http.Header, body []byte) (status int, retryAfter time.Duration)
}

// TaskPath is where Cloud Tasks delivers tasks.
const TaskPath = "/tasks/:kind"

// taskPatience is how long an answer may take: the run of a handler, the wait for
// its turn, and the writes after it. Other requests have less.
const taskPatience = queue.RunTimeout + 30*time.Second

// RegisterTasks adds the route to e, for the machine that Cloud Tasks calls as. A
// task that cannot succeed is kept as a dead letter and answered 200, since Cloud
// Tasks retries after any other answer.
func RegisterTasks(e *echo.Echo, machines Machines, tasks Tasks) {
	e.POST(TaskPath, func(c echo.Context) error {
		request := c.Request()
		err := http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(taskPatience))
		if err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		body, err := io.ReadAll(http.MaxBytesReader(c.Response(), request.Body, queue.MaxPayload))
		if errors.As(err, new(*http.MaxBytesError)) {
			return fault.New(fault.TooLarge, "No task of this server is that large.")
		}
		if err != nil {
			return fault.Wrap(fault.Unavailable, err, "The task did not arrive whole. Send it again.")
		}
		status, after := tasks.Deliver(request.Context(), c.Param("kind"), request.Header, body)
		if status != http.StatusOK {
			c.Response().Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(after.Seconds())))))
		}
		return c.NoContent(status)
	}, OnlyMachines(machines))
}
