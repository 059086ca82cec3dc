package documentchanges

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"questscheduler/internal/store"
)

// notedEvery is how long one process writes nothing again after it wrote down
// that hints come: a burst of them costs one write.
const notedEvery = 10 * time.Minute

// heardPath is where it stands when a hint last came. Closed to clients.
var heardPath = store.Doc("documentHints", "heard")

// Noted takes hints in as Hints does, and writes down that they come, so that it
// is seen where they do not. All fields are needed; it is safe for concurrent use.
type Noted struct {
	Hints *Hints
	Store store.Store
	Log   *slog.Logger

	mu    sync.Mutex
	noted time.Time
}

// Told is Hints.Told. That nothing could be written down is logged, and no error:
// the hint was handed over.
func (n *Noted) Told(ctx context.Context, pollID, trace string) error {
	if err := n.Hints.Told(ctx, pollID, trace); err != nil {
		return err
	}
	now := n.Hints.Now()
	if !n.due(now) {
		return nil
	}
	err := n.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Set(heardPath, map[string]any{"at": store.Instant(now)})
	})
	if err != nil {
		n.Log.WarnContext(ctx, "it is not written down that a hint came", "trace", trace, "error", err)
	}
	return nil
}

// due tells whether it is to be written down that a hint came, and has the next
// ones wait, whatever becomes of that.
func (n *Noted) due(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.noted.IsZero() && now.Before(n.noted.Add(notedEvery)) {
		return false
	}
	n.noted = now
	return true
}

// Heard is what is stored of where hints come from.
type Heard struct {
	// At is when one last came by the route, to within ten minutes; zero: none
	// ever did.
	At time.Time
	// ListensUntil is until when an instance that listens has the lease; zero:
	// none does.
	ListensUntil time.Time
}

// LastHeard reads what is stored of where hints come from. The errors are the
// store's.
func LastHeard(ctx context.Context, documents store.Reader) (Heard, error) {
	found, err := documents.GetAll(ctx, []store.Path{heardPath, leasePath})
	if err != nil {
		return Heard{}, err
	}
	return Heard{At: store.Fields(found[0].Data).Time("at"), ListensUntil: store.Fields(found[1].Data).Time("until")}, nil
}
