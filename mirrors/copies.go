package mirrors

import (
	"cmp"
	"context"
	"slices"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// observeCopy keeps what an event of ours occupies in a calendar of the person's own, for
// availability alone: a mirror of anybody, or a copy that its owner kept. Of an event that is
// not ours any more, what was kept goes: if it is a person's, it is kept as their own.
func (s *Service) observeCopy(ctx context.Context, tx store.Reader, o observation, w *write) error {
	if !plan.MayBeOurs(o.event) {
		return nil
	}
	byRule, err := isByRule(ctx, tx, o)
	if err != nil {
		return err
	}
	m := shownBy(o)
	switch {
	case byRule: // the copy of its series has its time
		return w.dropCopy(ctx, tx, o)
	case o.class != plan.Ours && o.class != plan.Orphan:
		o.event = gcal.Event{ID: o.event.ID, InstanceOf: o.event.InstanceOf, EventState: rules.Gone}
	case m.Target == mirror.Overlay && o.event.EventState != rules.Gone: // gone, it may be of before the edge changed
		return nil
	case m.Target == "":
		person, err := mirror.LoadPerson(ctx, tx, o.calendar.OwnerID)
		if err != nil || isOverlay(person, o.calendar.CalendarID) {
			return err
		}
	}
	return w.copies(ctx, tx, []observation{o}, []mirror.Mirror{m})
}

// isByRule reports whether an occurrence that a full listing did not show is as its series says.
func isByRule(ctx context.Context, reader store.Reader, o observation) (bool, error) {
	if !o.unlisted || o.event.InstanceOf == "" || o.event.EventState == rules.Gone || o.event.Details == nil {
		return false, nil
	}
	details := *o.event.Details
	found, err := reader.Get(ctx, mirror.EventPath(mirror.CopyID(o.calendar.AccountID, o.calendar.CalendarID, o.event.InstanceOf)))
	if err != nil || !found.Exists() || !details.Start.Equal(details.Original) {
		return false, err
	}
	series := mirror.DecodeEvent(found)
	return lasts(details.Start, details.End) == lasts(series.Start, series.End), nil
}

func lasts(from, until recurrence.Moment) time.Duration {
	return until.Instant(time.UTC).Sub(from.Instant(time.UTC))
}

// dropCopy removes what was kept of an occurrence alone.
func (w *write) dropCopy(ctx context.Context, tx store.Reader, o observation) error {
	found, err := tx.Get(ctx, mirror.EventPath(mirror.CopyID(o.calendar.AccountID, o.calendar.CalendarID, o.event.ID)))
	if err == nil && found.Exists() {
		w.removed = append(w.removed, mirror.DecodeEvent(found))
	}
	return err
}

// shownBy is a mirror that names an observed event or its series: of the observing account
// if there is one, else of another that reaches the calendar; zero if none does.
func shownBy(o observation) mirror.Mirror {
	for _, id := range []string{o.event.ID, o.event.InstanceOf} {
		if m, ok := mirrorOf(o, id); ok {
			return m
		}
	}
	all := slices.Concat(o.naming.Mirrors, o.naming.Kept)
	i := slices.IndexFunc(all, func(m mirror.Mirror) bool {
		return m.In(o.calendar.CalendarID) && (m.EventID == o.event.ID || o.event.InstanceOf != "" && m.EventID == o.event.InstanceOf)
	})
	if i < 0 {
		return mirror.Mirror{}
	}
	return all[i]
}

// copies adds what differs from the stored copies of some events. mirrors are those of the
// events, or zero.
func (w *write) copies(ctx context.Context, tx store.Reader, shown []observation, mirrors []mirror.Mirror) error {
	paths := make([]store.Path, len(shown))
	for i, o := range shown {
		paths[i] = mirror.EventPath(mirror.CopyID(o.calendar.AccountID, o.calendar.CalendarID, o.event.ID))
	}
	found, err := tx.GetAll(ctx, paths)
	if err != nil {
		return err
	}
	for i, o := range shown {
		next, changed := copyOf(mirror.DecodeEvent(found[i]), o, mirrors[i], w.s.now())
		switch {
		case !changed:
		case next.Status == cancelled && next.SeriesID == "":
			removed, err := copiesOfSeries(ctx, tx, next)
			if err != nil {
				return err
			}
			w.removed = append(w.removed, removed...)
		default:
			w.events = append(w.events, next)
		}
	}
	return nil
}

// copiesOfSeries are the copy of an event and those of its exceptions.
func copiesOfSeries(ctx context.Context, tx store.Reader, series mirror.Event) ([]mirror.Event, error) {
	found, err := mirror.OfUIDs(ctx, tx, series.OwnerID, []string{series.ICalUID})
	return slices.DeleteFunc(found, func(e mirror.Event) bool { return e.ID != series.ID && !isSeriesOf(series, e) }), err
}

// copyOf is the copy after an observation of its event, and whether it differs. It holds the
// times, and the iCalUID of the meeting that its mirror shows, by which the session of a poll
// is known.
func copyOf(was mirror.Event, o observation, of mirror.Mirror, now time.Time) (next mirror.Event, changed bool) {
	account, calendar := o.calendar.AccountID, o.calendar.CalendarID
	uid := cmp.Or(of.ICalUID, was.ICalUID, mirror.CopyID(account, calendar, cmp.Or(o.event.InstanceOf, o.event.ID)))
	at := plan.Origin{
		OwnerID: mirror.CopyOwner(o.calendar.OwnerID), AccountID: account, CalendarID: calendar, Source: mirror.SourceCopy,
		ICalUID: uid,
	}
	if o.event.Details != nil {
		details := *o.event.Details
		details.Summary, details.Description, details.Location, details.ICalUID = "", "", "", ""
		o.event.Details = &details
	}
	next, changed = plan.Canonical(was, o.event, at, now)
	next.PlanAt = time.Time{}
	return next, changed
}

// passCopies stores the copies of events that are as their mirrors say, some at a time, and
// adds those events to applied.
func (s *Service) passCopies(ctx context.Context, shown []observation, mirrors []mirror.Mirror, applied map[string]bool) error {
	for len(shown) > 0 {
		n := min(storedAtOnce, len(shown))
		_, err := s.transact(ctx, shown[0].cause, func(ctx context.Context, tx store.Reader, w *write) error {
			if followed, err := shown[0].follows(ctx, tx); err != nil || !followed {
				return err
			}
			return w.copies(ctx, tx, shown[:n], mirrors[:n])
		})
		if err != nil {
			return err
		}
		for _, o := range shown[:n] {
			applied[o.event.ID] = true
		}
		shown, mirrors = shown[n:], mirrors[n:]
	}
	return nil
}
