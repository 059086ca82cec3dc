package webhooks

import (
	"context"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/fault"
	"questscheduler/internal/signin"
)

// Machines say which machine a token speaks for (signin.Machines). An error is
// Unauthenticated, the same for every token that is not good, or Unavailable.
type Machines interface {
	Verify(ctx context.Context, bearer string) (signin.Machine, error)
}

// OnlyMachines lets those through who bring the OIDC token of a machine that may
// call: Cloud Tasks, Cloud Scheduler, Eventarc. Everybody else is answered 401,
// and nothing else of the request is looked at before. MachineOf tells the
// handler who it is.
//
// What Cloud Tasks and Cloud Scheduler say of themselves in headers proves
// nothing: anybody can send those.
func OnlyMachines(machines Machines) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			machine, err := machineFrom(c, machines)
			if err != nil {
				if fault.Is(err, fault.Unauthenticated) {
					c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="questscheduler"`)
				}
				return err
			}
			c.Set(machineKey, machine)
			return next(c)
		}
	}
}

// machineKey is where a request keeps the machine that it is from.
const machineKey = "machine"

// MachineOf is the machine that a request is from, behind OnlyMachines.
func MachineOf(c echo.Context) signin.Machine {
	machine, _ := c.Get(machineKey).(signin.Machine)
	return machine
}

func machineFrom(c echo.Context, machines Machines) (signin.Machine, error) {
	values := c.Request().Header.Values(echo.HeaderAuthorization)
	if len(values) != 1 {
		values = []string{""} // none, or several of which one may be good
	}
	token, err := signin.Bearer(values[0])
	if err != nil {
		return signin.Machine{}, err
	}
	return machines.Verify(c.Request().Context(), token)
}
