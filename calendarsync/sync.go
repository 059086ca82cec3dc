package calendarsync

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// syncRun is one sync of one calendar.
type syncRun struct {
	*Syncer
	// calendar is as it was when the run began, with the token for further listings.
	calendar calendars.Calendar
	ref      gcal.Ref
	fence    int64
	cause    scheduler.Cause
	// parts are what the run does for each consumer; polls come first.
	parts []*part
	// inFullListing are the events of a full listing that concern a consumer; nil in an
	// incremental one.
	inFullListing map[string]bool
	// relisted are those of the listing that last rechecked a 404.
	relisted map[string]bool
	// answered: Google listed a page of the calendar. refused: it refused the last one
	// (gcal.RefusesCalendar).
	answered, refused bool
	// renewed is when the lease was last renewed.
	renewed time.Time
	// next is when the next run is due for what this one left; zero: it left nothing. A run that
	// was requested during it was woken with its request.
	next time.Time
}

// syncWorkers is how many calendars a process syncs at once. A run mostly awaits Google.
const syncWorkers = 40

// Work is the outbox's kind of the syncs of calendars. The claim of a run is its fence, and its
// end is recorded with what else it ends with, so the outbox claims nothing.
func (l *Syncer) Work() outbox.Kind {
	return outbox.Kind{
		Name: calendars.SyncKind, Does: "syncs of calendars", Workers: syncWorkers, Unclaimed: true, Planned: true,
		Timeout: outbox.LongestRun, // a full listing that does not end begins anew
		Path:    calendars.Path, Due: outbox.Query(calendars.SyncsDue), Codec: outbox.DueAt("syncAt", "syncTrace"), Handle: l.handle,
	}
}

func (l *Syncer) handle(ctx context.Context, item outbox.Item) outbox.Result {
	run, again, err := l.claim(ctx, item.ID)
	switch {
	case err != nil:
		return outbox.Broken(err)
	case run == nil:
		return outbox.Kept(again)
	}
	began := l.Now()
	err = run.run(ctx)
	l.Meter.Count(Synced{run.cause.Trigger, err, l.Now().Sub(began)})
	return run.result(ctx, err)
}

// claim begins a run that is due: in one transaction, before anything is listed, the fence
// moves on and the request and the lease are taken. Any later trigger requests the next run.
// run is nil if none begins now, and again is when to try once more; zero: nothing is due.
func (l *Syncer) claim(ctx context.Context, key string) (run *syncRun, again time.Time, err error) {
	err = l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		run, again = nil, time.Time{}
		calendar, ok, err := calendars.LoadKey(ctx, tx, key)
		if err != nil || !ok {
			return err
		}
		updates, fence := calendar.Skip(), int64(0)
		if calendar.Wanted() {
			updates, fence, again = calendar.Claim(l.Now(), l.MinGap)
		}
		if fence != 0 {
			cause := scheduler.Cause{Trigger: cmp.Or(calendar.SyncCause, "drain"), Trace: calendar.SyncTrace}
			run = &syncRun{
				Syncer: l, calendar: calendar, ref: gcal.Ref{Account: calendar.AccountID, Calendar: calendar.CalendarID},
				fence: fence, cause: cause, renewed: l.Now(),
			}
			run.parts = run.newParts()
		}
		if len(updates) == 0 {
			return nil
		}
		return tx.Update(calendars.Path(key), updates...)
	})
	return run, again, err
}

// run lists what changed, applies it for each consumer, and stores the new token once each
// has applied or deferred everything. Where none could go on, everything is listed again.
func (l *syncRun) run(ctx context.Context) error {
	next, err := l.listChanges(ctx)
	if err != nil && !errors.Is(err, errStopped) {
		return err
	}
	for _, part := range l.parts {
		if err := part.complete(ctx); err != nil {
			return err
		}
	}
	for _, part := range l.parts {
		if err := part.finish(ctx); err != nil {
			return err
		}
	}
	return l.end(ctx, next)
}

// listChanges lists the changes since the stored token, or everything if it does not count
// any more, and returns the new one.
func (l *syncRun) listChanges(ctx context.Context) (next string, err error) {
	if l.calendar.MaskVersion != l.maskVersion() {
		l.calendar.SyncToken = "" // issued for other fields, so as good as expired
	}
	next, err = l.list(ctx, l.calendar.SyncToken)
	if fault.CodeOf(err) == gcal.CodeSyncTokenExpired {
		// The full listing shows no deletions; Consumer.Unlisted finds them.
		l.Log.InfoContext(ctx, "sync token rejected; running a full sync", "calendar", l.ref.Calendar, "account", l.ref.Account,
			"hint", l.cause.Trigger, "trace", l.cause.Trace, "error", err)
		if err := l.commit(ctx, calendars.ResetToken()...); err != nil {
			return "", err
		}
		next, err = l.list(ctx, "")
	}
	if err == nil {
		l.calendar.SyncToken = next // for listings from here on
	}
	return next, err
}

// list delivers each event that concerns a consumer, page by page, and returns the last
// page's token.
func (l *syncRun) list(ctx context.Context, token string) (nextToken string, err error) {
	l.inFullListing = nil
	if token == "" {
		l.inFullListing = map[string]bool{}
		for _, part := range l.parts {
			part.memo = nil
		}
	}
	return l.eachPage(ctx, token, func(page gcal.Page) error {
		return l.deliver(ctx, page, l.parts, l.inFullListing)
	})
}

// errStopped says that no consumer takes further events in this run.
var errStopped = errors.New("no consumer takes further events")

