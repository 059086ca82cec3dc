package mirrors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/ids"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// CodeMassDeletionHeld (Unavailable): many events are missing from a calendar at once, which
// a later full listing has to confirm.
const CodeMassDeletionHeld = "mass_deletion_held"

// confirmAfter is how much later a second full listing has to miss the events.
const confirmAfter = time.Hour

// listing is a full listing of a calendar.
type listing struct {
	calendar calendars.Calendar
	cause    scheduler.Cause
	shown    func(eventID string) bool
	// known is what was stored when it began.
	known *stored
	// fetch reads one event; it is Gone only if that is confirmed.
	fetch func(ctx context.Context, eventID string) (gcal.Event, error)
	holds func(ctx context.Context, reader store.Reader) error
	// failures are those of single events, of which few are borne.
	failures []error
}

// bear notes the failure of an event, so that it delays no other, and returns one that ends the listing.
func (l *listing) bear(ctx context.Context, eventID string, failure error) error {
	if ctx.Err() != nil || concernsAccount(failure) || errors.Is(failure, scheduler.ErrFenced) || len(l.failures) == mostFailures {
		return failure
	}
	l.failures = append(l.failures, fmt.Errorf("the missing event %s: %w", eventID, failure))
	return nil
}

// unlisted decides about the events of a calendar that a full listing did not show: each is
// fetched, and applied as it is. If many are gone at once, they are held until another
// listing at least an hour later misses the same ones. It keeps their ids alone in memory.
// One that cannot be fetched or applied delays no other, and has the calendar listed again.
func (s *Service) unlisted(ctx context.Context, l *listing) error {
	person, err := mirror.LoadPerson(ctx, s.Store, l.calendar.OwnerID)
	if err != nil {
		return err
	}
	since := person.HeldSince[l.calendar.Key]
	if left := since.Add(confirmAfter).Sub(s.Now()); !since.IsZero() && left > 0 {
		return held(left)
	}
	known, missing, err := s.missing(ctx, l)
	if err != nil {
		return err
	}
	gone, unread, err := s.fetchMissing(ctx, l, missing)
	if err != nil {
		return err
	}
	found := fingerprint(gone)
	if s.tooMany(len(gone)+unread, known) && found != person.HeldEvents[l.calendar.Key] {
		s.Log.WarnContext(ctx, "many events gone at once; their mirrors are kept until another listing confirms it",
			"calendar", l.calendar.CalendarID, "count", len(gone), "trace", l.cause.Trace)
		if err := s.setHeld(ctx, l, s.now(), found); err != nil {
			return err
		}
		return held(confirmAfter)
	}
	for _, event := range gone {
		if err := s.applyListed(ctx, l, event); err != nil {
			return err
		}
	}
	if !since.IsZero() {
		if err := s.setHeld(ctx, l, store.Delete, store.Delete); err != nil {
			return err
		}
	}
	return errors.Join(l.failures...)
}

// fetchMissing fetches the events that a listing did not show, applies those that are there, and returns
// those that are gone. unread is how many could not be fetched.
func (s *Service) fetchMissing(ctx context.Context, l *listing, missing []string) (gone []gcal.Event, unread int, err error) {
	for _, eventID := range missing {
		event, err := l.fetch(ctx, eventID)
		switch {
		case err != nil:
			unread++
			err = l.bear(ctx, eventID, err)
		case event.EventState == rules.Gone:
			gone = append(gone, gcal.Event{
				ID: eventID, EventState: rules.Gone, InstanceOf: event.InstanceOf, Updated: event.Updated, Details: event.Details,
			})
		default:
			err = s.applyListed(ctx, l, event)
		}
		if err != nil {
			return nil, 0, err
		}
	}
	return gone, unread, nil
}

// fingerprint is the same for the same events alone.
func fingerprint(events []gcal.Event) string {
	all := make([]string, len(events))
	for i, event := range events {
		all[i] = event.ID
	}
	return ids.Of(all...).Hex(16)
}

func held(left time.Duration) error {
	return &fault.Error{
		Kind: fault.Unavailable, Code: CodeMassDeletionHeld, RetryAfter: left,
		Message: "Many events are missing from the calendar at once. Another listing has to confirm that.",
	}
}

// tooMany reports whether too many known events are gone at once to be believed.
func (s *Service) tooMany(gone, known int) bool {
	return gone > s.HoldMin && float64(gone) > s.HoldShare*float64(known)
}

// missing counts the events that the calendar should have, origins and mirrors, and lists
// those that were not shown.
func (s *Service) missing(ctx context.Context, l *listing) (known int, missing []string, err error) {
	expect := func(eventID string) {
		known++
		if !l.shown(eventID) {
			missing = append(missing, eventID)
		}
	}
	for _, eventID := range l.known.expected {
		expect(eventID)
	}
	for m, err := range mirror.InCalendar(ctx, s.Store, l.calendar.AccountID, l.calendar.CalendarID) {
		if err != nil {
			return 0, nil, err
		}
		_, counted := l.known.copies[m.EventID] // a mirror's copy is of the same event
		if !counted && m.EventID != "" && m.ETag != "" &&
			(m.State == mirror.Active || m.State == mirror.Pending || m.State == mirror.Failed) {
			expect(m.EventID)
		}
	}
	return known, missing, nil
}

// applyListed applies an event that was fetched, which confirms an absence to writers of
// the calendar alone. Its error ends the listing.
func (s *Service) applyListed(ctx context.Context, l *listing, event gcal.Event) error {
	err := s.apply(ctx, observation{calendar: l.calendar, cause: l.cause, event: event, writable: true, unlisted: true, holds: l.holds})
	if err == nil {
		return nil
	}
	return l.bear(ctx, event.ID, err)
}

// setHeld records since when which events of the calendar are held, or store.Delete.
func (s *Service) setHeld(ctx context.Context, l *listing, since, events any) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := l.holds(ctx, tx); err != nil {
			return err
		}
		return tx.Merge(mirror.PersonPath(l.calendar.OwnerID), store.Update{Path: store.Field("heldSince", l.calendar.Key), Value: since},
			store.Update{Path: store.Field("heldEvents", l.calendar.Key), Value: events})
	})
}
