package documentchanges

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"questscheduler/internal/store"
)

// recordEvery is how often a process records that changes arrive.
const recordEvery = 10 * time.Minute

// activityPath is the record of the last change, closed to clients.
var activityPath = store.Doc("documentHints", "heard")

// RecordedIntake is an Intake that also records that changes arrive, so that it is noticed when they
// stop. All fields are required; safe for concurrent use.
type RecordedIntake struct {
	Intake *Intake
	Store  store.Store
	Log    *slog.Logger

	mu       sync.Mutex
	recorded time.Time
}

// Changed is Intake.Changed. A failure to record is logged only.
func (n *RecordedIntake) Changed(ctx context.Context, pollID, trace string) error {
	if err := n.Intake.Changed(ctx, pollID, trace); err != nil {
		return err
	}
	now := n.Intake.Now()
	if !n.due(now) {
		return nil
	}
	err := n.Store.Run(ctx, func(_ context.Context, tx store.Tx) error {
		return tx.Set(activityPath, map[string]any{"at": store.Instant(now)})
	})
	if err != nil {
		n.Log.WarnContext(ctx, "document change not recorded", "trace", trace, "error", err)
	}
	return nil
}

// due claims the next record, if one is due, whatever becomes of it.
func (n *RecordedIntake) due(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.recorded.IsZero() && now.Before(n.recorded.Add(recordEvery)) {
		return false
	}
	n.recorded = now
	return true
}

// Activity is the stored activity of the sources of document changes.
type Activity struct {
	// ChangedAt is when a change last arrived by the route, to within ten minutes; zero: never.
	ChangedAt time.Time
	// ListensUntil is when the listening instance's lease ends; zero: none listens.
	ListensUntil time.Time
}

// LastActivity reads the stored activity. The errors are the store's.
func LastActivity(ctx context.Context, documents store.Reader) (Activity, error) {
	found, err := documents.GetAll(ctx, []store.Path{activityPath, leasePath})
	if err != nil {
		return Activity{}, err
	}
	return Activity{ChangedAt: store.Fields(found[0].Data).Time("at"), ListensUntil: store.Fields(found[1].Data).Time("until")}, nil
}
