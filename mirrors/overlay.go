package mirrors

import (
	"cmp"
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
)

const (
	// overlayLease is how long one attempt has the creation of a calendar to itself, and
	// overlayCall how much of it may pass before the call that creates it.
	overlayLease = 2 * time.Minute
	overlayCall  = 40 * time.Second
	// overlayPause is how long a mirror waits for another's attempt.
	overlayPause = 5 * time.Second
)

// openOverlay creates an account's overlay calendar. Google takes no id for a calendar, so
// one attempt at a time has a lease in its owner's document, and each searches for the mark
// of an earlier one first.
func (w *Writer) openOverlay(ctx context.Context, a *attempt) error {
	owner, account := a.Mirror.OwnerID, a.Mirror.TargetAccountID
	trying, before, err := w.claimOverlay(ctx, owner, account)
	if err != nil {
		return err
	}
	if trying.TryingUntil.IsZero() { // another attempt is under way, or over
		_, _, err := w.commit(ctx, a.Mirror, a.cause, func(m *mirror.Mirror) outcome {
			if trying.CalendarID == "" && !trying.Suppressed {
				m.Due = store.Instant(w.Now().Add(overlayPause))
			}
			return outcome{}
		})
		return err
	}
	id, unknown, failure := w.findOrCreate(ctx, a, trying, !before.IsZero())
	if failure != nil {
		if !unknown { // as it was before
			err = w.writeOverlay(ctx, owner, account, trying, func(o *mirror.OverlayCalendar) { o.TryingUntil = before })
		}
		if err != nil {
			return err
		}
		return w.failed(ctx, a, failure)
	}
	return w.enterOverlay(ctx, a, trying, id)
}

// claimOverlay takes the lease of an attempt. The result's TryingUntil is zero if there is
// none to take; before is what it was.
func (w *Writer) claimOverlay(ctx context.Context, owner, account string) (o mirror.OverlayCalendar, before time.Time, err error) {
	now := store.Instant(w.Now())
	err = w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		person, err := mirror.LoadPerson(ctx, tx, owner)
		if err != nil {
			return err
		}
		o = person.Overlays[account]
		before = o.TryingUntil
		if o.CalendarID != "" || o.Suppressed || before.After(now) {
			o.TryingUntil = time.Time{}
			return nil
		}
		o.TryingUntil, o.Generation = now.Add(overlayLease), max(1, o.Generation)
		o.Mark = cmp.Or(o.Mark, mirror.OverlayMark(w.Installation, account, o.Generation))
		return tx.Merge(mirror.PersonPath(owner), mirror.WriteOverlay(owner, account, o, now)...)
	})
	return o, before, err
}

// findOrCreate returns the id of the calendar of an attempt. unsure means that an earlier
// attempt may have created it; unknown, with an error, that this one may have.
func (w *Writer) findOrCreate(
	ctx context.Context, a *attempt, trying mirror.OverlayCalendar, unsure bool,
) (id string, unknown bool, err error) {
	account := a.Mirror.TargetAccountID
	entries, err := a.google.Calendars(ctx, account)
	zone := ""
	switch {
	case err == nil:
		for _, entry := range entries {
			if mirror.MarksOverlay(entry.Description, trying.Mark) {
				return entry.ID, false, nil
			}
			if entry.Primary {
				zone = entry.TimeZone
			}
		}
	case fault.CodeOf(err) != gcal.CodeScopeMissing:
		return "", false, err
	case unsure:
		return "", false, fault.Wrap(fault.Forbidden, err, sayUnsure)
	default:
		access, err := a.google.Access(ctx, gcal.Ref{Account: account, Calendar: a.Account.Primary()})
		if err != nil {
			return "", false, err
		}
		zone = access.TimeZone
	}
	if trying.TryingUntil.Add(overlayCall - overlayLease).Before(w.Now()) { // the call could outlast the lease
		return "", false, fault.New(fault.Unavailable, "Google Calendar was slow; it is retried automatically.")
	}
	id, err = a.google.InsertCalendar(ctx, account, gcal.NewCalendar{
		Summary: mirror.OverlaySummary, Description: mirror.OverlayDescription(trying.Mark), TimeZone: zone,
	})
	return id, fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Internal), err
}

