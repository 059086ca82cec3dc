package mirrors

import (
	"context"
	"errors"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

// Reconciled counts what a step of the reconciliation did.
type Reconciled struct {
	Calendars int
	// Checked are mirrors compared, Corrected those that were not as their documents say.
	Checked, Corrected int
	// Strays are events of ours that no document names and that were deleted; Guarded those
	// left alone because they are many.
	Strays, Guarded int
	// Failed are calendars left to the next day.
	Failed int
}

// reconcilePage is how many calendars' documents are read at once.
const reconcilePage = 50

// Reconcile compares what mirrors' documents say with what their calendars have, and
// corrects what the sync missed: events that are missing or were changed, and strays,
// events of ours that no document names. It runs daily and takes the next calendar that
// mirroring follows, behind the key at ("": the first); next is where to continue, "" at
// the end. An event that fails delays no other, and is left to the next day as a calendar
// that fails is. More strays than HoldMin and HoldShare are left alone unless byHand:
// rather the documents are wrong.
func (w *Writer) Reconcile(ctx context.Context, cause scheduler.Cause, at string, byHand bool) (did Reconciled, next string, err error) {
	page, further, err := calendars.All(ctx, w.Store, reconcilePage, at)
	if err != nil || w.Observing {
		return did, "", err
	}
	for _, calendar := range page {
		if calendar.Interests[mirror.Consumer] == 0 {
			continue
		}
		did, err = w.reconcile(ctx, calendar, cause, byHand)
		switch {
		case errors.Is(ctx.Err(), context.Canceled): // the program ends
			return did, at, err
		case err != nil:
			w.Log.WarnContext(ctx, "calendar's mirrors not reconciled", "calendar", calendar.CalendarID, "account", calendar.AccountID,
				"trace", cause.Trace, "error", err)
			did.Failed = 1
		}
		did.Calendars = 1
		return did, calendar.Key, nil
	}
	return did, further, nil
}

// reconcile reconciles one calendar. The documents are read after the listing: an event
// that was created during it is named by a document before it exists.
func (w *Writer) reconcile(
	ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause, byHand bool,
) (did Reconciled, err error) {
	account, err := accounts.Load(ctx, w.Store, calendar.AccountID)
	gone := fault.Is(err, fault.NotFound)
	if err != nil && !gone {
		return did, err
	}
	if gone || account.Usable() != nil {
		return did, nil //nolint:nilerr // it is reconciled after it is linked again
	}
	began := w.Now()
	shown, err := w.listOurs(ctx, gcal.Ref{Account: calendar.AccountID, Calendar: calendar.CalendarID})
	if fault.Is(err, fault.NotFound) {
		return did, w.calendarLost(ctx, calendar, cause, err)
	}
	if err != nil {
		return did, err
	}
	c := comparison{shown: shown, began: began, did: &did}
	failures, err := w.compareAll(ctx, calendar, c, cause)
	if err != nil {
		return did, err
	}
	err = w.deleteStrays(ctx, calendar, c, cause, byHand)
	return did, errors.Join(append(failures, err)...)
}

// listedEvent is what the reconciliation keeps of an event with an id like a mirror's.
type listedEvent struct {
	etag  string
	stray bool // may be deleted by the account if no document names it
}

// listOurs lists the events in a calendar that may be ours. It keeps nothing of others, and
// drops the listing's token.
func (w *Writer) listOurs(ctx context.Context, ref gcal.Ref) (shown map[string]listedEvent, err error) {
	shown = map[string]listedEvent{}
	for pageToken, more := "", true; more; more = pageToken != "" {
		page, err := w.Google.List(ctx, ref, gcal.WithDetails, "", pageToken)
		if err != nil {
			return nil, err
		}
		for _, event := range page.Events {
			if !plan.MayBeOurs(event) {
				continue
			}
			class := plan.Classify(event, ref.Calendar, w.Installation, mirror.Naming{})
			shown[event.ID] = listedEvent{
				event.ETag, page.Writable && plan.DeletesStray(event, w.Installation, class) && !endedLongAgo(event, w.Now()),
			}
		}
		pageToken = page.NextPage
	}
	return shown, nil
}

// deleteStrays deletes events of ours that no document of anybody names: others mirror into
// a shared calendar too. It asks after the listing, and one that changed since stays.
func (w *Writer) deleteStrays(
	ctx context.Context, calendar calendars.Calendar, c comparison, cause scheduler.Cause, byHand bool,
) error {
	var ids []string
	for id, event := range c.shown {
		if event.stray {
			ids = append(ids, id)
		}
	}
	naming, err := mirror.NamingOf(ctx, w.Store, ids...)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return naming.Anywhere(id) })
	if many := len(ids) > w.HoldMin && float64(len(ids)) > w.HoldShare*float64(len(ids)+c.did.Checked); many && !byHand {
		c.did.Guarded = len(ids)
		w.Log.ErrorContext(ctx, "many events of ours have no mirror; none was deleted", "events", len(ids), "calendar", calendar.CalendarID,
			"account", calendar.AccountID, "trace", cause.Trace)
		return nil
	}
	slices.Sort(ids)
	var failures []error
	for _, id := range ids {
		_, err := w.Google.DeleteQuietly(ctx, gcal.Ref{Account: calendar.AccountID, Calendar: calendar.CalendarID}, id, c.shown[id].etag)
		switch {
		case err == nil || fault.Is(err, fault.NotFound):
			c.did.Strays++
			w.Meter.Count(StrayDeleted{})
			w.Log.InfoContext(ctx, "stray event of ours deleted", "event", id, "calendar", calendar.CalendarID, "trace", cause.Trace)
		case fault.CodeOf(err) != gcal.CodeStale: // one that changed is decided about tomorrow
			failures = append(failures, err)
		}
		if ctx.Err() != nil || concernsAccount(err) {
			break
		}
	}
	return errors.Join(failures...)
}

// calendarLost decides about a calendar that was not found: an overlay calendar that its account
// does not list was deleted by its owner.
func (w *Writer) calendarLost(ctx context.Context, calendar calendars.Calendar, cause scheduler.Cause, missing error) error {
	person, err := mirror.LoadPerson(ctx, w.Store, calendar.OwnerID)
	if err != nil {
		return err
	}
	if person.Overlays[calendar.AccountID].CalendarID != calendar.CalendarID {
		return missing
	}
	listed, err := w.lists(ctx, calendar.AccountID, calendar.CalendarID)
	if err != nil || listed {
		return errors.Join(missing, err)
	}
	return w.suppressOverlay(ctx, calendar.OwnerID, calendar.AccountID, calendar.CalendarID, cause)
}
