package calendarsync_test

import (
	"slices"
	"testing"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
)

// A sweep reads of most polls whose session is long past no more than their slot; an edit of one
// is repaired as of any other.
func TestSweep_OfAPollLongPast_RepairsWhatWasEdited(t *testing.T) {
	t.Parallel()
	mark := map[string]any{"at": worldtest.Start, "reason": "manual"}
	next := rules.Timed(worldtest.Start.AddDate(1, 0, 0), worldtest.Start.AddDate(1, 0, 0).Add(time.Hour))
	for name, row := range map[string]struct {
		path    func(p poll.Poll) store.Path // nil: the poll
		updates []store.Update
		want    []string // what its journal says was done
	}{
		"nothing was edited":               {},
		"another slot wins":                {updates: []store.Update{poll.Set("winningSlotId", "other")}, want: []string{"record"}},
		"another event":                    {updates: []store.Update{poll.Set("googleEventId", "other")}, want: []string{"record"}},
		"no event":                         {updates: []store.Update{poll.Set("googleEventId", nil)}, want: []string{"record"}},
		"cancelled":                        {updates: []store.Update{poll.Set("status", "CANCELLED")}, want: []string{"cancel"}},
		"reopened":                         {updates: []store.Update{poll.Set("status", "OPEN")}, want: []string{"reopen"}},
		"marked as cancelled":              {updates: []store.Update{poll.Set("cancelled", mark)}, want: []string{"clear_error"}},
		"marked as cancelled in its state": {updates: []store.Update{{Path: poll.SyncField("cancelled"), Value: mark}}, want: []string{"clear_error"}},
		"marked by a time alone":           {updates: []store.Update{poll.Set("cancelledAt", worldtest.Start)}, want: []string{"clear_error"}},
		"its slot is in a year": {
			path:    func(p poll.Poll) store.Path { return poll.SlotPath(p.ID, p.WinningSlotID) },
			updates: poll.MoveSlot(next), want: []string{"record"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			pollID, _, _ := w.Finalised()
			w.Run(time.Minute)
			w.Skip(rules.ForgetAfter + 60*24*time.Hour)
			sweep(t, w)
			w.Run(2 * 24 * time.Hour)
			if len(w.Index()) > 0 {
				t.Fatal("its event is followed still")
			}
			before := len(w.Decisions(pollID))
			path := poll.Path(pollID)
			if row.path != nil {
				path = row.path(w.View(pollID).Poll)
			}
			if len(row.updates) > 0 {
				w.Edit(path, row.updates...)
			}
			sweep(t, w)
			if got := w.Decisions(pollID)[before:]; !slices.Equal(got, row.want) {
				t.Errorf("the sweep did %v, want %v", got, row.want)
			}
			if repair, err := w.Scheduler.Reconcile(t.Context(), pollID, worldtest.Cause); err != nil || repair != rules.RepairNothing {
				t.Errorf("it left %s to be repaired (%v)", repair, err)
			}
		})
	}
}
