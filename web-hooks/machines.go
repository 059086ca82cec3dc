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

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/signin"
	"questscheduler/web-hooks/timers"
)

// Machines verify machines' tokens (signin.Machines). An error is Unauthenticated,
// the same for every invalid token, or Unavailable.
type Machines interface {
	Verify(ctx context.Context, bearer string) (signin.Machine, error)
}

const machineKey = "machine"

// OnlyMachines admits requests with the OIDC token of a machine that may call:
// Cloud Tasks, Cloud Scheduler, Eventarc. Any other is answered 401 before anything
// else of it is read. Headers by which Cloud Tasks and Cloud Scheduler name
// themselves prove nothing, since anybody can send them.
func OnlyMachines(machines Machines) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			header := "" // of several, one may be valid
			if values := c.Request().Header.Values(echo.HeaderAuthorization); len(values) == 1 {
				header = values[0]
			}
			token, err := signin.Bearer(header)
			var machine signin.Machine
			if err == nil {
				machine, err = machines.Verify(c.Request().Context(), token)
			}
			if fault.Is(err, fault.Unauthenticated) {
				c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="questscheduler"`)
			}
			if err != nil {
				return err
			}
			c.Set(machineKey, machine)
			return next(c)
		}
	}
}

// MachineOf is the machine that sent a request; the zero one outside OnlyMachines.
func MachineOf(c echo.Context) signin.Machine {
	machine, _ := c.Get(machineKey).(signin.Machine)
	return machine
}

// Jobs hands over a run of a timer's job (timers.Timers). NotFound: there is no job
// of that name.
type Jobs interface {
	HandOver(ctx context.Context, name string) error
}

// JobPaths are where Cloud Scheduler requests a job, by the job's name.
var JobPaths = map[string][]string{
	timers.Drain:            {"/jobs/" + timers.Drain},
	timers.RenewWatches:     {"/jobs/" + timers.RenewWatches, "/admin/renew-expiring-channels"},
	timers.PollFallback:     {"/jobs/" + timers.PollFallback},
	timers.PlanUpcoming:     {"/jobs/" + timers.PlanUpcoming},
	timers.ReconcileMirrors: {"/jobs/" + timers.ReconcileMirrors},
	timers.RefreshMappings:  {"/jobs/" + timers.RefreshMappings},
	timers.Cleanup:          {"/jobs/" + timers.Cleanup},
	timers.Health:           {"/jobs/" + timers.Health},
}

// RegisterJobs adds the routes of JobPaths to e, for machines alone. 202: a run
// follows; 503: it was not recorded. Two requests make two runs at most, which
// is harmless.
func RegisterJobs(e *echo.Echo, machines Machines, jobs Jobs) {
	for name, paths := range JobPaths {
		for _, path := range paths {
			e.POST(path, func(c echo.Context) error {
				if err := jobs.HandOver(c.Request().Context(), name); err != nil {
					return err
				}
				return c.NoContent(http.StatusAccepted)
			}, OnlyMachines(machines))
		}
	}
}

// Tasks runs a task that Cloud Tasks delivers (cloudtasks.Waker). The status is 200
// if the task has ended, and otherwise 429 or 503 with the time until the next
// delivery.
type Tasks interface {
	Deliver(ctx context.Context, kind string, header http.Header, body []byte) (status int, retryAfter time.Duration)
}

// TaskPath is where Cloud Tasks delivers tasks.
const TaskPath = "/tasks/:kind"

// maxTask is the largest body of a task, in bytes: the longest id of a document.
const maxTask = 1500

// taskPatience is how long an answer may take: the run of a handler, the wait for
// its turn, and the writes after it. Other requests have less.
const taskPatience = outbox.LongestRun + 30*time.Second

// RegisterTasks adds the route to e, for the machine that Cloud Tasks calls as. Work that fails
// is due again by its document, and its task is answered 200: Cloud Tasks repeats a task only
// where the store did not answer.
func RegisterTasks(e *echo.Echo, machines Machines, tasks Tasks) {
	e.POST(TaskPath, func(c echo.Context) error {
		request := c.Request()
		err := http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(taskPatience))
		if err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		body, err := io.ReadAll(http.MaxBytesReader(c.Response(), request.Body, maxTask))
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
