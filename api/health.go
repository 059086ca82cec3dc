package api

import (
	"context"
	"net/http"

	"questscheduler/internal/fault"
)

// probes are the routes of healthRoutes, which no rate limits: load balancers repeat
// them from one address.
var probes = []string{"/healthz", "/health", "/readyz"}

// healthRoutes tell load balancers whether the server lives and can work.
func (s *server) healthRoutes() {
	const tag = "operation"
	route(s, operation{
		id: "health", method: http.MethodGet, path: "/healthz", tag: tag,
		audience: everybody, summary: "The process lives",
	}, s.health)
	route(s, operation{
		id: "health-alias", method: http.MethodGet, path: "/health", tag: tag,
		audience: everybody, summary: "The same as /healthz",
	}, s.health)
	route(s, operation{
		id: "ready", method: http.MethodGet, path: "/readyz", tag: tag,
		audience: everybody, summary: "The server can work",
	}, s.ready)
}

type healthAnswer struct {
	Status string `json:"status" enum:"ok"`
}

func (s *server) health(context.Context, caller, *struct{}) (healthAnswer, error) {
	return healthAnswer{Status: "ok"}, nil
}

func (s *server) ready(ctx context.Context, _ caller, _ *struct{}) (healthAnswer, error) {
	if err := s.Ready(ctx); err != nil {
		return healthAnswer{}, fault.Wrap(fault.Unavailable, err, "The server cannot work now. Its log says why.")
	}
	return healthAnswer{Status: "ok"}, nil
}
