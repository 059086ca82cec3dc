package documentchanges

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

const (
	// turn is how often the lease is renewed while it listens.
	turn  = time.Minute
	lease = turn + 30*time.Second
	// missed is how far back a new listener starts: before the last renewal of one that
	// died. The sweep covers earlier changes.
	missed = 2 * lease
	// retry is the wait while another instance listens or listening fails.
	retry = 5 * time.Second
)

// Source reports polls whose documents were written or removed, by anybody.
type Source interface {
	// Listen reports changes until ctx ends, which is no error, and continues where the
	// last call ended; with a time, it starts anew with what was written after it.
	// Changes that heard refuses are reported again.
	Listen(ctx context.Context, since time.Time, heard func(ctx context.Context, pollIDs []string) error) error
}

// Listener passes a source's changes on, in the one instance that holds a lease in the
// store. All fields are required.
type Listener struct {
	Source   Source
	Intake   *Intake
	Store    store.Store
	Instance string
	NewTrace func() string
	Wait     func(ctx context.Context, d time.Duration) error
	Log      *slog.Logger
}

// leasePath is the lease, closed to clients.
var leasePath = store.Doc("documentHints", "listener")

// Run listens until ctx ends, then releases the lease so that another instance takes over
// at once. It retries failures.
func (l *Listener) Run(ctx context.Context) {
	resumes := false // where it stopped
	for ctx.Err() == nil {
		holds, alone, err := l.claim(ctx)
		// A failed claim does not show who listens; keep the position.
		if err == nil {
			resumes = resumes && alone
		}
		if err == nil && holds {
			err = l.listen(ctx, resumes)
			resumes = true
		}
		if err == nil && holds {
			continue
		}
		if err != nil && ctx.Err() == nil {
			l.Log.WarnContext(ctx, "not listening for document changes; retrying", "error", err)
		}
		if l.Wait(ctx, retry) != nil {
			break
		}
	}
	if err := l.release(context.WithoutCancel(ctx)); err != nil {
		l.Log.WarnContext(ctx, "listener lease not released", "error", err)
	}
}

// listen listens until it fails, or the lease is not renewed. It has no other end, since a
// first listing may take longer than any turn.
func (l *Listener) listen(ctx context.Context, resumes bool) error {
	since := time.Time{}
	if !resumes {
		since = l.Intake.Now().Add(-missed)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.keep(ctx) })
	group.Go(func() error { return l.Source.Listen(ctx, since, l.heard) })
	return group.Wait()
}

func (l *Listener) heard(ctx context.Context, pollIDs []string) error {
	trace := l.NewTrace()
	for _, id := range pollIDs {
		if err := l.Intake.Changed(ctx, id, trace); err != nil {
			return err
		}
	}
	return nil
}

// keep renews the lease each turn until ctx ends. An error means that it may be over soon,
// or that another instance has had it.
func (l *Listener) keep(ctx context.Context) error {
	for l.Wait(ctx, turn) == nil {
		if err := l.renew(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// renew renews a lease that nobody else has had. It leaves any other to claim, which shows
// that changes may have been missed.
func (l *Listener) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, lease-turn)
	defer cancel()
	return l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		document, err := tx.Get(ctx, leasePath)
		if err != nil {
			return err
		}
		if store.Fields(document.Data).String("holder") != l.Instance {
			return fault.New(fault.Conflict, "Another instance has had the listener's lease.")
		}
		return l.hold(tx)
	})
}

// hold writes the lease.
func (l *Listener) hold(tx store.Tx) error {
	return tx.Set(leasePath, map[string]any{"holder": l.Instance, "until": l.Intake.Now().Add(lease)})
}

// claim takes or renews the lease. holds is false if another instance has it; alone means
// that nobody else has had it since this instance did, so that no change was missed.
func (l *Listener) claim(ctx context.Context) (holds, alone bool, err error) {
	err = l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		holds, alone = false, false
		now := l.Intake.Now()
		document, err := tx.Get(ctx, leasePath)
		if err != nil {
			return err
		}
		f := store.Fields(document.Data)
		mine, stands := f.String("holder") == l.Instance, f.Time("until").After(now)
		if stands && !mine {
			return nil
		}
		holds, alone = true, mine
		return l.hold(tx)
	})
	return holds, alone, err
}

func (l *Listener) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, retry)
	defer cancel()
	return l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		document, err := tx.Get(ctx, leasePath)
		if err != nil || store.Fields(document.Data).String("holder") != l.Instance {
			return err
		}
		return tx.Delete(leasePath)
	})
}
