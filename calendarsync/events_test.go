package calendarsync_test

import (
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// A person's events are made, read, moved and deleted in the calendar that is named, by the
// account that is named, which need not be their first.
func TestEvents_ActInTheCalendarNamed(t *testing.T) {
	t.Parallel()
	w, second := twoAccounts(t)
	events, ctx := w.Scheduler.Calendar, t.Context()
	at := poll.Place{AccountID: second, CalendarID: "ben@example.com"}
	intent := poll.Intent{
		PollID: "poll", Generation: 7, AccountID: at.AccountID, CalendarID: at.CalendarID, EventID: poll.EventID("poll", 7),
		Session: poll.Session{
			Title: "Session", Description: "Bring dice", Start: ten.Start, End: ten.End, Timezone: "Europe/Berlin",
			Attendees: []string{"guest@example.com"},
		},
	}
	made, err := events.Insert(ctx, intent)
	if err != nil {
		t.Fatal(err)
	}
	shown := w.EventOf("ben", intent.EventID)
	equal(t, "title", shown.Title, "Session")
	equal(t, "text", shown.Text, "Bring dice")
	equal(t, "guests", len(shown.Attendees), 1)
	equal(t, "zone", shown.Start.TimeZone, "Europe/Berlin")
	equal(t, "version", made.Version, shown.ETag)
	equal(t, "poll", made.Poll, "poll")
	equal(t, "generation", made.Generation, 7)

	read, err := events.Get(ctx, at.AccountID, at.CalendarID, intent.EventID)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "as it is read", read, made)
	to := rules.Timed(noon.Start, noon.End)
	moved, err := events.Move(ctx, at, read, to, "Europe/London")
	if err != nil {
		t.Fatal(err)
	}
	shown = w.EventOf("ben", intent.EventID)
	equal(t, "time", shown.Fingerprint(), to)
	equal(t, "time as it is answered", moved.Fingerprint, to)
	equal(t, "zone it is moved in", shown.Start.TimeZone, "Europe/London")
	_, err = events.Move(ctx, at, read, to, "Europe/London")
	equal(t, "moving what changed since", fault.CodeOf(err), scheduler.CodeStale)

	for calendarID, want := range map[string]bool{"ben@example.com": true, later: true, "ana@example.com": false} {
		may, err := events.MayFollow(ctx, second, calendarID)
		if err == nil {
			equal(t, "it may be followed in "+calendarID, may, want)
		} else if want {
			t.Errorf("%s: %v", calendarID, err)
		}
	}
	deleted, err := events.Delete(ctx, at.AccountID, at.CalendarID, intent.EventID)
	if err != nil {
		t.Error(err)
	}
	equal(t, "deleted", deleted, true)
	equal(t, "it is there", w.EventOf("ben", intent.EventID).Live(), false)
	deleted, err = events.Delete(ctx, at.AccountID, at.CalendarID, intent.EventID)
	if err != nil {
		t.Error(err)
	}
	equal(t, "deleted once more", deleted, false)
	read, err = events.Get(ctx, at.AccountID, at.CalendarID, intent.EventID)
	if err != nil {
		t.Error(err)
	}
	equal(t, "state when it is deleted", read.EventState, rules.Gone)
}

// That an event is not found in a calendar that answers is its deletion; that the calendar is
// not found, or does not answer, says nothing of its events.
func TestEvents_NotFound_AreDeletedOnlyIfTheirCalendarAnswers(t *testing.T) {
	t.Parallel()
	gone := func(w *worldtest.World) { w.Refuse("events.delete", 404, "notFound", 1) }
	for name, c := range map[string]struct {
		begin func(t *testing.T, w *worldtest.World)
		want  fault.Kind // 0: no error
	}{
		"the event alone":                 {func(_ *testing.T, w *worldtest.World) { gone(w) }, 0},
		"of a calendar that is unshared":  {func(t *testing.T, w *worldtest.World) { share(t, w, worldtest.NoAccess) }, fault.NotFound},
		"of a calendar that is read only": {func(t *testing.T, w *worldtest.World) { share(t, w, worldtest.Reader) }, fault.Provider},
		"of a calendar that is refused":   {func(t *testing.T, w *worldtest.World) { gone(w); share(t, w, worldtest.Refused) }, fault.NotFound},
		"of a calendar that does not answer": {func(_ *testing.T, w *worldtest.World) {
			gone(w)
			w.Refuse("events.list", 503, "backendError", 1)
		}, fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := worldtest.New(t, worldtest.Options{})
			inClub(t, w)
			entry := w.Index()[0]
			c.begin(t, w)
			deleted, err := w.Scheduler.Calendar.Delete(t.Context(), entry.AccountID, entry.CalendarID, entry.EventID)
			if deleted || fault.KindOf(err) != c.want {
				t.Errorf("deleted %t, %v, want %v", deleted, err, c.want)
			}
			equal(t, "it is there", w.EventOf(worldtest.Club, entry.EventID).Live(), true)
		})
	}
}

// What somebody wrote into our marks gives no generation.
func TestEvents_ReadWithoutTheirMarks_AreOfNoGeneration(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	for name, marks := range map[string]map[string]string{"none": nil, "no number": {"questschedulerGeneration": "first"}} {
		event := w.InsertEvent("gm", map[string]any{
			"start": map[string]any{"dateTime": "2026-03-10T10:00:00Z"}, "end": map[string]any{"dateTime": "2026-03-10T11:00:00Z"},
			"extendedProperties": map[string]any{"private": marks},
		})
		read, err := w.Scheduler.Calendar.Get(t.Context(), w.Account("gm"), "gm@example.com", event.ID)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, name+": generation", read.Generation, -1)
		equal(t, name+": poll", read.Poll, "")
	}
}
