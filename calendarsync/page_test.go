package calendarsync_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/gcal"
	"questscheduler/internal/worldtest"
	"questscheduler/rules"
)

// repeating is a calendar whose listing names the same page for ever. It ends
// a test that would follow it.
type repeating struct {
	calendarsync.Google
	t     *testing.T
	calls int
}

func (r *repeating) List(ctx context.Context, ref gcal.Ref, syncToken, _ string) (gcal.Page, error) {
	if r.calls++; r.calls > 100 {
		r.t.Fatal("the look follows the same page for ever")
	}
	page, err := r.Google.List(ctx, ref, syncToken, "")
	page.NextPage, page.NextSync = "again", ""
	return page, err
}

func TestALook_WhoseListingRepeatsAPage_Ends(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, eventID := w.Finalised()
	w.Run(time.Minute)
	before := w.Calendar("gm").SyncToken
	w.Looker.Google = &repeating{Google: w.Looker.Google, t: t}
	w.PatchEvent("gm", eventID, map[string]any{"summary": "Another title"})
	w.RunDue()
	if got := w.Calendar("gm").SyncToken; got != before {
		t.Error("the cursor moved although the listing never came to its end")
	}
	if got := w.View(pollID).Poll.Status; got != rules.Finalized {
		t.Errorf("the poll is %s", got)
	}
}
