package mirrors

import (
	"context"
	"fmt"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

const (
	// mostFetches bounds the events that the reconciliation of a calendar fetches
	// individually.
	mostFetches = 200
	// mostFailures is after how many failures of single events it fetches no more, since
	// each may have taken the time of a call.
	mostFailures = 10
)

// comparison is what the reconciliation of a calendar compares its mirrors with.
type comparison struct {
	// shown are the listed events by id; those that mirrors name are removed from it.
	shown map[string]listedEvent
	began time.Time
	did   *Reconciled
}

// compareAll compares what mirrors' documents say with what their calendar shows. failures
// are those of single events; err ends the calendar's reconciliation.
func (w *Writer) compareAll(
	ctx context.Context, calendar calendars.Calendar, c comparison, cause scheduler.Cause,
) (failures []error, err error) {
	left := mostFetches
	for m, err := range mirror.InCalendar(ctx, w.Store, calendar.AccountID, calendar.CalendarID) {
		if err != nil {
			return failures, err
		}
		if m.IsStray() {
			continue
		}
		event, listed := c.shown[m.EventID]
		delete(c.shown, m.EventID)
		if m.State != mirror.Active || m.LastWrite.After(c.began) {
			continue
		}
		c.did.Checked++
		// Without an etag it is a cancelled occurrence.
		if event.etag == m.ETag || m.ETag == "" || left == 0 || len(failures) == mostFailures {
			continue
		}
		left--
		corrected, ends, err := w.compare(ctx, m, listed, cause)
		switch {
		case err != nil && (ends || ctx.Err() != nil):
			return failures, err
		case err != nil:
			failures = append(failures, fmt.Errorf("compare mirror %s: %w", m.ID, err))
		case corrected:
			c.did.Corrected++
		}
	}
	return failures, nil
}

// compare fetches a mirror's event and records the observation. A 404 proves no deletion of an
// event that was listed a moment ago: tomorrow's comparison decides, or its tombstone. corrected
// reports whether the mirror must be written again or is left alone from now on; ends, whether
// an error concerns more than this mirror.
func (w *Writer) compare(ctx context.Context, m mirror.Mirror, listed bool, cause scheduler.Cause) (corrected, ends bool, err error) {
	shown, err := w.fetch(ctx, gcal.Ref{Account: m.TargetAccountID, Calendar: m.TargetCalendarID}, m.EventID)
	if err != nil {
		return false, concernsAccount(err) || fault.Is(err, fault.NotFound), err
	}
	if listed && shown.EventState == rules.Gone && shown.Updated.IsZero() {
		return false, false, nil
	}
	if _, err := w.observed(ctx, m, shown, cause); err != nil {
		return false, fault.Is(err, fault.Unavailable), err
	}
	now, found, err := mirror.Load(ctx, w.Store, m.ID)
	if err != nil || !found || now.State == m.State && now.Generation == m.Generation {
		return false, fault.Is(err, fault.Unavailable), err
	}
	w.writeSoon(ctx, now)
	return true, false, nil
}

// fetch reads one event. It is Gone only if its calendar answers us as a writer: a lost calendar
// answers 404 for its events, too.
func (w *Writer) fetch(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error) {
	shown, err := w.Google.Get(ctx, ref, eventID)
	if !fault.Is(err, fault.NotFound) {
		return shown, err
	}
	access, err := w.Google.Access(ctx, ref)
	if err == nil && !access.Writable {
		err = errUnproven
	}
	return gcal.Event{ID: eventID, EventState: rules.Gone}, err
}

// concernsAccount reports whether Google would refuse any call for the account as it refused
// this one.
func concernsAccount(err error) bool {
	switch fault.KindOf(err) {
	case fault.Revoked, fault.RateLimited, fault.Exhausted:
		return err != nil
	default:
		return false
	}
}
