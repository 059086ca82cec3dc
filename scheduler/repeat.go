package scheduler

import (
	"context"
	"errors"

	"questscheduler/internal/store"
)

// commitTries is how often a transaction is run whose commits are not answered,
// before its caller hears of it.
const commitTries = 3

// runRepeatable runs a transaction again while its commit is not answered and may have taken
// place. fn has to find that out by its reads, and then change nothing.
func (s *Service) runRepeatable(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	var err error
	for range commitTries {
		err = s.Store.Run(ctx, fn)
		if !errors.Is(err, store.ErrUnanswered) || ctx.Err() != nil {
			return err
		}
	}
	return err
}
