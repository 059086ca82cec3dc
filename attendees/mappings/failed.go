package mappings

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// failed stores that a load failed. It returns the state then, and the failure.
func (m *Service) failed(ctx context.Context, cause scheduler.Cause, failure error) (state Record, err error) {
	if ctx.Err() != nil {
		return state, failure
	}
	at := m.now()
	err = m.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		now, err := LoadRecord(ctx, tx)
		if err != nil {
			return err
		}
		state = now
		state.TriedAt, state.Error = at, loadSentence(failure)
		state.Failures++
		return write(tx, now, state, nil)
	})
	m.Log.WarnContext(ctx, "mappings not loaded; the last ones stay in use", "source", m.Source.String(), "trace", cause.Trace,
		"error", failure)
	m.Meter.Count(Load{LoadFailed})
	if err != nil {
		return Record{}, err
	}
	return state, &loadError{failure}
}

// loadError is a failure of the source that was stored.
type loadError struct{ error }

func (e *loadError) Unwrap() error { return e.error }

// loadSentence is what a person may read of an error.
func loadSentence(err error) string {
	return fault.MessageOf(err, "The mappings could not be read; the log says why.")
}

// refused gives a failed load the kind that the caller can act on: the request was right.
func refused(err error) error {
	switch fault.KindOf(err) {
	case fault.Unavailable, fault.RateLimited, fault.Internal:
		return err
	default:
		return fault.Wrap(fault.Conflict, err, "The mappings were not loaded, and stay as they were. "+loadSentence(err))
	}
}
