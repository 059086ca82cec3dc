package mirrors

import (
	"context"
	"slices"

	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

// mostEqual bounds how many events that begin at one time are compared with a new one.
const mostEqual = 100

// rounds is the Event.Rounds of an event that was not known. Events that storeOrigins stores
// have none: those were there before most mirrors.
func rounds(ctx context.Context, tx store.Reader, of situation, event mirror.Event) (int64, error) {
	if !of.MayLoop(event) {
		return 0, nil
	}
	others, err := mirror.BeginningAt(ctx, tx, event.OwnerID, event.From, mostEqual)
	if err != nil {
		return 0, err
	}
	others = slices.DeleteFunc(others, func(e mirror.Event) bool { return !e.Until.Equal(event.Until) })
	var ids []string
	for _, other := range others {
		ids = append(ids, other.ID)
	}
	shown, err := mirror.OfEvents(ctx, tx, event.OwnerID, ids)
	return plan.Rounds(event, others, shown), err
}
