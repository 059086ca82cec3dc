package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// besideTheApp is a world whose web app has functions of its own that tell people.
func besideTheApp(t *testing.T) (*worldtest.World, story) {
	t.Helper()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{AppTells: 75 * time.Second}})
	return w, linked(t, w)
}

// appTold is the app's own notice that gm cancelled in the app.
func appTold(t *testing.T, w *worldtest.World, s story) {
	t.Helper()
	if err := w.Scheduler.AnnouncedByApp(w.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
}

func TestToldByApp_CancelThenRestore_AnnouncesTheRestore(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	setBehindUs(rules.Cancelled)(w, s)
	appTold(t, w, s) // before any hint
	appTold(t, w, s)
	w.Run(time.Hour)
	told(t, w)
	restoreBehindUs(w, s)
	hinted(t, w, s)
	w.Run(worldtest.Settle)
	told(t, w, string(rules.NoticeOnAgain)) // the app tells nobody, so it does not rest for that
	w.Run(time.Hour)
	told(t, w, string(rules.NoticeOnAgain))
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
	atRest(t, w)
}

// A poll that the app made has no journal before it is cancelled.
func TestToldByApp_OfAPollOfTheApp_IsNotAnnouncedAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{AppTells: 75 * time.Second}})
	s := story{poll: "written"}
	w.Write(poll.Path(s.poll), poll.Set("title", "Written by the app"), poll.Set("creatorId", "gm"), poll.Set("status", "OPEN"),
		poll.Set("participantIds", []any{"gm", "ana"}), poll.Set("createdAt", w.Clock.Now()))
	setBehindUs(rules.Cancelled)(w, s)
	appTold(t, w, s)
	hinted(t, w, s)
	w.Run(time.Hour)
	told(t, w)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
}

// The browser may be closed before the app tells anybody.
func TestToldByApp_NotCalled_IsAnnouncedHereOnce(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	cancelBehindUs(t, w, s)
	w.Run(worldtest.Settle)
	told(t, w)
	w.Run(time.Hour)
	told(t, w, string(rules.NoticeCancelled))
	appTold(t, w, s) // too late
	w.Run(time.Hour)
	told(t, w, string(rules.NoticeCancelled))
	atRest(t, w)
}

// The app knows nothing of what was done over the API or in the calendar.
func TestToldByApp_CancelledElsewhere_IsAnnouncedHere(t *testing.T) {
	t.Parallel()
	for _, cancel := range []act{cancelIt, deleteEvent} {
		t.Run(cancel.name, func(t *testing.T) {
			t.Parallel()
			w, s := besideTheApp(t)
			cancel.do(w, s)
			w.Run(worldtest.Settle + 10*time.Second)
			told(t, w, string(rules.NoticeCancelled))
			atRest(t, w)
		})
	}
}

func TestToldByApp_UndoneBefore_RecordsNothing(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	cancelBehindUs(t, w, s)
	restoreBehindUs(w, s)
	appTold(t, w, s)
	w.Run(time.Hour)
	told(t, w)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
	atRest(t, w)
}

func TestToldByApp_BySomebodyElse_IsRefused(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	cancelBehindUs(t, w, s)
	for person, want := range map[string]fault.Kind{"ana": fault.Forbidden, "nobody": fault.NotFound} {
		who := scheduler.Person{ID: person}
		kind(t, w.Scheduler.AnnouncedByApp(w.Context(), who, s.poll, worldtest.Cause), want)
	}
	w.Run(time.Hour)
	told(t, w, string(rules.NoticeCancelled))
	atRest(t, w)
}

// The app's notice of the cancellation may come late, or twice: it does not stand
// for a restore, let alone for the time that the calendar gave the session since.
func TestToldByApp_RestoredAtAnotherTime_IsAnnounced(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	w.Write(store.Doc("users", "gm"), store.Update{Path: store.Field("settings", "keepCalendarEvents"), Value: true})
	cancelBehindUs(t, w, s)
	appTold(t, w, s)
	w.Run(2 * time.Minute)
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Run(2 * time.Minute)
	restoreBehindUs(w, s)
	hinted(t, w, s)
	w.Run(worldtest.Settle / 2)
	appTold(t, w, s)
	w.Run(worldtest.Settle)
	told(t, w, string(rules.NoticeOnAgain))
	equal(t, "the time that was told", announced(t, w, s), rules.Timed(worldtest.Noon.Start, worldtest.Noon.End))
	atRest(t, w)
}
