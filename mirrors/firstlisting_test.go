package mirrors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
)

// insertMany makes so many events of the week in an account's calendar.
func (w *world) insertMany(account string, count int) (titles []string) {
	w.Helper()
	for i := range count {
		titles = append(titles, fmt.Sprintf("Event %02d", i))
		w.insert(account, titles[i], stageStart.Add(time.Duration(count-i)*time.Hour).Format(time.RFC3339))
	}
	return titles
}

// expiring is a Google that takes the token of a listing's second page for expired, once.
type expiring struct {
	calendarsync.Google
	calls  int
	expire func()
}

func (e *expiring) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	e.calls++
	if e.calls == 2 {
		e.expire()
		return gcal.Page{}, &fault.Error{Kind: fault.Conflict, Code: gcal.CodeSyncTokenExpired, Message: "the page is gone"}
	}
	page, err := e.Google.List(ctx, ref, mask, syncToken, pageToken)
	if e.calls == 1 {
		page.NextPage, page.NextSync = "more", ""
	}
	return page, err
}

// What the first attempt stored is known to the second.
func TestFullListing_ThatBeginsAgain_MissesWhatIsGoneSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	titles := w.insertMany(work, 12)
	w.mirrorWork()
	google := w.syncer.Google
	w.syncer.Google = &expiring{Google: google, expire: func() {
		_, err := w.full.DeleteQuietly(w.ctx, refTo(work), "event4", "")
		w.must(err)
	}}
	_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
	w.must(err)
	w.syncer.Google = google
	w.settle()
	w.wantTitles(home, append(titles[:3:3], titles[4:]...)...)
	if got := len(w.canonical(work)); got != 11 {
		t.Errorf("%d events are stored, want 11", got)
	}
}
