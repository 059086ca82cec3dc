package calendarsync

import (
	"context"

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
		l.Log.WarnContext(ctx, "many events gone at once; cancellations held", "calendar", l.ref.Calendar,
			"count", len(absent.gone), "unread", len(absent.unread), "trace", l.cause.Trace)
		if err := l.deferMissing(ctx, absent.unread); err != nil {
			return err
		}
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
	unread []string
	// held is how many are held already, which are not fetched again.
	held   int
	linked int // how many are linked in all
}

// findAbsent fetches the events that a full listing lacks, and applies those that are there. An
// awaited event that is not listed is still deleted, unless the listing has a nameless event.
func (l *pollConsumer) findAbsent(ctx context.Context, run Run, shown func(eventID string) bool) (absent absences, err error) {
	var missing []string
	awaited := map[string]bool{}
	for entry, err := range poll.IndexOfCalendar(ctx, l.Store, l.ref.Account, l.ref.Calendar) {
		if err != nil {
			return absences{}, err
		}
		if !entry.Awaited {
			absent.linked++
		}
		why := l.calendar.Deferred(entry.EventID).Why
		switch {
		case shown(entry.EventID), why == calendars.DeferredConfirmed, entry.Awaited && !run.part.incomplete:
		case why == calendars.DeferredHeld:
			absent.held++
		default:
			missing = append(missing, entry.EventID)
			awaited[entry.EventID] = entry.Awaited
		}
	}
	notRead := func(eventID string, failure error) error {
		if !awaited[eventID] {
			absent.unread = append(absent.unread, eventID)
		}
		return run.Applied(ctx, eventID, failure)
	}
	left, err := l.fetchMissing(ctx, missing, func(eventID string, event gcal.Event, failure error) error {
		switch {
		case failure != nil && l.endsRun(ctx, failure):
			return failure
		case failure != nil:
			return notRead(eventID, failure)
		case event.EventState != rules.Gone:
			return run.part.apply(ctx, SyncedEvent{Event: event, Fresh: true, Writable: true})
		case !awaited[eventID]:
			absent.gone = append(absent.gone, event)
		}
		return nil
	})
	for _, eventID := range left {
		if err := notRead(eventID, ErrLater); err != nil {
			return absences{}, err
		}
	}
	return absent, err
}

// deferInserts defers events that a full listing lacks while their insert is under way:
// they may have been created and deleted before it. Those linked by now are in the index,
// which is read after this.
func (l *pollConsumer) deferInserts(ctx context.Context, shown func(eventID string) bool) error {
	for intent, err := range poll.IntentsOfAccount(ctx, l.Store, l.ref.Account) {
		if err != nil {
			return err
		}
		if intent.Kind != poll.IntentInsert || intent.CalendarID != l.ref.Calendar || shown(intent.EventID) {
			continue
		}
		if err := l.commit(ctx, calendars.Defer(intent.EventID, calendars.DeferredRace, l.Now())); err != nil {
			return err
		}
	}
	return nil
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
