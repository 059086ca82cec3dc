package webhooks

import (
	"context"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/fault"
	"questscheduler/internal/signin"
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