// enterOverlay records an account's overlay calendar and has the sync follow it, so that
// changes by a person are found. If the account was unlinked since, or lost its grant, the calendar is
// followed once it is linked again.
func (w *Writer) enterOverlay(ctx context.Context, a *attempt, trying mirror.OverlayCalendar, id string) error {
	owner, account, now := a.Mirror.OwnerID, a.Mirror.TargetAccountID, w.Now()
	entered, followed := false, false
	err := w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		entered, followed = false, false
		person, err := mirror.LoadPerson(ctx, tx, owner)
		if err != nil {
			return err
		}
		o := person.Overlays[account]
		linked, err := accounts.Load(ctx, tx, account)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		isUsable := err == nil && linked.Usable() == nil
		calendar, _, err := calendars.Load(ctx, tx, account, id)
		if err != nil || o.Generation != trying.Generation || o.CalendarID != "" || o.Suppressed {
			return err
		}
		o.CalendarID, o.TryingUntil, entered = id, time.Time{}, true
		if err := tx.Merge(mirror.PersonPath(owner), mirror.WriteOverlay(owner, account, o, now)...); err != nil {
			return err
		}
		if !isUsable {
			return nil
		}
		followed = true
		return tx.Merge(calendars.Path(calendar.Key), calendar.Want(mirror.Consumer, max(1, calendar.Interests[mirror.Consumer]),
			a.cause.Request(now), owner)...)
	})
	if err != nil || !entered {
		return err
	}
	w.Meter.Count(OverlayCreated{})
	if !followed {
		return nil
	}
	if err := w.Follow(ctx, account, id, a.cause); err != nil {
		w.Log.WarnContext(ctx, "overlay calendar not watched yet", "calendar", id, "account", account, "trace", a.cause.Trace, "error", err)
	}
	return nil
}

// writeOverlay changes an account's overlay as long as it is that of the attempt.
func (w *Writer) writeOverlay(
	ctx context.Context, owner, account string, trying mirror.OverlayCalendar, change func(o *mirror.OverlayCalendar),
) error {
	return w.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		person, err := mirror.LoadPerson(ctx, tx, owner)
		o := person.Overlays[account]
		if err != nil || !o.TryingUntil.Equal(trying.TryingUntil) || o.Generation != trying.Generation {
			return err
		}
		change(&o)
		return tx.Merge(mirror.PersonPath(owner), mirror.WriteOverlay(owner, account, o, w.Now())...)
	})
}

// calendarMissing decides about a mirror whose calendar was not found, which alone proves
// nothing. An overlay calendar that its account's list does not show was deleted by its
// owner.
func (w *Writer) calendarMissing(ctx context.Context, a *attempt, missing error) error {
	m := a.Mirror
	switch {
	case m.Target != mirror.Overlay || !fault.Is(missing, fault.NotFound):
		return w.failed(ctx, a, missing)
	case a.Overlay.CalendarID != "" && a.Overlay.CalendarID != m.TargetCalendarID:
		return w.nextGeneration(ctx, a, "the account has another overlay calendar")
	case !a.Overlay.Suppressed:
		listed, err := w.lists(ctx, m.TargetAccountID, m.TargetCalendarID)
		if err != nil || listed {
			return w.failed(ctx, a, cmp.Or(err, missing))
		}
	}
	return w.suppressOverlay(ctx, m.OwnerID, m.TargetAccountID, m.TargetCalendarID, a.cause)
}

// lists reports whether an account's list shows a calendar. Forbidden: the list was not
// granted.
func (w *Writer) lists(ctx context.Context, account, calendarID string) (bool, error) {
	entries, err := w.Google.Calendars(ctx, account)
	return slices.ContainsFunc(entries, func(e gcal.CalendarEntry) bool { return e.ID == calendarID }), err
}
