package mirrors

import (
	"context"
	"slices"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

// strayEvent is the canonical id of strays: no canonical event has it.
const strayEvent = "evt_stray"

// whose says whose an observed event is, with the documents that name it or its series. Only
// an event with an id like a mirror's costs reads.
func (s *Service) whose(ctx context.Context, reader store.Reader, o observation) (plan.Class, mirror.Naming, error) {
	if !plan.MayBeOurs(o.event) {
		return plan.Ordinary, mirror.Naming{}, nil
	}
	naming, err := mirror.NamingOf(ctx, reader, o.event.ID, o.event.InstanceOf)
	return plan.Classify(o.event, o.calendar.CalendarID, s.Installation, naming), naming, err
}

// observeMirror applies an observation of an event that documents name. It is about the
// mirror of the observing account alone: what another account's mirror has in a shared
// calendar, its own account's observations decide.
func (s *Service) observeMirror(ctx context.Context, tx store.Reader, o observation, naming mirror.Naming, w *write) error {
	m, ok := mirrorOf(o, naming, o.event.ID)
	if !ok {
		return s.observeInstance(ctx, tx, o, naming, w)
	}
	next, verdict := plan.Observed(m, o.event, s.now())
	if next.Generation == m.Generation && verdict != plan.LeftDeleted {
		w.observed(m, next, verdict)
		return nil
	}
	of, err := s.situation(ctx, tx, m.OwnerID, m.ICalUID)
	if err != nil {
		return err
	}
	w.replaced(&of, m, next, verdict)
	return nil
}

// observeInstance applies an observation of an instance of a mirror's series whose id no
// mirror has.
func (s *Service) observeInstance(ctx context.Context, tx store.Reader, o observation, naming mirror.Naming, w *write) error {
	series, ok := mirrorOf(o, naming, o.event.InstanceOf)
	if !ok {
		return nil
	}
	of, err := s.situation(ctx, tx, series.OwnerID, series.ICalUID)
	if err != nil {
		return err
	}
	next, verdict := plan.ObservedInstance(of.Situation, series, o.event)
	i := slices.IndexFunc(of.Mirrors, func(m mirror.Mirror) bool { return m.ID == next.ID })
	if i < 0 {
		return nil
	}
	w.replaced(&of, of.Mirrors[i], next, verdict)
	return nil
}

// mirrorOf is the mirror of the observing account whose event in the calendar has an id.
func mirrorOf(o observation, naming mirror.Naming, eventID string) (m mirror.Mirror, ok bool) {
	i := slices.IndexFunc(naming.Mirrors, func(m mirror.Mirror) bool {
		return eventID != "" && m.EventID == eventID && m.TargetAccountID == o.calendar.AccountID && m.TargetCalendarID == o.calendar.CalendarID
	})
	if i < 0 {
		return mirror.Mirror{}, false
	}
	return naming.Mirrors[i], true
}

// observed adds a mirror after an observation, if that changed it.
func (w *write) observed(was, next mirror.Mirror, verdict plan.Verdict) {
	w.verdicts = append(w.verdicts, verdict)
	if same(was, next) {
		return
	}
	if step := stepOf(verdict); step != "" {
		w.record(mirror.StepEntry(step, was, next, string(verdict)))
	}
	w.put(next)
}

// replaced is observed for a mirror whose event is replaced: the mirrors of its exceptions
// name instances of an event that is gone, so all are planned again.
func (w *write) replaced(of *situation, was, next mirror.Mirror, verdict plan.Verdict) {
	w.observed(was, next, verdict)
	if same(was, next) {
		return
	}
	of.putMirror(next)
	w.decide(of)
}

func stepOf(verdict plan.Verdict) mirror.Step {
	switch verdict {
	case plan.Drift, plan.GaveUp:
		return mirror.StepDrift
	case plan.Recreated, plan.LeftDeleted:
		return mirror.StepRemoved
	default:
		return ""
	}
}

// deleteStray has the writer delete an event of ours that no document names: by a mirror of
// no event, which goes with it.
func (s *Service) deleteStray(ctx context.Context, tx store.Reader, o observation, w *write) error {
	if !plan.DeletesStray(o.event, s.Installation, plan.Orphan) || endedLongAgo(o.event, s.now()) {
		return nil
	}
	id := mirror.IDOf(mirror.OriginKey(o.calendar.AccountID, o.calendar.CalendarID, o.event.ID), strayEvent)
	if _, known, err := mirror.Load(ctx, tx, id); err != nil || known {
		return err
	}
	now := s.now()
	m := stray(o.event, mirror.Mirror{
		ID: id, OwnerID: o.calendar.OwnerID, TargetAccountID: o.calendar.AccountID, TargetCalendarID: o.calendar.CalendarID,
		Due: now, CreatedAt: now, UpdatedAt: now,
	})
	w.record(mirror.StepEntry(mirror.StepStray, mirror.Mirror{}, m, "no document names it"))
	w.put(m)
	return nil
}

func stray(event gcal.Event, m mirror.Mirror) mirror.Mirror {
	m.CanonicalID, m.State, m.Target, m.Detail = strayEvent, mirror.Deleting, mirror.PrimaryTarget, mirror.Busy
	m.EventID, m.ETag, m.AnsweredAt, m.Generation = event.ID, event.ETag, event.Updated, 1
	return m
}

// strayToDelete returns the etag that a stray was observed with, and whether another document
// names it by now; "" and false for a mirror.
func (w *Writer) strayToDelete(ctx context.Context, m mirror.Mirror) (etag string, named bool, err error) {
	if m.CanonicalID != strayEvent {
		return "", false, nil
	}
	naming, err := mirror.NamingOf(ctx, w.Store, m.EventID)
	naming.Mirrors = slices.DeleteFunc(naming.Mirrors, func(other mirror.Mirror) bool { return other.CanonicalID == strayEvent })
	return m.ETag, naming.Anywhere(m.EventID), err
}
