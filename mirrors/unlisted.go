package mirrors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/ids"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
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
	// fetch is calendarsync.Run's FetchMissing.
	fetch func(ctx context.Context, eventIDs []string, do func(string, gcal.Event, error) error) (left []string, err error)
	// follows is that of an observation.
	follows func(ctx context.Context, reader store.Reader) (bool, error)
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
// fetched, and applied as it is. If many are missing at once, none is fetched until another
// listing at least an hour later misses the same ones. It keeps their ids alone in memory.
// One that cannot be fetched or applied delays no other. What it did not get to is left to
// further listings, which need no confirmation again.
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
	if s.tooMany(len(missing), known) && !confirms(person.HeldEvents[l.calendar.Key], missing) {
		s.Log.WarnContext(ctx, "many events gone at once; their mirrors are kept until another listing confirms it",
			"calendar", l.calendar.CalendarID, "count", len(missing), "trace", l.cause.Trace)
		if err := s.setHeld(ctx, l, s.now(), fingerprint(missing)); err != nil {
			return err
		}
		return held(confirmAfter)
	}
	if !since.IsZero() { // also a run that ends early leaves fewer
		if err := s.setHeld(ctx, l, since, confirmed(len(missing))); err != nil {
			return err
		}
	}
	rest, err := s.applyMissing(ctx, l, missing)
	switch {
	case err != nil:
		return err
	case since.IsZero():
	case len(rest) > 0:
		err = s.setHeld(ctx, l, since, confirmed(len(rest)))
	default:
		err = s.setHeld(ctx, l, store.Delete, store.Delete)
	}
	if err != nil {
		return err
	}
	return errors.Join(l.failures...)
}

// confirmed is what is kept in place of a fingerprint once a second listing missed the same events, of
// which some may be left.
func confirmed(left int) string { return confirmedMark + strconv.Itoa(left) }

const confirmedMark = "confirmed, left: "

// confirms reports whether another listing missed the same events before, or whether no more are missing
// than were left of those that are confirmed.
func confirms(heldEvents string, missing []string) bool {
	text, is := strings.CutPrefix(heldEvents, confirmedMark)
	if !is {
		return heldEvents == fingerprint(missing)
	}
	left, err := strconv.Atoi(text)
	return err == nil && len(missing) <= left
}

// applyMissing fetches the events that a listing did not show and applies each as it is. rest are those
// that it did not read, or not apply.
func (s *Service) applyMissing(ctx context.Context, l *listing, missing []string) (rest []string, err error) {
	left, err := l.fetch(ctx, missing, func(eventID string, event gcal.Event, failure error) error {
		if failure == nil {
			event.ID = eventID
			failure = s.applyListed(ctx, l, event)
		}
		if failure == nil {
			return nil
		}
		rest = append(rest, eventID)
		return l.bear(ctx, eventID, failure)
	})
	rest = append(rest, left...)
	if len(rest) > 0 && len(l.failures) == 0 {
		l.failures = append(l.failures, calendarsync.ErrLater)
	}
	return rest, err
}

// fingerprint is the same for the same events alone, in any order.
func fingerprint(eventIDs []string) string {
	return ids.Of(slices.Sorted(slices.Values(eventIDs))...).Hex(16)
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
// the calendar alone.
func (s *Service) applyListed(ctx context.Context, l *listing, event gcal.Event) error {
	return s.apply(ctx, observation{calendar: l.calendar, cause: l.cause, event: event, writable: true, unlisted: true, follows: l.follows})
}

// setHeld records since when which events of the calendar are held, or store.Delete.
func (s *Service) setHeld(ctx context.Context, l *listing, since, events any) error {
	return s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if followed, err := l.follows(ctx, tx); err != nil || !followed {
			return err
		}
		return tx.Merge(mirror.PersonPath(l.calendar.OwnerID), store.Update{Path: store.Field("heldSince", l.calendar.Key), Value: since},
			store.Update{Path: store.Field("heldEvents", l.calendar.Key), Value: events})
	})
}
