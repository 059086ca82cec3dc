package scheduler_test

import (
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// besideTheApp is a world whose web app has functions of its own that notify people.
func besideTheApp(t *testing.T) (*worldtest.World, fixture) {
	t.Helper()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{AppNoticeDelay: 75 * time.Second}})
	return w, linked(t, w)
}

// announcedByApp is the app's own notice that gm cancelled in the app.
func announcedByApp(t *testing.T, w *worldtest.World, s fixture) {
	t.Helper()
	if err := w.Scheduler.AnnouncedByApp(w.Context(), worldtest.Person("gm"), s.poll, worldtest.Cause); err != nil {
		t.Fatal(err)
	}
}

func TestAnnouncedByApp_CancelThenRestore_AnnouncesTheRestore(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	setBehindUs(rules.Cancelled)(w, s)
	announcedByApp(t, w, s) // before any document change is reported
	announcedByApp(t, w, s)
	w.Run(time.Hour)
	wantNotices(t, w)
	restoreBehindUs(w, s)
	changeReported(t, w, s)
	w.Run(worldtest.Settle)
	wantNotices(t, w, string(rules.NoticeOnAgain)) // the app notifies nobody of a restore, so it is announced without delay
	w.Run(time.Hour)
	wantNotices(t, w, string(rules.NoticeOnAgain))
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
	atRest(t, w)
}

// A poll that the app made has no journal before it is cancelled.
func TestAnnouncedByApp_OfAPollOfTheApp_IsNotAnnouncedAgain(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{Settings: worldtest.Settings{AppNoticeDelay: 75 * time.Second}})
	s := fixture{poll: "written"}
	w.Write(poll.Path(s.poll), poll.Set("title", "Written by the app"), poll.Set("creatorId", "gm"), poll.Set("status", "OPEN"),
		poll.Set("participantIds", []any{"gm", "ana"}), poll.Set("createdAt", w.Clock.Now()))
	setBehindUs(rules.Cancelled)(w, s)
	announcedByApp(t, w, s)
	changeReported(t, w, s)
	w.Run(time.Hour)
	wantNotices(t, w)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Cancelled)
}

// The browser may be closed before the app notifies anybody.
func TestAnnouncedByApp_NotCalled_IsAnnouncedHereOnce(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	cancelBehindUs(t, w, s)
	w.Run(worldtest.Settle)
	wantNotices(t, w)
	w.Run(time.Hour)
	wantNotices(t, w, string(rules.NoticeCancelled))
	announcedByApp(t, w, s) // too late
	w.Run(time.Hour)
	wantNotices(t, w, string(rules.NoticeCancelled))
	atRest(t, w)
}

// The app knows nothing of what was done over the API or in the calendar.
func TestAnnouncedByApp_CancelledElsewhere_IsAnnouncedHere(t *testing.T) {
	t.Parallel()
	for _, cancel := range []act{cancelIt, deleteEvent} {
		t.Run(cancel.name, func(t *testing.T) {
			t.Parallel()
			w, s := besideTheApp(t)
			cancel.do(w, s)
			w.Run(worldtest.Settle + 10*time.Second)
			wantNotices(t, w, string(rules.NoticeCancelled))
			atRest(t, w)
		})
	}
}

func TestAnnouncedByApp_UndoneBefore_RecordsNothing(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	cancelBehindUs(t, w, s)
	restoreBehindUs(w, s)
	announcedByApp(t, w, s)
	w.Run(time.Hour)
	wantNotices(t, w)
	equal(t, "status", w.View(s.poll).Poll.Status, rules.Finalized)
	atRest(t, w)
}

func TestAnnouncedByApp_BySomebodyElse_IsRefused(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	cancelBehindUs(t, w, s)
	for person, want := range map[string]fault.Kind{"ana": fault.Forbidden, "nobody": fault.NotFound} {
		who := scheduler.Person{ID: person}
		kind(t, w.Scheduler.AnnouncedByApp(w.Context(), who, s.poll, worldtest.Cause), want)
	}
	w.Run(time.Hour)
	wantNotices(t, w, string(rules.NoticeCancelled))
	atRest(t, w)
}

// The app's notice of the cancellation may come late, or twice: it does not stand
// for a restore, let alone for the time that the calendar gave the session since.
func TestAnnouncedByApp_RestoredAtAnotherTime_IsAnnounced(t *testing.T) {
	t.Parallel()
	w, s := besideTheApp(t)
	w.Write(store.Doc("users", "gm"), store.Update{Path: store.Field("settings", "keepCalendarEvents"), Value: true})
	cancelBehindUs(t, w, s)
	announcedByApp(t, w, s)
	w.Run(2 * time.Minute)
	w.MoveEvent("gm", s.event, worldtest.Noon)
	w.Run(2 * time.Minute)
	restoreBehindUs(w, s)
	changeReported(t, w, s)
	w.Run(worldtest.Settle / 2)
	announcedByApp(t, w, s)
	w.Run(worldtest.Settle)
	wantNotices(t, w, string(rules.NoticeOnAgain))
	equal(t, "the time that was announced", announced(t, w, s), rules.Timed(worldtest.Noon.Start, worldtest.Noon.End))
	atRest(t, w)
}
