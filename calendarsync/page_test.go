package calendarsync_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// repeating is a calendar whose listing names the same page for ever. It ends
// a test that would follow it.
type repeating struct {
	calendarsync.Google
	t     *testing.T
	calls int
}

func (r *repeating) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, _ string) (gcal.Page, error) {
	r.calls++
	if r.calls > 100 {
		r.t.Fatal("the sync follows the same page for ever")
	}
	page, err := r.Google.List(ctx, ref, mask, syncToken, "")
	page.NextPage, page.NextSync = "again", ""
	return page, err
}

func TestSync_WhoseListingRepeatsAPage_Ends(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	before := w.Calendar("gm").SyncToken
	w.Syncer.Google = &repeating{Google: w.Syncer.Google, t: t}
	w.PatchEvent("gm", eventID, map[string]any{"summary": "Another title"})
	w.RunDue()
	if got := w.Calendar("gm").SyncToken; got != before {
		t.Error("the cursor moved although the listing never came to its end")
	}
	if got := w.View(pollID).Poll.Status; got != rules.Finalized {
		t.Errorf("the poll is %s", got)
	}
}

// ending is a Google that does not answer before the caller's time is over, which
// it ends.
type ending struct {
	calendarsync.Google
	end func()
}

func (e ending) List(ctx context.Context, _ gcal.Ref, _ gcal.Mask, _, _ string) (gcal.Page, error) {
	e.end()
	<-ctx.Done()
	return gcal.Page{}, fault.Wrap(fault.Unavailable, ctx.Err(), "Google was not waited for.")
}

// Each row ends a sync early, and says whether health shows that as a failure of the
// calendar. The calendar is free for the next sync at once.
func TestSync_ThatTimesOut_ReleasesItsCalendar(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		limit  func(ctx context.Context) (context.Context, context.CancelFunc)
		failed bool
	}{
		"the server ends": {context.WithCancel, false},
		"it takes too long": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			t.Cleanup(cancel)
			return ctx, func() {} // the timeout ends it
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			w.Finalised()
			w.Run(time.Minute)
			google := w.Syncer.Google
			ctx, cancel := row.limit(t.Context())
			w.Syncer.Google = ending{google, cancel}
			key := w.Calendar("gm").Key
			w.Write(calendars.Path(key), calendars.RequestSync(worldtest.Cause.Request(w.Clock.Now()))...)
			_, err := w.Outbox.Run(ctx, calendars.SyncKind, key)
			if (err == nil) != row.failed {
				t.Errorf("the run ends with %v", err)
			}
			calendar := w.Calendar("gm")
			if due := calendar.SyncAt; due.IsZero() || due.After(w.Clock.Now().Add(time.Second)) {
				t.Errorf("the next run is due at %v", due)
			}
			if !calendar.LeaseUntil.IsZero() || calendar.FailedSince.IsZero() == row.failed {
				t.Errorf("it is held until %v, and fails since %v", calendar.LeaseUntil, calendar.FailedSince)
			}
			w.Syncer.Google = google
			w.Skip(time.Second)
			if again, err := w.Outbox.Run(t.Context(), calendars.SyncKind, key); err != nil || !again.IsZero() ||
				!w.Calendar("gm").SuccessAt.Equal(w.Clock.Now()) {
				t.Errorf("the next sync: again at %v, %v", again, err)
			}
		})
	}
}

// paging is a Google whose pages take a while.
type paging struct {
	calendarsync.Google
	list func()
}

func (p paging) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	p.list()
	return p.Google.List(ctx, ref, mask, syncToken, pageToken)
}

// The lease is kept during a listing of many pages, and not written for each of them.
func TestSync_OfManyPages_KeepsItsLease(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		page     time.Duration
		renewals int
	}{{page: time.Second}, {page: 19 * time.Second, renewals: 1}, {page: 30 * time.Second, renewals: 3}} {
		w := worldtest.New(t, worldtest.Options{})
		w.Finalised()
		for range 10 { // four pages
			w.InsertEvent("gm", map[string]any{"start": map[string]any{"date": "2026-03-10"}, "end": map[string]any{"date": "2026-03-11"}})
		}
		pages, renewals, until := 0, 0, time.Time{}
		w.Syncer.Google = paging{w.Syncer.Google, func() {
			w.Skip(row.page)
			held := w.Calendar("gm").LeaseUntil
			if !held.After(w.Clock.Now()) {
				t.Errorf("pages of %v: the lease ended at %v, during page %d", row.page, held, pages)
			}
			pages++
			if pages > 1 && !held.Equal(until) {
				renewals++
			}
			until = held
		}}
		w.RunDue()
		if pages != 4 || renewals != row.renewals {
			t.Errorf("pages of %v: %d pages, %d renewals of the lease, want %d", row.page, pages, renewals, row.renewals)
		}
	}
}

// asked is a Google that notes until when a listing may take.
type asked struct {
	calendarsync.Google
	until *time.Time
}

func (a asked) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	*a.until, _ = ctx.Deadline()
	return a.Google.List(ctx, ref, mask, syncToken, pageToken)
}

// A full listing that does not end in its run begins anew, so one of 100 pages needs more than a
// minute.
func TestSync_MayTakeLongerThanOtherWork(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	w.Finalised()
	w.Run(time.Minute)
	var until time.Time
	w.Syncer.Google = asked{w.Syncer.Google, &until}
	key := w.Calendar("gm").Key
	w.Write(calendars.Path(key), calendars.RequestSync(worldtest.Cause.Request(w.Clock.Now()))...)
	began := time.Now()
	if _, err := w.Outbox.Run(t.Context(), calendars.SyncKind, key); err != nil {
		t.Fatal(err)
	}
	if allowed := until.Sub(began); allowed < outbox.LongestRun {
		t.Errorf("a listing may take %v", allowed)
	}
}
