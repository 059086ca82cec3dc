package mirrors

import (
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

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
func (s *Service) observeMirror(ctx context.Context, tx store.Reader, o observation, w *write) error {
	m, ok := mirrorOf(o, o.event.ID)
	if !ok {
		return s.observeInstance(ctx, tx, o, w)
	}
	return s.observeEvent(ctx, tx, m, o.event, w)
}

// observeEvent applies an observation of a mirror's event.
func (s *Service) observeEvent(ctx context.Context, tx store.Reader, m mirror.Mirror, shown gcal.Event, w *write) error {
	next, verdict := plan.Observed(m, shown, s.now())
	mayReset, err := changesSeries(ctx, tx, m, verdict)
	if err != nil {
		return err
	}
	if next.Generation == m.Generation && verdict != plan.LeftDeleted && !mayReset {
		w.observed(m, next, verdict)
		return nil
	}
	of, err := s.situation(ctx, tx, m.OwnerID, m.ICalUID)
	if err != nil {
		return err
	}
	if mayReset {
		of.Situation = plan.Reset(of.Situation, m, shown)
	}
	w.replaced(&of, m, next, verdict)
	return nil
}

// observeInstance applies an observation of an instance of a mirror's series whose id no
// mirror has.
func (s *Service) observeInstance(ctx context.Context, tx store.Reader, o observation, w *write) error {
	series, ok := mirrorOf(o, o.event.InstanceOf)
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

// changesSeries reports whether a person changed the copy of a series as a whole.
func changesSeries(ctx context.Context, tx store.Reader, m mirror.Mirror, verdict plan.Verdict) (bool, error) {
	if verdict != plan.Drift || m.SeriesMirrorID != "" {
		return false, nil
	}
	found, err := tx.Get(ctx, mirror.EventPath(m.CanonicalID))
	return err == nil && len(mirror.DecodeEvent(found).Recurrence) > 0, err
}

// mirrorOf is the mirror of the observing account whose event in the calendar has an id.
func mirrorOf(o observation, eventID string) (m mirror.Mirror, ok bool) {
	i := slices.IndexFunc(o.naming.Mirrors, func(m mirror.Mirror) bool {
		return eventID != "" && m.EventID == eventID && m.TargetAccountID == o.calendar.AccountID && m.TargetCalendarID == o.calendar.CalendarID
	})
	if i < 0 {
		return mirror.Mirror{}, false
	}
	return o.naming.Mirrors[i], true
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

// replaced is observed for a mirror whose event is replaced, or may have been reset: the mirrors of its
// exceptions name instances of an event that is gone or changed, so all are planned again.
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

// strayDelay is how long a stray waits to be deleted, longer than a sync run: those that one
// run finds count together.
const strayDelay = 2 * time.Minute

// deleteStray has the writer delete an event of ours that no document names: by a mirror of
// no event, which goes with it. A reader of the calendar leaves it to the calendar's writers.
// If HoldMin of the calendar wait already, rather the documents are wrong: the others are left
// to the reconciliation, which decides about all together.
func (s *Service) deleteStray(ctx context.Context, tx store.Reader, o observation, w *write) error {
	if !o.writable || !plan.DeletesStray(o.event, s.Installation, plan.Orphan) || endedLongAgo(o.event, s.now()) {
		return nil
	}
	id := mirror.IDOf(mirror.OriginKey(o.calendar.AccountID, o.calendar.CalendarID, o.event.ID), mirror.StrayEvent)
	if _, known, err := mirror.Load(ctx, tx, id); err != nil || known {
		return err
	}
	waiting, err := mirror.OfEvents(ctx, tx, o.calendar.OwnerID, []string{mirror.StrayEvent})
	waiting = slices.DeleteFunc(waiting, func(m mirror.Mirror) bool {
		return m.TargetAccountID != o.calendar.AccountID || m.TargetCalendarID != o.calendar.CalendarID
	})
	if err != nil || len(waiting) >= s.HoldMin {
		return err
	}
	now := s.now()
	m := stray(o.event, mirror.Mirror{
		ID: id, OwnerID: o.calendar.OwnerID, TargetAccountID: o.calendar.AccountID, TargetCalendarID: o.calendar.CalendarID,
		Due: now.Add(strayDelay), CreatedAt: now, UpdatedAt: now,
	})
	w.record(mirror.StepEntry(mirror.StepStray, mirror.Mirror{}, m, "no document names it"))
	w.put(m)
	return nil
}

func stray(event gcal.Event, m mirror.Mirror) mirror.Mirror {
	m.CanonicalID, m.State, m.Target, m.Detail = mirror.StrayEvent, mirror.Deleting, mirror.PrimaryTarget, mirror.Busy
	m.EventID, m.ETag, m.AnsweredAt, m.Generation = event.ID, event.ETag, event.Updated, 1
	return m
}

// deleteEvent deletes the event of a mirror. refused is Google's error, err the store's. A
// stray that changed since, or that its account may not delete, is left to the next
// observation of it: nothing refused that.
func (w *Writer) deleteEvent(ctx context.Context, google Google, m mirror.Mirror) (deleted bool, refused, err error) {
	ref := gcal.Ref{Account: m.TargetAccountID, Calendar: m.TargetCalendarID}
	if !m.IsStray() {
		deleted, refused = google.DeleteQuietly(ctx, ref, m.EventID, "")
		return deleted, refused, nil
	}
	deleted, refused, err = w.deleteUnnamed(ctx, google, ref, m.EventID, m.ETag)
	switch fault.KindOf(refused) {
	case fault.Conflict, fault.Forbidden, fault.Invalid, fault.Provider:
		refused = nil
	}
	return deleted, refused, err
}

// deleteUnnamed deletes an event as it was last observed, unless a document names it by now.
// refused is Google's error, err the store's.
func (w *Writer) deleteUnnamed(ctx context.Context, google Google, ref gcal.Ref, eventID, etag string) (deleted bool, refused, err error) {
	naming, err := mirror.NamingOf(ctx, w.Store, eventID)
	if err != nil || naming.Anywhere(eventID) {
		return false, nil, err
	}
	deleted, refused = google.DeleteQuietly(ctx, ref, eventID, etag)
	return deleted, refused, nil
}
