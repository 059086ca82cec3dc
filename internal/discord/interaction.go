// Package discord holds the documents by which people and interactions of Discord are known: who
// is linked to whom, by which codes, and which interactions took effect. The web app's functions
// keep the same collections, so fields are written by name.
package discord

import (
	"context"
	"time"

	"questscheduler/internal/store"
)

// interactionKept is for how long it is recorded that an interaction took effect. Discord's
// token for one lives 15 minutes, and older ones are refused before they have an effect.
const interactionKept = time.Hour

// CodeInteractionDone is of Conflict: an interaction took effect before.
const CodeInteractionDone = "interaction_done"

// InteractionPath is where it is recorded that an interaction took effect.
func InteractionPath(id string) store.Path { return store.Doc("discordInteractionIds", id) }

// EncodeInteraction gives the fields of an interaction that takes effect now.
func EncodeInteraction(now time.Time) map[string]any {
	at := store.Instant(now)
	return map[string]any{"createdAt": at, "completedAt": at, "status": "done", "expiresAt": at.Add(interactionKept)}
}

var (
	expiredInteractions = store.Select("interactions of Discord by their end", "discordInteractionIds", "expiresAt",
		store.Where("expiresAt", store.Less))
	expiredCodes = store.Select("codes for linking by their end", "discordLinkCodes", "expiresAt",
		store.Where("expiresAt", store.Less))
)

// Queries are all queries of this package, for opening a store.
var Queries = []*store.Query{expiredInteractions, expiredCodes}

// RemoveExpired removes at most limit records of interactions, or codes, that expired, and returns
// how many it removed and whether more may be left. It may be repeated.
func RemoveExpired(ctx context.Context, documents store.Store, now time.Time, limit int) (removed int, more bool, err error) {
	for _, query := range Queries {
		found, err := store.DeletePage(ctx, documents, query.With(store.Instant(now)).First(limit), nil)
		removed, more = removed+found, more || found == limit
		if err != nil {
			return removed, more, err
		}
	}
	return removed, more, nil
}
