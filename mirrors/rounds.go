package mirrors

import (
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

const (
	// mostEqual bounds how many events that begin at one time are compared with a new one.
	mostEqual = 100
	// followsWithin is how long after the last change of the earlier events one that they hold back
	// is planned again: a program that copies copies has changed its own by then, or deleted it.
	followsWithin = 30 * time.Minute
)

// counted is an event that was not known, with its CopyOf and DuplicateOf. An invitation, a
// poll's session and what was made over REST are nobody's copy. Events that storeOrigins stores are not either: those were
// there before most mirrors.
func counted(ctx context.Context, tx store.Reader, of situation, o observation, event mirror.Event) (mirror.Event, error) {
	if !o.event.Organized || mayBePolls(o) || event.Source == mirror.SourceAPI || !of.MayLoop(event) {
		return event, nil
	}
	var err error
	if mark := o.event.Private[plan.MarkMirror]; mark != "" {
		event.DuplicateOf, err = duplicateOf(ctx, tx, event.OwnerID, mark)
		return event, err
	}
	event.CopyOf, err = answered(ctx, tx, event)
	return event, err
}

// duplicateOf is the Event.DuplicateOf of an event with the marks of a person's mirror; empty if
// the mirror is not known.
func duplicateOf(ctx context.Context, tx store.Reader, ownerID, mirrorID string) ([]string, error) {
	m, known, err := mirror.Load(ctx, tx, mirrorID)
	if err != nil || !known || m.OwnerID != ownerID {
		return nil, err
	}
	shown, err := mirror.LoadEvent(ctx, tx, m.CanonicalID)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return plan.Behind(shown.DuplicateOf, shown.ID), err
}

func answered(ctx context.Context, tx store.Reader, event mirror.Event) ([]string, error) {
	others, err := mirror.BeginningAt(ctx, tx, event.OwnerID, event.From, mostEqual)
	if err != nil {
		return nil, err
	}
	others = slices.DeleteFunc(others, func(e mirror.Event) bool { return !e.Until.Equal(event.Until) })
	var ids []string
	for _, other := range others {
		ids = append(ids, other.ID)
	}
	shown, err := mirror.OfEvents(ctx, tx, event.OwnerID, ids)
	return plan.CopyOf(event, others, shown), err
}

// loadEarlier reads what may hold back the events.
func (of *situation) loadEarlier(ctx context.Context, reader store.Reader) error {
	var ids []string
	for _, event := range of.Events {
		ids = append(ids, plan.MayHoldBack(event)...)
	}
	slices.Sort(ids)
	earlier, err := mirror.LoadEvents(ctx, reader, slices.Compact(ids))
	if err != nil {
		return err
	}
	var uids []string
	for _, event := range earlier {
		if len(event.Recurrence) > 0 && event.ICalUID != "" {
			uids = append(uids, event.ICalUID)
		}
	}
	slices.Sort(uids)
	exceptions, err := mirror.OfUIDs(ctx, reader, of.Owner, slices.Compact(uids))
	of.Earlier = append(earlier, slices.DeleteFunc(exceptions, func(e mirror.Event) bool { return e.SeriesID == "" })...)
	return err
}

// markEarlier notes in the events that may hold back a new one that they do.
func (w *write) markEarlier(of *situation, event mirror.Event) {
	ids := plan.MayHoldBack(event)
	for _, earlier := range of.Earlier {
		if slices.Contains(ids, earlier.ID) && !earlier.HoldsBack && of.follows(earlier) {
			earlier.HoldsBack = true
			w.alsoWrite(of, earlier)
		}
	}
}

// planHeldBack has those events planned again that a change of one, or of an exception of it, may
// release or hold back.
func (w *write) planHeldBack(ctx context.Context, tx store.Reader, of *situation, was, next mirror.Event) error {
	if series, known := of.seriesOf(next); known {
		was, next = series, series
	}
	if !next.HoldsBack {
		return nil
	}
	begins := []time.Time{was.From}
	if !next.From.Equal(was.From) {
		begins = append(begins, next.From)
	}
	at := w.s.now().Add(followsWithin)
	for _, from := range begins {
		equal, err := mirror.BeginningAt(ctx, tx, next.OwnerID, from, mostEqual)
		if err != nil {
			return err
		}
		for _, event := range equal {
			if slices.Contains(plan.MayHoldBack(event), next.ID) {
				event.PlanAt, event.PlanTrace = at, w.cause.Trace
				w.alsoWrite(of, event)
			}
		}
	}
	return nil
}

// alsoWrite adds an event of another iCalUID than the situation's, whose events decide writes.
func (w *write) alsoWrite(of *situation, event mirror.Event) {
	if !slices.ContainsFunc(of.Events, func(e mirror.Event) bool { return e.ID == event.ID }) {
		w.events = append(w.events, event)
	}
}
