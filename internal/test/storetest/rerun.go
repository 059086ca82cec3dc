package storetest

import (
	"context"
	"errors"

	"questscheduler/internal/store"
)

// Rerun wraps a store so that the function of every transaction runs at least
// twice: the first attempt is run to its end and thrown away, as contention
// would have it. A function that does IO, or that keeps something from an
// attempt that did not count, gives itself away.
func Rerun(inner store.Store) store.Store { return &rerun{inner} }

type rerun struct{ store.Store }

var errThrownAway = errors.New("storetest: this attempt is thrown away")

func (r *rerun) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	err := r.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		// Whatever the function says, this attempt does not count.
		_ = fn(ctx, tx)
		return errThrownAway
	})
	if !errors.Is(err, errThrownAway) {
		return err // the store refused to begin, or gave up
	}
	return r.Store.Run(ctx, fn)
}
