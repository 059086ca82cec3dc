package notify

import (
	"context"
	"maps"
	"slices"
	"time"

	"questscheduler/internal/store"
)

// Kept is how long a notification of a transition is kept.
const Kept = 90 * 24 * time.Hour

var oldNotifications = &store.Query{
	Name: "notifications by type and age", Collection: "notifications", Group: true,
	Filters: []store.Filter{{Path: store.Field("type"), Op: store.In}, {Path: store.Field("createdAt"), Op: store.Less}},
	Order:   []store.Order{{Path: store.Field("createdAt")}},
}

// RemoveOld removes at most limit notifications of transitions older than Kept, of
// all people. It tells how many, and whether more may be left. Notifications of
// the web app stay, and so do those of owners, which keep them from being notified
// again.
func RemoveOld(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error) {
	var types []any
	for _, notice := range slices.Sorted(maps.Keys(texts)) {
		types = append(types, string(notice))
	}
	err = documents.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		removed = 0
		old, err := tx.Query(ctx, oldNotifications.With(types, now.Add(-Kept)).First(limit))
		if err != nil {
			return err
		}
		for _, doc := range old {
			if err := tx.Delete(doc.Path); err != nil {
				return err
			}
		}
		removed = len(old)
		return nil
	})
	return removed, removed == limit, err
}
