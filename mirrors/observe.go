package mirrors

import (
	"context"
	"maps"
	"slices"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// observation is an event of a calendar as a sync run observed it.
type observation struct {
	calendar calendars.Calendar
	cause    scheduler.Cause
	event    gcal.Event
	// writable reports that the calendar takes us for a writer. If not, an absence proves
	// nothing.
	writable bool
	// class is whose event it is, and naming what names it; apply reads them.
	class  plan.Class
	naming mirror.Naming
	// unlisted says that a full listing did not show the event.
	unlisted bool
	// wrote says that a call of the cause's person made the event what it is (Observe).
	wrote bool
	// follows fails a transaction if a newer run of the calendar began. If mirroring does not follow the
	// calendar any more, nothing is written: nothing would forget it.
	follows func(ctx context.Context, reader store.Reader) (bool, error)
}

// errUnproven keeps a deletion deferred that a reader of the calendar was shown.
var errUnproven = fault.New(fault.Unavailable, "the calendar does not take us for one of its writers, so an absence proves nothing")

// apply applies an observation in one transaction, or in several if a series with many exceptions is
// gone: it is cancelled in the last one. After an interruption the observation has to come again.
func (s *Service) apply(ctx context.Context, o observation) error {
	if o.event.EventState == rules.Gone && !o.writable {
		return errUnproven
	}
	for newID := "evt_" + s.NewID(); ; {
		if did, err := s.applyStep(ctx, o, newID); err != nil || !did.again {
			return err
		}
	}
}

func (s *Service) applyStep(ctx context.Context, o observation, newID string) (*write, error) {
	return s.transact(ctx, o.cause, func(ctx context.Context, tx store.Reader, w *write) error {
		if followed, err := o.follows(ctx, tx); err != nil || !followed {
			return err
		}
		class, naming, err := s.whose(ctx, tx, o)
		if err != nil {
			return err
		}
		o.class, o.naming = class, naming
		if err := s.observeCopy(ctx, tx, o, w); err != nil {
			return err
		}
		switch class {
		case plan.Ours:
			return s.observeMirror(ctx, tx, o, w)
		case plan.Orphan:
			return s.deleteStray(ctx, tx, o, w)
		}
		return s.observeOrigin(ctx, tx, o, w, newID)
	})
}

// observeOrigin brings the canonical event of an origin up to date and plans again. An
// observation that changes nothing costs the reads of the calendar and the event.
func (s *Service) observeOrigin(ctx context.Context, tx store.Reader, o observation, w *write, newID string) error {
	was, known, meeting, err := s.known(ctx, tx, o)
	if err != nil {
		return err
	}
	if !known {
		was = mirror.Event{ID: newID}
		ofMirror, err := s.isOfUnknownSeries(ctx, tx, o)
		if err != nil || ofMirror {
			return err
		}
	}
	at, err := s.origin(ctx, tx, o, was)
	if err != nil {
		return err
	}
	next, changed := plan.Canonical(was, o.event, at, s.now())
	if !changed {
		if known && o.wrote && was.ETag == o.event.ETag {
			return w.recordWho(ctx, tx, was, func(mirror.JournalEntry) bool { return true })
		}
		return nil
	}
	all, err := s.situations(ctx, tx, next.OwnerID, []string{next.ICalUID}, meeting)
	if err != nil {
		return err
	}
	of := all[0]
	ended, left := w.cancelExceptions(&of, next)
	if left {
		w.events, w.again = ended, true
		return nil
	}
	if !known && isOverlay(of.person, o.calendar.CalendarID) {
		return nil // an overlay calendar holds mirrors; what else is in it is nobody's origin
	}
	if !known {
		next, err = counted(ctx, tx, of, o, next)
		if err != nil {
			return err
		}
	}
	if known {
		next = plan.Forgotten(was, next)
	}
	of.put(next)
	dirty := []string{next.ID}
	for _, event := range ended {
		dirty = append(dirty, event.ID)
	}
	if err := w.planHeldBack(ctx, tx, &of, was, next); err != nil {
		return err
	}
	if !known {
		was = mirror.Event{}
		if err := of.loadEarlier(ctx, tx); err != nil {
			return err
		}
		w.markEarlier(&of, next)
		if mirror.IsMirror(next.EventID) && len(next.Recurrence) > 0 {
			w.relist = o.calendar.Key // isOfUnknownSeries may have dropped exceptions of it
		}
		orphans, err := orphansOf(ctx, tx, next)
		if err != nil {
			return err
		}
		for _, orphan := range orphans {
			of.put(orphan)
			dirty = append(dirty, orphan.ID)
		}
	}
	w.record(mirror.OriginEntry(mirror.StepObserved, was, next, next.Status))
	w.decide(&of, dirty...)
	return nil
}

// known is the canonical event of an origin. Of an event without exceptions it is read with all of
// its meeting in the person's calendars, which situations needs; otherwise meeting is nil.
func (s *Service) known(
	ctx context.Context, tx store.Reader, o observation,
) (was mirror.Event, known bool, meeting []mirror.Event, err error) {
	if d := o.event.Details; d != nil && d.ICalUID != "" && len(d.Recurrence) == 0 && o.event.InstanceOf == "" {
		found, err := mirror.OfUIDs(ctx, tx, o.calendar.OwnerID, []string{d.ICalUID})
		if err != nil {
			return was, false, nil, err
		}
		meeting = append([]mirror.Event{}, found...) // not nil: it is read
		for _, event := range meeting {
			if event.AccountID == o.calendar.AccountID && event.CalendarID == o.calendar.CalendarID && event.EventID == o.event.ID {
				return event, true, meeting, nil
			}
		}
	}
	was, known, err = mirror.OfOrigin(ctx, tx, o.calendar.AccountID, o.calendar.CalendarID, o.event.ID)
	return was, known, meeting, err
}

// isOfUnknownSeries reports whether an observation is of a deleted occurrence of a series with
// an id like a mirror's that is nobody's origin. Google shows no marks of it, and it may have
// been a mirror whose document went with the event.
func (s *Service) isOfUnknownSeries(ctx context.Context, tx store.Reader, o observation) (bool, error) {
	if o.event.EventState != rules.Gone || !mirror.IsMirror(o.event.InstanceOf) {
		return false, nil
	}
	_, known, err := mirror.OfOrigin(ctx, tx, o.calendar.AccountID, o.calendar.CalendarID, o.event.InstanceOf)
	return !known, err
}

// orphanUID is the iCalUID of the exceptions of a series that was not observed yet, of which
// Google showed none. No calendar shows it.
func orphanUID(accountID, calendarID, seriesID string) string {
	return "series:" + mirror.OriginKey(accountID, calendarID, seriesID)
}

// orphansOf lists the exceptions of events of one person that were observed before their series, with the
// iCalUIDs of these.
func orphansOf(ctx context.Context, tx store.Reader, series ...mirror.Event) (orphans []mirror.Event, err error) {
	known := map[string]string{} // iCalUIDs of series, by those of their orphans
	for _, event := range series {
		if len(event.Recurrence) > 0 {
			known[orphanUID(event.AccountID, event.CalendarID, event.EventID)] = event.ICalUID
		}
	}
	if len(known) == 0 {
		return nil, nil
	}
	orphans, err = mirror.OfUIDs(ctx, tx, series[0].OwnerID, slices.Sorted(maps.Keys(known)))
	for i := range orphans {
		orphans[i].ICalUID = known[orphans[i].ICalUID]
	}
	return orphans, err
}

// cancelExceptions cancels exceptions of a cancelled series, since the calendar may not report each,
// and returns them. Their texts may be long, so left reports that more are left than one transaction
// stores.
func (w *write) cancelExceptions(of *situation, series mirror.Event) (ended []mirror.Event, left bool) {
	if series.Status != cancelled {
		return nil, false
	}
	for i, event := range of.Events {
		if !isSeriesOf(series, event) || event.Status == cancelled {
			continue
		}
		if len(ended) == storedAtOnce {
			return ended, true
		}
		of.Events[i].Status, of.Events[i].UpdatedAt = cancelled, of.Now
		of.Events[i].Version++
		w.record(mirror.OriginEntry(mirror.StepObserved, event, of.Events[i], "its series is cancelled"))
		ended = append(ended, of.Events[i])
	}
	return ended, false
}

// origin says whose event an observation is. Of an exception whose answer lacks its
// iCalUID, that of its series counts.
func (s *Service) origin(ctx context.Context, tx store.Reader, o observation, was mirror.Event) (plan.Origin, error) {
	at := originBy(o, was)
	if at.ICalUID == "" && o.event.InstanceOf != "" && (o.event.Details == nil || o.event.Details.ICalUID == "") {
		series, ok, err := mirror.OfOrigin(ctx, tx, at.AccountID, at.CalendarID, o.event.InstanceOf)
		if err != nil {
			return at, err
		}
		at.ICalUID = orphanUID(o.calendar.AccountID, o.calendar.CalendarID, o.event.InstanceOf)
		if ok {
			at.ICalUID = series.ICalUID
		}
	}
	if at.PollID == "" && mayBePolls(o) {
		entry, _, err := poll.FindIndex(ctx, tx, at.AccountID, at.CalendarID, o.event.ID)
		if err != nil {
			return at, err
		}
		if entry != nil {
			at.PollID, at.Source = entry.PollID, mirror.SourcePoll
		}
	}
	if at.PollID == "" || s.SharedBy == nil {
		return at, nil
	}
	var err error
	at.GroupID, err = s.SharedBy(ctx, tx, at.PollID)
	return at, err
}

// originBy is what the observation and the stored event say of that.
func originBy(o observation, was mirror.Event) plan.Origin {
	at := plan.Origin{
		OwnerID: o.calendar.OwnerID, AccountID: o.calendar.AccountID, CalendarID: o.calendar.CalendarID,
		Source: was.Source, PollID: was.PollID, GroupID: was.GroupID, ICalUID: was.ICalUID,
		Copied: o.class == plan.Copied,
	}
	if strings.HasPrefix(o.event.ID, mirror.APIEventPrefix) {
		at.Source = mirror.SourceAPI
	}
	return at
}

// mayBePolls reports whether a poll may follow the event.
func mayBePolls(o observation) bool {
	return strings.HasPrefix(o.event.ID, poll.EventPrefix) || slices.Contains(o.calendar.LegacyEventIDs, o.event.ID)
}