// deliver applies a page's events for each part that they concern, and adds them to listed
// unless that is nil.
func (l *syncRun) deliver(ctx context.Context, page gcal.Page, parts []*part, listed map[string]bool) error {
	for _, event := range page.Events {
		for _, part := range parts {
			if event.ID == "" || !part.concerned(event.ID) { // see gcal.Page.Nameless
				continue
			}
			if listed != nil {
				listed[event.ID] = true
			}
			if part.collects(event) {
				continue
			}
			if err := part.apply(ctx, SyncedEvent{Event: event, Writable: page.Writable}); err != nil {
				return err
			}
		}
	}
	for _, part := range parts {
		if err := part.applyPage(ctx, page, listed != nil); err != nil {
			return err
		}
	}
	for _, part := range parts {
		part.incomplete = part.incomplete || page.Nameless
	}
	if slices.ContainsFunc(parts, func(p *part) bool { return !p.stopped() }) {
		return nil
	}
	return errStopped
}

// end records what was done for each consumer, and in the same transaction the new token and when
// deferred events are tried again.
func (l *syncRun) end(ctx context.Context, next string) error {
	return l.commitWith(ctx, func(now calendars.Calendar) (updates []store.Update) {
		l.next = time.Time{}
		for _, part := range l.parts {
			written, again := part.progress(l.calendar, now, l.Now())
			updates = append(updates, written...)
			if again == 0 && part.Name() == poll.ConsumerPoll && now.HoldUnannounced && !l.Observing {
				again = time.Second // it waited for an event that this run settled
			}
			if at := l.Now().Add(again); again > 0 && (l.next.IsZero() || at.Before(l.next)) {
				l.next = at
			}
		}
		updates = append(updates, calendars.InZone(l.calendar.TimeZone)...)
		return append(updates, now.Succeeded(l.Now(), next, l.maskVersion(), l.next)...)
	})
}

// eachPage calls do for each page of a listing and returns the last page's token. It
// keeps the lease between pages.
func (l *syncRun) eachPage(ctx context.Context, token string, do func(gcal.Page) error) (nextToken string, err error) {
	for page := ""; ; {
		got, err := l.page(ctx, token, page)
		if err != nil {
			return "", err
		}
		l.calendar.TimeZone = cmp.Or(got.TimeZone, l.calendar.TimeZone)
		if err := do(got); err != nil {
			return "", err
		}
		if got.NextPage == "" {
			return got.NextSync, nil
		}
		if got.NextPage == page { // an endless loop
			return "", fault.New(fault.Unavailable, "the calendar's listing names the same page again")
		}
		page = got.NextPage
		if err := l.keepLease(ctx); err != nil {
			return "", err
		}
	}
}

// page lists one page, with the fields that the calendar's consumers read.
func (l *syncRun) page(ctx context.Context, token, page string) (gcal.Page, error) {
	got, err := l.Google.List(ctx, l.ref, l.mask(), token, page)
	l.answered, l.refused = l.answered || err == nil, gcal.RefusesCalendar(err)
	return got, err
}

// mask is the widest that a consumer of the calendar reads.
func (l *syncRun) mask() (widest gcal.Mask) {
	for _, part := range l.parts {
		widest = max(widest, part.Reads())
	}
	return widest
}

// maskVersion is stored with sync tokens. A token from observing is invalid for applying, as
// nothing it covers was applied, and vice versa: the next run is a full sync.
func (l *syncRun) maskVersion() int64 {
	if l.Observing {
		return -l.mask().Version()
	}
	return l.mask().Version()
}

// keepLease renews the lease if a third of it is over.
func (l *syncRun) keepLease(ctx context.Context) error {
	if l.Now().Sub(l.renewed) < calendars.Lease/3 {
		return nil
	}
	l.renewed = l.Now()
	return l.commitWith(ctx, func(now calendars.Calendar) []store.Update { return now.Renew(l.renewed) })
}

// stillHolds fails a transaction with ErrFenced if a newer run of the calendar began.
func (l *syncRun) stillHolds(ctx context.Context, now store.Reader) error {
	_, err := l.held(ctx, now)
	return err
}

// held is the calendar as it is now; it fails as stillHolds does.
func (l *syncRun) held(ctx context.Context, now store.Reader) (calendars.Calendar, error) {
	calendar, _, err := calendars.LoadKey(ctx, now, l.calendar.Key)
	if err == nil && !calendar.Holds(l.fence) {
		err = scheduler.ErrFenced
	}
	return calendar, err
}

// commit updates the calendar's document while this run holds it.
func (l *syncRun) commit(ctx context.Context, updates ...store.Update) error {
	return l.commitWith(ctx, func(calendars.Calendar) []store.Update { return updates })
}

// commitWith is commit for updates that depend on the current calendar. It requests a run of
// each woken calendar, which the drain wakes.
func (l *syncRun) commitWith(ctx context.Context, updates func(now calendars.Calendar) []store.Update, woken ...calendars.Calendar) error {
	return l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		calendar, _, err := calendars.LoadKey(ctx, tx, l.calendar.Key)
		if err != nil {
			return err
		}
		if !calendar.Holds(l.fence) {
			return scheduler.ErrFenced
		}
		for _, other := range woken {
			if err := tx.Update(calendars.Path(other.Key), calendars.RequestSync(l.cause.Request(l.Now()))...); err != nil {
				return err
			}
		}
		if writes := updates(calendar); len(writes) > 0 {
			return tx.Update(calendars.Path(calendar.Key), writes...)
		}
		return nil
	})
}
