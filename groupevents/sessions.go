package groupevents

import (
	"context"

	"questscheduler/scheduler"
)

func (s *Service) followSession(ctx context.Context, pollID string, cause scheduler.Cause) error { return nil }
func (s *Service) followSessions(ctx context.Context, w work, cause scheduler.Cause) error { return nil }
