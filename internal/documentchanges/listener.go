package documentchanges

import (
	"context"
	"log/slog"
	"time"

	"questscheduler/internal/store"
)

// The times of a listener.
const (
	// turn is for how long it listens before it makes sure that it is still the
	// one; a connection that died without a word is noticed then at the latest.
	turn = time.Minute
	// lease is for how long it is the one without saying so again.
	lease = turn + 30*time.Second
	// missed is how far back a listener asks for changes that begins: to before
	// the last word of one that died. What came to pass earlier is the sweep's.
	missed = 2 * lease
	// retry is how long it waits while it cannot listen, or another one does.
	retry = 5 * time.Second
)

// Source tells of polls whose documents were written or removed, whoever did it.
type Source interface {
	// Listen tells until ctx ends, which is no error, and goes on from where the
	// last call ended. With a time, it begins anew with what was written after
	// it. What heard refuses is told of again.
	Listen(ctx context.Context, since time.Time, heard func(ctx context.Context, pollIDs []string) error) error
}

// Listener has hints told by a source, in one instance of the program at a time:
// the one that holds the lease, a document in the store. All fields are needed.
type Listener struct {
	Source Source
	Hints  *Hints
	Store  store.Store
	// Instance names this one among all.
	Instance string
	NewTrace func() string
	Wait     func(ctx context.Context, d time.Duration) error
	Log      *slog.Logger
}

// leasePath is where it stands who listens. Closed to clients.
var leasePath = store.Doc("documentHints", "listener")

// Run listens until ctx ends, and lets go of the lease then, so that another
// instance goes on at once. What fails is tried again.
func (l *Listener) Run(ctx context.Context) {
	goesOn := false // from where it was
	for ctx.Err() == nil {
		holds, alone, err := l.claim(ctx)
		// A claim that failed says nothing of who listens: the place stands.
		if err == nil {
			goesOn = goesOn && alone
		}
		if err == nil && holds {
			err = l.listen(ctx, goesOn)
			goesOn = true
		}
		if err == nil && holds {
			continue
		}
		if err != nil && ctx.Err() == nil {
			l.Log.WarnContext(ctx, "changes of documents are not heard of; it is tried again", "error", err)
		}
		if l.Wait(ctx, retry) != nil {
			break
		}
	}
	if err := l.release(context.WithoutCancel(ctx)); err != nil {
		l.Log.WarnContext(ctx, "another instance hears of documents only after a while", "error", err)
	}
}

// listen listens for one turn.
func (l *Listener) listen(ctx context.Context, goesOn bool) error {
	ctx, cancel := context.WithTimeout(ctx, turn)
	defer cancel()
	since := time.Time{}
	if !goesOn {
		since = l.Hints.Now().Add(-missed)
	}
	return l.Source.Listen(ctx, since, func(ctx context.Context, pollIDs []string) error {
		trace := l.NewTrace()
		for _, id := range pollIDs {
			if err := l.Hints.Told(ctx, id, trace); err != nil {
				return err
			}
		}
		return nil
	})
}

// claim takes the lease, or takes it for longer. holds is false where another
// instance has it; alone tells that nobody else had it since this one did, even
// where it lapsed meanwhile: what this one has not heard of, nobody has.
func (l *Listener) claim(ctx context.Context) (holds, alone bool, err error) {
	err = l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		holds, alone = false, false
		now := l.Hints.Now()
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
		return tx.Set(leasePath, map[string]any{"holder": l.Instance, "until": now.Add(lease)})
	})
	return holds, alone, err
}

// release gives the lease back, where this instance has it.
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
