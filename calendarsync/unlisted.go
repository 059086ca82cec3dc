package calendarsync

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// Unlisted implements Consumer: it fetches every linked event that a full listing lacks, since a
// full listing does not show deletions. If too many are gone at once, their cancellations are
// held for a person's confirmation.
func (l *pollConsumer) Unlisted(ctx context.Context, run Run, shown func(eventID string) bool) error {
	if err := l.deferInserts(ctx, shown); err != nil {
		return err
	}
	absent, err := l.findAbsent(ctx, run, shown)
	if err != nil {
		return err
	}
	if err := l.withoutSettled(ctx, run, &absent, l.tooMany); err != nil {
		return err
	}
	if l.tooMany(absent) {
		return l.hold(ctx, absent.gone)
	}
	for _, event := range absent.gone {
		err := l.applyObservation(ctx, l.observation(event, true))
		if err := run.Applied(ctx, event.ID, err); err != nil {
			return err
		}
	}
	return nil
}

// absences are what a full listing lacks of the linked events.
type absences struct {
	gone []gcal.Event // each was fetched
	// unread are those that could not be fetched. They may be gone as well: a few that were read
	// say nothing of how many are.
	unread int
	linked int // that are linked in all
}

// findAbsent fetches the events that a full listing lacks, and applies those that are there. An
// awaited event that is not listed is still deleted, unless the listing has a nameless event.
func (l *pollConsumer) findAbsent(ctx context.Context, run Run, shown func(eventID string) bool) (absent absences, err error) {
	for entry, err := range poll.IndexOfCalendar(ctx, l.Store, l.ref.Account, l.ref.Calendar) {
		if err != nil {
			return absences{}, err
		}
		if !entry.Awaited {
			absent.linked++
		}
		confirmed := l.calendar.Deferred(entry.EventID).Why == calendars.DeferredConfirmed
		if shown(entry.EventID) || confirmed || entry.Awaited && !run.part.incomplete {
			continue
		}
		event, err := l.fetchConfirmed(ctx, entry.EventID)
		switch {
		case err != nil && !l.endsRun(ctx, err):
			absent.unread++
			err = run.Applied(ctx, entry.EventID, err)
		case err != nil:
		case event.EventState != rules.Gone:
			err = run.part.apply(ctx, SyncedEvent{Event: event, Fresh: true, Writable: true})
		case !entry.Awaited:
			absent.gone = append(absent.gone, event)
		}
		if err != nil {
			return absences{}, err
		}
	}
	return absent, nil
}

// tooMany reports whether too many linked events are gone at once to be believed
// unconfirmed.
func (l *pollConsumer) tooMany(absent absences) bool {
	missing := len(absent.gone) + absent.unread
	return len(absent.gone) > 0 && missing > l.HoldMin && float64(missing) > l.HoldShare*float64(absent.linked)
}

// withoutSettled removes from absences those that cancel nothing, as long as they are to be held.
func (l *pollConsumer) withoutSettled(ctx context.Context, run Run, absent *absences, hold func(absences) bool) error {
	for _, without := range []func(context.Context, Run, []gcal.Event) ([]gcal.Event, error){l.withoutPast, l.withoutMoved} {
		if !hold(*absent) {
			break
		}
		remaining, err := without(ctx, run, absent.gone)
		if err != nil {
			return err
		}
		absent.linked -= len(absent.gone) - len(remaining)
		absent.gone = remaining
	}
	return nil
}

// joinsHold reports whether an event that could not be read is found gone while others of its
// calendar are held: it was missing with them, and is held with them.
func (l *pollConsumer) joinsHold(observed SyncedEvent) bool {
	missed := l.calendar.Deferred(observed.Event.ID).Why == calendars.DeferredFailed
	return missed && observed.Fresh && observed.Event.EventState == rules.Gone && len(l.calendar.Held()) > 0
}

// holdWithOthers holds an event beside those that are held, unless its absence cancels nothing.
func (l *pollConsumer) holdWithOthers(ctx context.Context, run Run, event gcal.Event) error {
	absent := absences{gone: []gcal.Event{event}}
	err := l.withoutSettled(ctx, run, &absent, func(left absences) bool { return len(left.gone) > 0 })
	if err != nil || len(absent.gone) == 0 {
		return err
	}
	return l.hold(ctx, absent.gone)
}

