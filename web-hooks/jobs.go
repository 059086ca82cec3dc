package webhooks

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/timers"
)

// Jobs are the timers' jobs, asked for by whoever keeps the time (timers.Timers).
// After nil a run of the job follows; NotFound says that there is none.
type Jobs interface {
	HandOver(ctx context.Context, name string) error
}

// JobPaths are where Cloud Scheduler asks for a job, by the job's name.
var JobPaths = map[string][]string{
	timers.Drain:        {"/jobs/" + timers.Drain},
	timers.RenewWatches: {"/jobs/" + timers.RenewWatches, "/admin/renew-expiring-channels"},
	timers.PollFallback: {"/jobs/" + timers.PollFallback},
	timers.Cleanup:      {"/jobs/" + timers.Cleanup},
	timers.Health:       {"/jobs/" + timers.Health},
}

// RegisterJobs adds the routes of JobPaths to e, for the machines that may call
// alone. A run is handed over and not awaited: 202 says that it follows, and 503
// that the queue did not take it. Asking twice is running once more at most,
// which does nothing twice.
func RegisterJobs(e *echo.Echo, machines Machines, jobs Jobs) {
	only := OnlyMachines(machines)
	for name, paths := range JobPaths {
		for _, path := range paths {
			e.POST(path, func(c echo.Context) error {
				if err := jobs.HandOver(c.Request().Context(), name); err != nil {
					return err
				}
				return c.NoContent(http.StatusAccepted)
			}, only)
		}
	}
}
