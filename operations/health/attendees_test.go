package health_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/internal/poll"
	"questscheduler/operations/health"
)

// mappings writes the state of the mappings.
func (w *reading) mappings(state mappings.Record) {
	w.t.Helper()
	w.write(string(mappings.RecordPath()), mappings.EncodeRecord(state))
}

// guests writes n records whose writes fail since then, or that are due since then.
func (w *reading) guests(n int, failing bool, since time.Time) {
	w.t.Helper()
	for i := range n {
		record := attendees.EventRecord{
			ID: fmt.Sprintf("att_%t_%03d", failing, i), ICalUID: "u", Version: 1, Due: since.Add(time.Duration(i) * time.Minute),
		}
		if failing {
			record.Error, record.Failures, record.FailedSince, record.Due = fmt.Sprintf("Reason %d.", i), 5, record.Due, now.Add(time.Hour)
		}
		w.write(string(attendees.EventPath(record.ID)), attendees.EncodeEvent(record))
	}
}

// good is the state of mappings that are loaded and followed.
func good() mappings.Record {
	return mappings.Record{Version: "v1", Followed: "v1", Count: 3, LoadedAt: now.Add(-time.Minute), TriedAt: now.Add(-time.Minute)}
}

func TestOverview_OfSecondAddresses_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		change  func(*mappings.Record)
		failing int
		status  health.Status
		code    string
		says    []string
	}{
		{"all is well", func(*mappings.Record) {}, 0, health.Healthy, "", nil},
		{"not loaded yet", func(m *mappings.Record) { *m = mappings.Record{} }, 0, health.Healthy, "", nil},
		{"never loaded", func(m *mappings.Record) {
			*m = mappings.Record{TriedAt: now, Failures: 3, Error: "The sheet has no tab User Mappings."}
		}, 0, health.Unhealthy, "mappings_missing", []string{"could never be loaded", "no tab User Mappings", "doctor"}},
		{"failing since an hour", func(m *mappings.Record) {
			m.LoadedAt, m.Failures, m.Error = now.Add(-time.Hour), 12, "Google Sheets does not answer."
		}, 0, health.Degraded, "mappings_stale", []string{"failed 12 times", "stay in use", "does not answer"}},
		{
			"failing since two days", func(m *mappings.Record) { m.LoadedAt, m.Failures = now.Add(-48*time.Hour), 1 }, 0,
			health.Unhealthy, "mappings_stale", []string{"failed 1 time;"},
		},
		{
			"not tried for long",
			func(m *mappings.Record) { m.TriedAt, m.LoadedAt = now.Add(-31*time.Minute), now.Add(-31*time.Minute) }, 0,
			health.Degraded, "mappings_late", []string{"timers"},
		},
		{"held", func(m *mappings.Record) {
			m.Held = mappings.Held{Version: "v2", Lost: 7, Of: 9, At: now.Add(-time.Hour)}
		}, 0, health.Degraded, "mappings_held",
			[]string{"7 of 9 second addresses are gone", `{"confirm": "v2"}`}},
		{"held for what it adds", func(m *mappings.Record) {
			m.Held = mappings.Held{Version: "v2", Added: 7, Of: 9, At: now.Add(-time.Hour)}
		}, 0, health.Degraded, "mappings_held",
			[]string{"7 second addresses are added at once to the 9 in use", `{"confirm": "v2"}`}},
		{"held for both", func(m *mappings.Record) {
			m.Held = mappings.Held{Version: "v2", Lost: 5, Added: 1, Of: 9, At: now.Add(-time.Hour)}
		}, 0, health.Degraded, "mappings_held",
			[]string{"5 of 9 second addresses are gone", "1 second address is added"}},
		{
			"not followed", func(m *mappings.Record) { m.Followed, m.PendingSince = "v0", now.Add(-40*time.Minute) }, 0,
			health.Degraded, "mappings_unfollowed", []string{"not carried out yet"},
		},
		{
			"not followed for a short time",
			func(m *mappings.Record) { m.Followed, m.PendingSince = "v0", now.Add(-20*time.Minute) }, 0, health.Healthy, "", nil,
		},
		{"an account is still needed", func(m *mappings.Record) { m.Followed = "v0" }, 0, health.Healthy, "", nil},
		{
			"one without access", func(m *mappings.Record) { m.WithoutAccess = 1 }, 0, health.Degraded,
			"calendars_without_access", []string{"1 calendar of a primary address cannot", "reaches it."},
		},
		{
			"many without access", func(m *mappings.Record) { m.WithoutAccess = 4 }, 0, health.Degraded,
			"calendars_without_access", []string{"4 calendars of primary addresses", "reaches them.", "QS_ATTENDEES_KEY"},
		},
		{
			"a record in error", func(*mappings.Record) {}, 1, health.Degraded, "guests_failed",
			[]string{"The guests of 1 event cannot", "Reason 0."},
		},
		{"many in error", func(*mappings.Record) {}, 40, health.Degraded, "guests_failed", []string{"25 or more events", "Reason 0."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newReading(t)
			w.reader.Attendees = true
			state := good()
			row.change(&state)
			if !state.TriedAt.IsZero() || state.Version != "" {
				w.mappings(state)
			}
			w.guests(row.failing, true, now.Add(-time.Hour))
			view := w.overview()
			if got := view.Attendees; !got.On || got.Status != row.status || (row.code == "") != (len(got.Troubles) == 0) {
				t.Fatalf("it is %s by %+v, want %s", got.Status, got.Troubles, row.status)
			}
			concerned := slices.ContainsFunc(
				view.Concerns, func(c health.Concern) bool { return c.Part == "attendees" && c.Level == row.status.Level() },
			)
			if concerned != (row.code != "") {
				t.Errorf("the concerns are %+v", view.Concerns)
			}
			if row.code == "" {
				return
			}
			trouble := view.Attendees.Troubles[0]
			for _, part := range row.says {
				if !strings.Contains(trouble.Message, part) {
					t.Errorf("%q does not say %q", trouble.Message, part)
				}
			}
			if len(view.Attendees.Troubles) != 1 || trouble.Code != row.code {
				t.Errorf("the troubles are %+v, want %s", view.Attendees.Troubles, row.code)
			}
		})
	}
}

