package mirrors_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
)

// halved is a Google that lists everything on two pages, and between them does something, once.
type halved struct {
	calendarsync.Google
	between func()
}

func (h *halved) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	if pageToken != "" && h.between != nil {
		h.between()
		h.between = nil
	}
	page, err := h.Google.List(ctx, ref, mask, syncToken, "")
	half := len(page.Events) / 2
	if pageToken != "" {
		page.Events = page.Events[half:]
	} else {
		page.Events, page.NextPage, page.NextSync = page.Events[:half], "more", ""
	}
	return page, err
}

// A listing under way may outlast the wish for it. What it stored would stay for ever: the planning that
// forgets the calendar's events is over.
func TestFullListing_NobodyFollowsTheCalendarSince_LeavesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		events int
		// listed is the account that is listed: that of the events, or that of their copies.
		listed string
	}{
		"each alone": {8, work}, "many together": {40, work}, "copies": {40, home}, "copies, each alone": {8, home},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.insertMany(work, row.events)
			w.mirrorWork()
			if row.listed == home {
				w.run(2 * time.Minute)
				w.relist(home)
			}
			google := w.syncer.Google
			h := &halved{Google: google, between: func() {
				w.unmirror()
				w.runWork(mirrors.PlanKind, gm)
			}}
			w.syncer.Google = h
			w.requestSync(w.key(row.listed))
			_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(row.listed))
			w.must(err)
			w.syncer.Google = google
			w.run(5 * time.Minute)
			left, err := store.Collect(mirror.OfAccount(w.ctx, w.memory, row.listed))
			w.must(err)
			if h.between != nil || len(left) > 0 {
				t.Errorf("%d events are left, as %+v", len(left), left[:min(1, len(left))])
			}
			w.wantTitles(home)
		})
	}
}
