package mirrors

import (
	"context"
	"reflect"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

// cancelledFor is how long a cancelled event that still has mirrors rests before it is
// planned again, and removed if they are gone.
const cancelledFor = time.Hour

// write is what one transaction writes about a person's mirrors of one iCalUID.
type write struct {
	s       *Service
	cause   scheduler.Cause
	events  []mirror.Event
	removed []mirror.Event
	// due are events of which PlanAt alone changes: texts may be long, and many events due at once.
	due     []mirror.Event
	mirrors []mirror.Mirror
	// own is the mirror whose run writes this and goes on with it, so that nothing wakes it.
	own string
	// dropped are mirrors whose documents go, unless mirrors has them too.
	dropped []string
	entries []mirror.JournalEntry
	// relist is the key of a calendar that has to be listed from the beginning, if any.
	relist string
	// verdicts are counted after the commit.
	verdicts []plan.Verdict
	// again reports that the observation has to be applied again, for what is left of it.
	again bool
}

// record adds an entry to the journal of a canonical event.
func (w *write) record(entry mirror.JournalEntry) {
	entry.ID, entry.At, entry.Trigger, entry.Trace, entry.Who = "jrn_"+w.s.NewID(), w.s.now(), w.cause.Trigger, w.cause.Trace, w.cause.Person
	w.entries = append(w.entries, entry)
}

// decide plans, and adds what differs from what is stored: the mirrors, and of the
// person's events those in dirty and those whose PlanAt moved. Cancelled events that
// nothing needs are removed. Of the mirrors of exceptions that went with their series only some
// are planned at once: the others when one of these is gone, or at the PlanAt of their events.
func (w *write) decide(of *situation, dirty ...string) {
	gone := 0
	for _, next := range plan.Plan(of.Situation) {
		if of.wentWithSeries(next.CanonicalID) {
			gone++
			if gone > storedAtOnce {
				continue
			}
		}
		w.planned(of.Mirrors, next)
		of.putMirror(next)
	}
	for _, event := range of.Events {
		changed := slices.Contains(dirty, event.ID)
		switch {
		case event.GroupID != "" && changed:
			event.PlanAt, event.PlanTrace = of.Now, w.cause.Trace // for the people of the group; planDue follows
		case event.GroupID != "" || event.OwnerID != of.Owner:
			continue
		case needless(event, of):
			w.removed = append(w.removed, event)
			continue
		default:
			at := planAt(event, of.Now)
			if series, known := of.seriesOf(event); event.Status == cancelled && known && series.Status != cancelled {
				at = time.Time{} // needless until its series is cancelled, and planned with it then
			}
			if disagree := plan.DisagreeAt(event, of.Events, of.Now); !disagree.IsZero() && (at.IsZero() || disagree.Before(at)) {
				at = store.Instant(disagree)
			}
			isDue := !at.Equal(event.PlanAt)
			event.PlanAt = at
			if isDue && !changed {
				w.due = append(w.due, event)
			}
		}
		if changed {
			w.events = append(w.events, event)
		}
	}
}

// planned adds a mirror that a plan changed.
func (w *write) planned(stored []mirror.Mirror, next mirror.Mirror) {
	var was mirror.Mirror
	if i := slices.IndexFunc(stored, func(m mirror.Mirror) bool { return m.ID == next.ID }); i >= 0 {
		was = stored[i]
	}
	step := mirror.StepPlanned
	if w.s.Observing {
		step = mirror.StepWouldPlan
	}
	w.record(mirror.StepEntry(step, was, next, ""))
	w.put(next)
}

// put adds a mirror, in place of an earlier state of it. The writer's own steps keep the trace
// of the change that they are for.
func (w *write) put(m mirror.Mirror) {
	if w.cause.Trigger != WriteKind || m.Trace == "" {
		m.Trace = w.cause.Trace
	}
	i := slices.IndexFunc(w.mirrors, func(other mirror.Mirror) bool { return other.ID == m.ID })
	if i < 0 {
		w.mirrors = append(w.mirrors, m)
		return
	}
	w.mirrors[i] = m
}

// planAt is when an event must be planned again. A cancelled event keeps a time that has
// not come, so that planning it twice changes nothing.
func planAt(event mirror.Event, now time.Time) time.Time {
	if event.Status != cancelled {
		return plan.DueAt(event, now)
	}
	if event.PlanAt.After(now) && !event.PlanAt.After(now.Add(cancelledFor)) {
		return event.PlanAt
	}
	return store.Instant(now.Add(cancelledFor))
}

// cancelled is the status of an event that is deleted.
const cancelled = "cancelled"

// needless reports whether a cancelled event can be removed: no mirror shows it, and if it
// is an exception, its series is gone too, or was not listed within cancelledFor.
func needless(event mirror.Event, of *situation) bool {
	if event.Status != cancelled || slices.ContainsFunc(of.Mirrors, func(m mirror.Mirror) bool { return m.CanonicalID == event.ID }) {
		return false
	}
	if event.SeriesID == "" {
		return true
	}
	series, known := of.seriesOf(event)
	if !known { // a listing may show exceptions before their series
		return !of.Now.Before(event.UpdatedAt.Add(cancelledFor))
	}
	return series.Status == cancelled
}

func isSeriesOf(series, event mirror.Event) bool {
	return event.SeriesID != "" && series.EventID == event.SeriesID && series.AccountID == event.AccountID &&
		series.CalendarID == event.CalendarID
}

// keepShown keeps the cancelled events of polls of which others have mirrors still. Those are found
// by the event when the group's work follows the poll, which a sync run may be ahead of.
func (w *write) keepShown(ctx context.Context, reader store.Reader) error {
	var needless []mirror.Event
	for _, event := range w.removed {
		if event.PollID == "" {
			needless = append(needless, event)
			continue
		}
		shown, err := mirror.OfEvent(ctx, reader, event.ID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(shown, func(m mirror.Mirror) bool { return m.OwnerID != event.OwnerID }) {
			needless = append(needless, event)
			continue
		}
		event.PlanAt = planAt(event, w.s.now())
		w.events = append(w.events, event)
	}
	w.removed = needless
	return nil
}

// commit writes it.
func (w *write) commit(tx store.Tx) error {
	for _, event := range w.events {
		if err := tx.Set(mirror.EventPath(event.ID), mirror.EncodeEvent(event)); err != nil {
			return err
		}
	}
	for _, event := range w.due {
		if err := tx.Update(mirror.EventPath(event.ID), store.Set("planAt", store.NullIfZero(event.PlanAt))); err != nil {
			return err
		}
	}
	if w.relist != "" {
		request := calendars.Calendar{}.RequestRelist(mirror.Consumer, w.cause.Request(w.s.now()))
		if err := tx.Update(calendars.Path(w.relist), request...); err != nil {
			return err
		}
	}
	for _, event := range w.removed {
		if err := tx.Delete(mirror.EventPath(event.ID)); err != nil {
			return err
		}
	}
	for _, id := range w.dropped {
		if slices.ContainsFunc(w.mirrors, func(m mirror.Mirror) bool { return m.ID == id }) {
			continue
		}
		if err := tx.Delete(mirror.Path(id)); err != nil {
			return err
		}
	}
	for _, m := range w.mirrors {
		if err := tx.Set(mirror.Path(m.ID), mirror.Encode(m)); err != nil {
			return err
		}
	}
	for _, entry := range w.entries {
		if err := tx.Create(mirror.EntryPath(entry.EventID, entry.ID), mirror.EncodeEntry(entry)); err != nil {
			return err
		}
	}
	return nil
}

// transact runs a transaction that fills a write, and has its mirrors written after the
// commit.
func (s *Service) transact(
	ctx context.Context, cause scheduler.Cause, fill func(ctx context.Context, tx store.Reader, w *write) error,
) (*write, error) {
	var w *write
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		w = &write{s: s, cause: cause}
		if err := fill(ctx, tx, w); err != nil {
			return err
		}
		if err := w.keepShown(ctx, tx); err != nil {
			return err
		}
		return w.commit(tx)
	})
	if err != nil {
		return nil, err
	}
	for _, verdict := range w.verdicts {
		s.Meter.Count(Observed{Verdict: verdict})
	}
	s.writeSoon(ctx, slices.DeleteFunc(slices.Clone(w.mirrors), func(m mirror.Mirror) bool { return m.ID == w.own })...)
	for _, event := range w.events {
		if event.GroupID != "" && !event.PlanAt.After(s.Now()) {
			s.PlanEventSoon(ctx, event)
		}
	}
	return w, nil
}

func same(a, b mirror.Mirror) bool { return reflect.DeepEqual(a, b) }
