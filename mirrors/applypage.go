package mirrors

import (
	"context"
	"errors"
	"slices"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

const (
	// together is from how many events on a page is applied together: few are planned at
	// once, each with its reads.
	together = 10
	// storedAtOnce is how many new events one transaction stores.
	storedAtOnce = 30
	// firstWait is how long the first mirrors of a full listing wait: other calendars of the person,
	// listed at the same time, may show the same meetings.
	firstWait = 10 * time.Second
)

// applyPage applies observations of one calendar, of different events, as far as they need
// no transaction of their own, and returns the ids of those events. Nothing changes for
// an event that is stored as it was observed: that takes one read and no transaction, as
// each decision is about one document. In a full listing, of which known is what was stored
// before, new events are stored and planned some at a time, the earliest first.
func (s *Service) applyPage(ctx context.Context, page []observation, known *stored) (applied map[string]bool, err error) {
	applied = map[string]bool{}
	if err := s.passMirrors(ctx, page, known, applied); err != nil {
		return applied, err
	}
	fresh, err := s.passOrigins(ctx, page, known, applied)
	if err != nil || known == nil {
		return applied, err
	}
	slices.SortStableFunc(fresh, func(a, b observation) int {
		return a.event.Details.Start.Instant(time.UTC).Compare(b.event.Details.Start.Instant(time.UTC))
	})
	for some := range slices.Chunk(fresh, storedAtOnce) {
		if failed := s.storeOrigins(ctx, some); failed != nil {
			err = errors.Join(err, failed) // each of them is applied alone
			continue
		}
		for _, o := range some {
			applied[o.event.ID] = true
		}
	}
	return applied, err
}

// passOrigins adds the events that are stored as they were observed, and returns those that
// are not stored and that storeOrigins can store.
func (s *Service) passOrigins(
	ctx context.Context, page []observation, known *stored, applied map[string]bool,
) (fresh []observation, err error) {
	var plain []observation
	var ids []string
	for _, o := range page {
		if !plan.MayBeOurs(o.event) && o.event.EventState != rules.Gone && o.event.Details != nil && !mayBePolls(o) {
			plain, ids = append(plain, o), append(ids, o.event.ID)
		}
	}
	if len(plain) == 0 {
		return nil, nil
	}
	at := page[0].calendar
	origins, err := s.ofOrigins(ctx, known, mirror.Place{AccountID: at.AccountID, CalendarID: at.CalendarID}, ids)
	if err != nil {
		return nil, err
	}
	for _, o := range plain {
		was, stored := origins[o.event.ID]
		switch {
		case !stored && o.event.Details.ICalUID != "":
			fresh = append(fresh, o)
		case !stored || was.PollID != "" || was.ICalUID == "":
		default:
			_, changed := plan.Canonical(was, o.event, originBy(o, was), s.now())
			applied[o.event.ID] = applied[o.event.ID] || !changed
		}
	}
	return fresh, nil
}

// storeOrigins stores new events and plans them, in one transaction.
func (s *Service) storeOrigins(ctx context.Context, fresh []observation) error {
	at, ids, newIDs := fresh[0].calendar, []string{}, []string{}
	for _, o := range fresh {
		ids, newIDs = append(ids, o.event.ID), append(newIDs, "evt_"+s.NewID())
	}
	_, err := s.transact(ctx, fresh[0].cause, func(ctx context.Context, tx store.Reader, w *write) error {
		if followed, err := fresh[0].follows(ctx, tx); err != nil || !followed {
			return err
		}
		known, err := mirror.OfOrigins(ctx, tx, at.AccountID, at.CalendarID, ids)
		if err != nil {
			return err
		}
		var changes []change
		for i, o := range fresh {
			was, stored := known[o.event.ID]
			if !stored {
				was = mirror.Event{ID: newIDs[i]}
			}
			next, differs := plan.Canonical(was, o.event, originBy(o, was), s.now())
			switch {
			case differs && stored:
				changes = append(changes, change{was, next})
			case differs:
				changes = append(changes, change{is: next})
			}
		}
		return s.planChanges(ctx, tx, w, at, changes)
	})
	return err
}

// change is what an observation makes of a canonical event; was is zero if there was none.
type change struct{ was, is mirror.Event }

// planChanges records changes of a calendar's events and plans them, with the exceptions of those
// that are series and were observed before them. What is in an overlay calendar and no mirror is
// nobody's origin.
func (s *Service) planChanges(ctx context.Context, tx store.Reader, w *write, at calendars.Calendar, changes []change) error {
	var events []mirror.Event
	for _, changed := range changes {
		events = append(events, changed.is)
	}
	uids := slices.Compact(slices.Sorted(slices.Values(uidsOf(events))))
	if len(uids) == 0 {
		return nil
	}
	all, err := s.situations(ctx, tx, at.OwnerID, uids, nil)
	if err != nil || isOverlay(all[0].person, at.CalendarID) {
		return err
	}
	orphans, err := orphansOf(ctx, tx, events...)
	if err != nil {
		return err
	}
	dirty := map[string][]string{} // by iCalUID
	put := func(event mirror.Event) (of *situation) {
		of = &all[slices.Index(uids, event.ICalUID)]
		of.put(event)
		dirty[event.ICalUID] = append(dirty[event.ICalUID], event.ID)
		return of
	}
	for _, orphan := range orphans {
		put(orphan)
	}
	for _, changed := range changes { // of one that is an orphan too, the listing counts
		w.record(mirror.OriginEntry(mirror.StepObserved, changed.was, changed.is, changed.is.Status))
		if err := w.planHeldBack(ctx, tx, put(changed.is), changed.was, changed.is); err != nil {
			return err
		}
	}
	for i, uid := range uids {
		w.decide(&all[i], dirty[uid]...)
	}
	for i, m := range w.mirrors {
		if m.State == mirror.Pending && m.EventID == "" {
			w.mirrors[i].Due = store.Instant(s.Now().Add(firstWait))
		}
	}
	return nil
}

// passMirrors adds the events of mirrors that are as their mirrors say, and those of other
// accounts' mirrors in a shared calendar. The marks of the events name the mirrors; where
// they do not, Apply finds them.
func (s *Service) passMirrors(ctx context.Context, page []observation, known *stored, applied map[string]bool) error {
	var shown []observation
	var paths []store.Path
	for _, o := range page {
		path := mirror.Path(o.event.Private[plan.MarkMirror])
		if plan.MayBeOurs(o.event) && o.event.EventState != rules.Gone && path.Valid() == nil {
			shown, paths = append(shown, o), append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	var copies []observation
	var mirrors []mirror.Mirror
	found, err := s.Store.GetAll(ctx, paths)
	if err != nil {
		return err
	}
	at := page[0].calendar
	for i, document := range found {
		m := mirror.Decode(document)
		event := shown[i].event
		if m.EventID != event.ID || !m.In(at.CalendarID) {
			continue
		}
		next, verdict := plan.Observed(m, event, s.now())
		if !same(m, next) {
			continue
		}
		s.Meter.Count(Observed{Verdict: verdict})
		if m.Target == mirror.Overlay || known.showsCopy(shown[i], m, s.now()) {
			applied[event.ID] = true
		} else {
			copies, mirrors = append(copies, shown[i]), append(mirrors, m)
		}
	}
	return s.passCopies(ctx, copies, mirrors, applied)
}
