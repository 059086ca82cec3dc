package calendarsync

import (
	"context"
	"slices"
)

// Watched tells whether a watch channel of a calendar can be counted on: where
// it cannot, Ensure makes one. Google is not asked.
func (w *Watcher) Watched(ctx context.Context, accountID, calendarID string) (bool, error) {
	watches, err := watchesOf(ctx, w.Store, accountID, calendarID)
	return slices.ContainsFunc(watches, w.lives), calendarError(calendarID, "watch channels", err)
}
