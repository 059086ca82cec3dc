package webhooks

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/timers"
)

// Jobs hands over a run of a timer's job (timers.Timers). NotFound: there is no job
// of that name.
type Jobs interface {
	HandOver(ctx context.Context, name string) error
}

// JobPaths are where Cloud Scheduler requests a job, by the job's name.
var JobPaths = map[string][]string{
	timers.Drain:        {"/jobs/" + timers.Drain},
	timers.RenewWatches: {"/jobs/" + timers.RenewWatches, "/admin/renew-expiring-channels"},
	timers.PollFallback: {"/jobs/" + timers.PollFallback},
	timers.Cleanup:      {"/jobs/" + timers.Cleanup},
	timers.Health:       {"/jobs/" + timers.Health},
}

// RegisterJobs adds the routes of JobPaths to e, for machines alone. 202: a run
// follows; 503: the queue did not take it. Two requests make two runs at most, which
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
