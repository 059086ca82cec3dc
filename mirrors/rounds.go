package mirrors

import (
	"context"
	"slices"

	"questscheduler/internal/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

// mostEqual bounds how many events that begin at one time are compared with a new one.
const mostEqual = 100

// counted is an event that was not known, with its Rounds and Duplicates. An invitation and a
// poll's session are nobody's copy. Events that storeOrigins stores count nothing: those were
// there before most mirrors.
func counted(ctx context.Context, tx store.Reader, of situation, o observation, event mirror.Event) (mirror.Event, error) {
	if !o.event.Organized || mayBePolls(o) || !of.MayLoop(event) {
		return event, nil
	}
	var err error
	if mark := o.event.Private[plan.MarkMirror]; mark != "" {
		event.Duplicates, err = duplicates(ctx, tx, event.OwnerID, mark)
		return event, err
	}
	event.Rounds, err = rounds(ctx, tx, event)
	return event, err
}

// duplicates is the Event.Duplicates of an event with the marks of a person's mirror; 0 if the
// mirror is not known.
func duplicates(ctx context.Context, tx store.Reader, ownerID, mirrorID string) (int64, error) {
	m, known, err := mirror.Load(ctx, tx, mirrorID)
	if err != nil || !known || m.OwnerID != ownerID {
		return 0, err
	}
	shown, err := mirror.LoadEvent(ctx, tx, m.CanonicalID)
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return shown.Duplicates + 1, err
}

func rounds(ctx context.Context, tx store.Reader, event mirror.Event) (int64, error) {
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