// deferInserts defers events that a full listing lacks while their insert is under way:
// they may have been created and deleted before it. Those linked by now are in the index,
// which is read after this.
func (l *pollConsumer) deferInserts(ctx context.Context, shown func(eventID string) bool) error {
	for intent, err := range poll.PendingIntents(ctx, l.Store, l.Now().Add(farFuture)) {
		if err != nil {
			return err
		}
		here := intent.AccountID == l.ref.Account && intent.CalendarID == l.ref.Calendar
		if intent.Kind != poll.IntentInsert || !here || shown(intent.EventID) {
			continue
		}
		if err := l.commit(ctx, calendars.Defer(intent.EventID, calendars.DeferredRace, l.Now())); err != nil {
			return err
		}
	}
	return nil
}

// farFuture is later than any intent is due.
const farFuture = 365 * 24 * time.Hour

// hold keeps absences from cancelling their polls until a person confirms them, and
// announces that to the calendar's owner once.
func (l *pollConsumer) hold(ctx context.Context, gone []gcal.Event) error {
	l.Log.WarnContext(ctx, "many events gone at once; cancellations held", "calendar", l.ref.Calendar,
		"count", len(gone), "trace", l.cause.Trace)
	for _, event := range gone {
		entry, _, err := poll.FindIndex(ctx, l.Store, l.ref.Account, l.ref.Calendar, event.ID)
		if err != nil {
			return err
		}
		if entry == nil {
			continue
		}
		p, err := poll.Load(ctx, l.Store, entry.PollID)
		switch {
		case fault.Is(err, fault.NotFound):
			continue
		case err != nil:
			return err
		case p.GoogleEventID != event.ID:
			continue // the poll names another event by now
		}
		// Hold first: a poll that shows the error must be one that a person can confirm. After
		// a crash the next run shows it.
		held, err := l.holdUnlessConfirmed(ctx, event.ID)
		if err != nil {
			return err
		}
		if !held {
			continue
		}
		l.calendar.HoldUnannounced = true
		if err := l.Polls.SetSyncError(ctx, entry.PollID, rules.MassCancellationHeld, l.cause, l.stillHolds); err != nil {
			return err
		}
	}
	return nil
}

// holdUnlessConfirmed holds the cancellation of an event unless a person has confirmed
// it.
func (l *pollConsumer) holdUnlessConfirmed(ctx context.Context, eventID string) (held bool, err error) {
	err = l.commitWith(ctx, func(now calendars.Calendar) []store.Update {
		held = now.Deferred(eventID).Why != calendars.DeferredConfirmed
		if !held {
			return nil
		}
		return calendars.Hold(eventID, l.Now())
	})
	return held, err
}

// announceHeld tells the calendar's owner once what this run, or an interrupted one, has
// held.
func (l *pollConsumer) announceHeld(ctx context.Context) error {
	now, _, err := calendars.LoadKey(ctx, l.Store, l.calendar.Key)
	if err != nil {
		return err
	}
	if held := now.Held(); len(held) > 0 {
		if err := l.Owners.NotifyHeld(ctx, now.OwnerID, now.Key, held); err != nil {
			return err
		}
	}
	return l.commit(ctx, calendars.HoldAnnounced())
}

func (l *pollConsumer) eachEntry(ctx context.Context, do func(poll.IndexEntry) error) error {
	return eachEntry(ctx, l.Store, l.ref.Account, l.ref.Calendar, do)
}

// eachEntry calls do for every event of a calendar that a poll follows, except awaited
// ones, whose polls are cancelled.
func eachEntry(ctx context.Context, reader store.Reader, accountID, calendarID string, do func(poll.IndexEntry) error) error {
	for entry, err := range poll.IndexOfCalendar(ctx, reader, accountID, calendarID) {
		if err != nil {
			return err
		}
		if entry.Awaited {
			continue
		}
		if err := do(entry); err != nil {
			return err
		}
	}
	return nil
}
