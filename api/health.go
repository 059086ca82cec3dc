package api

import (
	"context"

	"questscheduler/fault"
)

// probes are the routes of healthRoutes, which no rate limits: load balancers repeat
// them from one address.
var probes = []string{"/healthz", "/health", "/readyz"}

// healthRoutes tell load balancers whether the server lives and can work.
func (s *server) healthRoutes() {
	route(s, "GET /healthz", "health", everybody, "The process is alive", s.health)
	route(s, "GET /health", "health-alias", everybody, "The same as /healthz", s.health)
	route(s, "GET /readyz", "ready", everybody, "The server can work", s.ready)
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
