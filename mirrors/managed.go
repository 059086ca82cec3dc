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

// observeMirror applies an observation of an event with a mirror's id.
func (s *Service) observeMirror(ctx context.Context, tx store.Reader, o observation, w *write) error {
	m, mapped, ok, err := s.mirrorOf(ctx, tx, o, o.event.ID)
	if err != nil {
		return err
	}
	if err := s.observeCopy(ctx, tx, o, m, ok, w); err != nil {
		return err
	}
	if ok {
		next, verdict := plan.Observed(m, o.event, s.now())
		if next.Generation == m.Generation {
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
	if o.event.InstanceOf != "" {
		return s.observeInstance(ctx, tx, o, w)
	}
	if !plan.DeletesStray(o.event, s.Installation, mapped) {
		return nil
	}
	if kept, err := isKept(ctx, tx, o.event, s.now()); err != nil || kept {
		return err
	}
	return s.deleteStray(ctx, tx, o, w)
}

// observeInstance applies an observation of an instance of a mirror's series whose id no
// mirror has.
func (s *Service) observeInstance(ctx context.Context, tx store.Reader, o observation, w *write) error {
	series, _, ok, err := s.mirrorOf(ctx, tx, o, o.event.InstanceOf)
	if err != nil || !ok {
		return err
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

// mirrorOf finds the mirror whose event in the calendar has an id: by its mark, which
// anybody may have copied, or else by the event. mapped reports whether any mirror names
// the event, in this calendar or as another account sees it.
func (s *Service) mirrorOf(ctx context.Context, tx store.Reader, o observation, eventID string) (m mirror.Mirror, mapped, ok bool, err error) {
	fits := func(m mirror.Mirror) bool {
		return m.EventID == eventID && m.TargetAccountID == o.calendar.AccountID && m.TargetCalendarID == o.calendar.CalendarID
	}
	if id := o.event.Private[plan.MarkMirror]; id != "" {
		m, ok, err := mirror.Load(ctx, tx, id)
		if err != nil || ok && fits(m) {
			return m, ok, ok, err
		}
	}
	found, err := mirror.ByEvent(ctx, tx, eventID)
	if i := slices.IndexFunc(found, fits); i >= 0 {
		return found[i], true, true, err
	}
	return mirror.Mirror{}, len(found) > 0, false, err
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

// deleteStray has the writer delete an event of ours that no mirror maps: by a mirror of
// no event, which goes with it.
func (s *Service) deleteStray(ctx context.Context, tx store.Reader, o observation, w *write) error {
	id := mirror.IDOf(mirror.OriginKey(o.calendar.AccountID, o.calendar.CalendarID, o.event.ID), strayEvent)
	if _, known, err := mirror.Load(ctx, tx, id); err != nil || known {
		return err
	}
	now := s.now()
	m := stray(o.event, mirror.Mirror{
		ID: id, OwnerID: o.calendar.OwnerID, TargetAccountID: o.calendar.AccountID, TargetCalendarID: o.calendar.CalendarID,
		Due: now, CreatedAt: now, UpdatedAt: now,
	})
	w.record(mirror.StepEntry(mirror.StepStray, mirror.Mirror{}, m, "no mirror maps it"))
	w.put(m)
	return nil
}

func stray(event gcal.Event, m mirror.Mirror) mirror.Mirror {
	m.CanonicalID, m.State, m.Target, m.Detail = strayEvent, mirror.Deleting, mirror.PrimaryTarget, mirror.Busy
	m.EventID, m.ETag, m.AnsweredAt, m.Generation = event.ID, event.ETag, event.Updated, 1
	return m
}