func TestOverview_OfSecondAddressesThatAreOff_ReadsNothing(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	w.mappings(mappings.Record{Failures: 3, TriedAt: now})
	w.guests(2, true, now.Add(-time.Hour))
	before := w.store.reads
	off := w.overview()
	reads := w.store.reads - before
	if got := off.Attendees; got.On || len(got.Troubles) != 0 || len(got.Failed) != 0 ||
		slices.ContainsFunc(off.Concerns, func(c health.Concern) bool { return c.Part == "attendees" }) {
		t.Errorf("they are off, and %+v is shown", got)
	}
	w.reader.Attendees = true
	before = w.store.reads
	w.overview()
	if more := w.store.reads - before - reads; more < 3 {
		t.Errorf("switched on they cost %d reads more, so the count proves nothing", more)
	}
	w.reader.Attendees = false
	figures, err := w.reader.Figures(t.Context())
	if err != nil || figures.Attendees != (health.AttendeeFigures{}) {
		t.Errorf("the figures are %+v, %v", figures.Attendees, err)
	}
}

func TestFigures_OfSecondAddresses_CountThem(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	w.reader.Attendees = true
	state := good()
	state.SkippedCount, state.Skipped, state.WithoutAccess, state.Failures = 120, []mappings.Skipped{{Row: 2, Reason: "No address."}}, 2, 1
	state.Held = mappings.Held{Version: "v2", Lost: 2, Added: 1, Of: 3, At: now}
	w.mappings(state)
	w.guests(3, true, now.Add(-time.Hour))
	w.guests(4, false, now.Add(-10*time.Minute))
	figures, err := w.reader.Figures(t.Context())
	want := health.AttendeeFigures{
		On: true, Mappings: 3, Skipped: 120, WithoutAccess: 2, Held: 3, Failures: 1, LoadedAt: state.LoadedAt, Pending: 4,
		Failed: 3, OldestDue: now.Add(-10 * time.Minute),
	}
	if err != nil || figures.Attendees != want {
		t.Errorf("the figures are %+v, %v, want %+v", figures.Attendees, err, want)
	}
}

func TestOfAccount_WithEventsUnreadForSecondAddresses_SaysSo(t *testing.T) {
	t.Parallel()
	w := newReading(t)
	key := w.follow("gm", calendarsync.Active, time.Time{})
	w.write("calendars/"+key, map[string]any{
		"accountId": "acc_gm", "calendarId": "gm@example.com", "ownerId": "gm",
		"interests":    map[string]any{mappings.Consumer: 1, poll.ConsumerPoll: 0},
		"lastSyncedAt": now, "lastSuccessAt": now,
		"deferred": map[string]any{mappings.Consumer: map[string]any{"e1": map[string]any{"at": now.Add(-time.Hour)}}},
	})
	troubles := w.account("gm").AllTroubles()
	if len(troubles) != 1 || troubles[0].Code != "attendees_behind" ||
		!strings.HasPrefix(troubles[0].Message, "1 of its events could not be read for second addresses") {
		t.Errorf("the troubles are %+v", troubles)
	}
}

// With QS_SYNC=off there is no job that loads them, which is meant.
func TestOverview_OfSecondAddressesWithoutSync_DoesNotCallThemLate(t *testing.T) {
	t.Parallel()
	for sync, troubles := range map[string]int{"on": 2, "observe": 2, "off": 0} {
		w := newReading(t)
		w.reader.Attendees, w.reader.Sync = true, sync
		state := good()
		state.TriedAt, state.LoadedAt, state.PendingSince = now.Add(-25*time.Hour), now.Add(-25*time.Hour), now.Add(-25*time.Hour)
		w.mappings(state)
		if got := w.overview().Attendees.Troubles; len(got) != troubles {
			t.Errorf("with QS_SYNC=%s: %+v", sync, got)
		}
	}
}
