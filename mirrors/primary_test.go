package mirrors_test

import (
	"log/slog"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
)

// An account's primary calendar is taken for its e-mail address until the calendars are listed. What is
// observed under its id after that has copies too.
func TestMirrors_ThePrimaryKnownUnderAnotherID_AreOfThatOne(t *testing.T) {
	t.Parallel()
	const recorded = "alias@example.test"
	for name, before := range map[string][]store.Update{
		"it was taken for the address": {store.Set("primaryCalendarId", store.Delete)},
		"it was another one":           nil,
		"nothing was known":            {store.Set("primaryCalendarId", store.Delete), store.Set("email", "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.must(w.google.AddCalendar(google.Calendar{ID: recorded, Owner: work}))
			w.set(accounts.Path(work), append(before, store.Set("sub", "1000"))...)
			w.insert(work, "Stand-up", thursday)
			w.mirrorWork()
			w.run(2 * time.Minute)
			known := accounts.New(accounts.Options{Store: w.memory, Now: w.clock.Now})
			links := &calendarsync.Links{
				Store: w.memory, Accounts: known, Now: w.clock.Now, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
				Watcher:   &calendarsync.Watcher{Store: w.memory, Outbox: w.outbox, Google: w.client, Now: w.clock.Now},
				Listeners: []calendarsync.AccountListener{w.writer},
			}
			for range 2 { // the second time nothing is new
				w.must(known.RecordCalendars(w.ctx, work, recorded, []string{recorded}))
				w.must(links.Follow(w.ctx, work, cause))
				w.run(2 * time.Minute)
			}
			ref := gcal.Ref{Account: work, Calendar: recorded}
			made, err := w.full.InsertContent(w.ctx, ref, "made1", gcal.Content{Summary: "Review", Start: at(thursday), End: at(friday)}, nil)
			w.must(err)
			w.must(w.queueSyncOf(ref))
			w.run(2 * time.Minute)
			w.wantTitles(home, "Review")
			content := plan.Shown(*made.Details)
			content.Summary = "Retrospective"
			_, err = w.full.PatchContent(w.ctx, ref, made.ID, "", content)
			w.must(err)
			w.must(w.queueSyncOf(ref))
			w.run(2 * time.Minute)
			w.wantTitles(home, "Retrospective")
		})
	}
}
