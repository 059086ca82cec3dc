package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
	"questscheduler/notify"
	"questscheduler/operations/health"
	"questscheduler/operations/metrics"
	"questscheduler/rules"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is the figures of a program whose stored figures a test sets.
type world struct {
	t *testing.T
	*metrics.Metrics
	now     time.Time
	depths  []outbox.Depth
	drained time.Time
	records []timers.Record
	figures health.Figures
	broken  error
	reads   int
}

// Depths implements metrics.Work.
func (w *world) Depths(context.Context) ([]outbox.Depth, error) {
	w.reads++
	return w.depths, w.broken
}

// LastDrain implements metrics.Work.
func (w *world) LastDrain() time.Time { return w.drained }

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: start}
	w.Metrics = metrics.New("v1", func() time.Time { return w.now }, workKinds(t))
	w.Read(metrics.Stored{
		Work:    w,
		Records: func(context.Context) ([]timers.Record, error) { return w.records, nil },
		Figures: func(context.Context) (health.Figures, error) { return w.figures, nil },
		Log:     slog.New(slog.DiscardHandler),
	})
	return w
}

// text is what Prometheus reads.
func (w *world) text() string {
	w.t.Helper()
	answer := httptest.NewRecorder()
	w.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if answer.Code != http.StatusOK {
		w.t.Fatalf("the answer is %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// shows fails where a line is not among the figures.
func (w *world) shows(lines ...string) {
	w.t.Helper()
	text := w.text()
	for _, line := range lines {
		if !strings.Contains(text, "\nquestscheduler_"+line+"\n") {
			w.t.Errorf("there is no line %q among\n%s", line, ours(text))
		}
	}
}

// ours are the lines of our own figures that say something.
func ours(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "questscheduler_") && !strings.HasSuffix(line, " 0\n") && !strings.Contains(line, "_bucket{") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// series counts the lines of our own figures.
func (w *world) series() int { return strings.Count(w.text(), "\nquestscheduler_") }

func TestCount_EachEvent_AddsToItsFigure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := fault.New(fault.RateLimited, "Google asks to slow down.")
	w.Count(calendarsync.Synced{Trigger: "push", Err: nil, Took: time.Second})
	w.Count(calendarsync.Synced{Trigger: "timer", Err: refused, Took: time.Second})
	w.Count(calendarsync.Synced{Trigger: "push", Err: scheduler.ErrFenced, Took: time.Second})
	w.Count(calendarsync.WatchAsked{Renewal: false, Err: nil})
	w.Count(calendarsync.WatchAsked{Renewal: true, Err: refused})
	w.Count(calendarsync.WatchStopped{})
	w.Count(calendarsync.PushRefused{})
	w.Count(scheduler.Transition{Action: rules.Reschedule})
	w.Count(scheduler.Behind{Action: rules.Reschedule, Late: 3 * time.Second})
	w.Count(scheduler.Behind{Action: rules.Cancel, Late: -time.Second}) // the calendar's clock is ahead
	w.Count(scheduler.Commanded{Command: rules.CommandFinalise})
	w.Count(scheduler.SyncError{Code: rules.TokenExpired})
	w.Count(scheduler.Repaired{Repair: rules.RepairCancel})
	w.Count(notify.Announced{Notice: rules.NoticeRescheduled, After: 10 * time.Second})
	w.Count(notify.ChannelRefused{Channel: "card", Code: "missing_access"})
	w.Count(mirrors.Written{})
	w.Count(mirrors.Deleted{})
	w.Count(mirrors.StrayDeleted{})
	w.Count(mirrors.OverlayCreated{})
	w.Count(mirrors.Failed{Kind: fault.Forbidden})
	w.Count(mirrors.Observed{Verdict: plan.GaveUp})
	w.Called("events.list", refused, time.Second)
	w.Answered("GET", 404, time.Millisecond)
	w.shows(
		`syncs_total{hint="push",outcome="ok"} 1`, `syncs_total{hint="timer",outcome="rate_limited"} 1`,
		`syncs_total{hint="push",outcome="overtaken"} 1`,
		`watches_asked_total{occasion="creation",outcome="ok"} 1`, `watches_asked_total{occasion="renewal",outcome="rate_limited"} 1`,
		`watches_stopped_total 1`, `pushes_refused_total 1`, `transitions_total{transition="reschedule"} 1`,
		`calendar_to_poll_seconds_sum{transition="reschedule"} 3`, `calendar_to_poll_seconds_count{transition="cancel"} 1`,
		`calendar_to_poll_seconds_sum{transition="cancel"} 0`,
		`commands_total{command="finalise"} 1`, `sync_errors_total{code="token_expired"} 1`, `direct_edits_total{repair="outside_cancel"} 1`,
		`announcements_total{notice="SESSION_RESCHEDULED"} 1`, `poll_to_people_seconds_sum{notice="SESSION_RESCHEDULED"} 10`,
		`channel_refusals_total{channel="card",code="missing_access"} 1`,
		`mirror_writes_total{operation="write"} 1`, `mirror_writes_total{operation="delete"} 1`,
		`mirror_writes_total{operation="delete_stray"} 1`,
		`mirror_writes_total{operation="create_calendar"} 1`, `mirror_failures_total{kind="forbidden"} 1`,
		`mirror_observations_total{verdict="contested"} 1`,
		`google_calls_total{method="events.list",outcome="rate_limited"} 1`, `errors_total{kind="rate_limited"} 2`,
		`http_requests_total{method="GET",status="4xx"} 1`, `sync_seconds_count 3`,
	)
}

func TestStored_IsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.depths = []outbox.Depth{
		{Kind: "sync", Due: 3, Oldest: start.Add(-time.Minute), Failing: make([]outbox.FailingEntry, 2)}, {Kind: "intent"},
	}
	w.drained = start
	w.records = []timers.Record{{Job: timers.RenewWatches, SucceededAt: start, Failure: "unavailable"}, {Job: timers.Cleanup}}
	w.figures = health.Figures{
		WatchesEnding: 1, WatchesFailed: 2, Paused: 3, Revoked: 4, FailingSince: start.Add(-time.Hour),
		Failing: map[fault.Kind]int{fault.NotFound: 5}, Errors: map[rules.ErrorCode]int{rules.MassCancellationHeld: 6},
		Mirrors: map[mirror.State]int{mirror.Failed: 7}, MirrorsDue: start.Add(-2 * time.Minute), MirrorsLooping: 8,
	}
	w.shows(
		`work_due{kind="sync"} 3`, `work_oldest_seconds{kind="sync"} 60`, `work_failing{kind="sync"} 2`, `work_due{kind="intent"} 0`,
		fmt.Sprintf(`last_drain_timestamp_seconds %v`, float64(start.Unix())),
		fmt.Sprintf(`timer_last_success_timestamp_seconds{job="renew-watches"} %v`, float64(start.Unix())),
		`timer_failing{job="renew-watches"} 1`,
		`timer_last_success_timestamp_seconds{job="cleanup"} 0`, `timer_failing{job="cleanup"} 0`,
		`watches_ending 1`, `watches_failed 2`, `calendars_parked 3`, `accounts_revoked 4`, `calendars_failing{reason="not_found"} 5`,
		`calendars_failing_seconds 3600`, `polls_in_error{code="mass_cancellation_held"} 6`, `polls_in_error{code="sync_failed"} 0`,
		`mirrors{state="ERROR"} 7`, `mirrors{state="PENDING"} 0`, `mirrors_oldest_due_seconds 120`, `mirrors_looping 8`,
		`stored_figures_missing{of="work"} 0`,
	)
}

// Prometheus may ask as often as it likes.
func TestStored_AskedOften_IsReadOnceAWhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		w.text()
	}
	if w.reads != 1 {
		t.Errorf("five questions at once read the work %d times", w.reads)
	}
	w.now = w.now.Add(time.Minute)
	w.text()
	w.now = start.Add(-time.Hour) // the clock was set back
	w.text()
	if w.reads != 3 {
		t.Errorf("it was read %d times in all, want 3", w.reads)
	}
}

func TestStored_ThatCannotBeRead_IsReportedAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.broken = errors.New("the store does not answer")
	w.Count(scheduler.Transition{Action: rules.Cancel})
	w.shows(`stored_figures_missing{of="work"} 1`, `stored_figures_missing{of="health"} 0`,
		`transitions_total{transition="cancel"} 1`, `accounts_revoked 0`)
	if strings.Contains(w.text(), "questscheduler_work_due{") {
		t.Error("it shows work that it could not read")
	}
	w.broken, w.depths = nil, []outbox.Depth{{Kind: "sync"}}
	w.shows(`stored_figures_missing{of="work"} 0`, `work_due{kind="sync"} 0`)
}

// A value that no list has is shown as other.
func TestSeries_OfEveryCommandAndRepair_HaveItsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, row := range rules.CommandRows() {
		w.Count(scheduler.Commanded{Command: row.Command})
	}
	for _, row := range rules.Repairs() {
		if row.Repair != rules.RepairNothing && row.Repair != rules.RepairForget { // which are no edits
			w.Count(scheduler.Repaired{Repair: row.Repair})
		}
	}
	for line := range strings.Lines(w.text()) {
		if strings.Contains(line, `="other"`) && !strings.HasSuffix(line, " 0\n") {
			t.Errorf("a list lacks a value: %s", line)
		}
	}
}

// Whatever the events hold, the number of series stays the same.
func TestSeries_AreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.series()
	for i := range 200 {
		odd := fmt.Sprintf("of-person-%d@example.org", i)
		w.Count(calendarsync.Synced{Trigger: odd, Err: errors.New(odd), Took: time.Second})
		w.Count(calendarsync.WatchAsked{Renewal: i%2 == 0, Err: fault.New(fault.Kind(i), odd)})
		w.Count(scheduler.Transition{Action: rules.Action(odd)})
		w.Count(scheduler.Behind{Action: rules.Action(odd), Late: time.Second})
		w.Count(scheduler.Commanded{Command: rules.Command(odd)})
		w.Count(scheduler.SyncError{Code: rules.ErrorCode(odd)})
		w.Count(scheduler.Repaired{Repair: rules.Repair(odd)})
		w.Count(notify.Announced{Notice: rules.Notice(odd), After: time.Second})
		w.Count(notify.ChannelRefused{Channel: odd, Code: odd})
		w.Count(mirrors.Failed{Kind: fault.Kind(i)})
		w.Count(mirrors.Observed{Verdict: plan.Verdict(odd)})
		w.Called(odd, &fault.Error{Kind: fault.Provider, Code: odd}, time.Second)
		w.Answered(odd, i*7, time.Second)
		w.Count(outbox.Ran{Kind: odd, Err: errors.New(odd)})
		w.records = append(w.records, timers.Record{Job: odd})
		w.figures.Failing = map[fault.Kind]int{fault.Kind(i): 1}
		w.figures.Errors = map[rules.ErrorCode]int{rules.ErrorCode(odd): 1}
		w.now = w.now.Add(time.Hour)
		w.text()
	}
	text := w.text()
	if strings.Contains(text, "of-person") {
		t.Error("a figure holds a value of an event")
	}
	if after := w.series(); after > before {
		t.Errorf("%d series became %d", before, after)
	}
	if before > 2500 {
		t.Errorf("%d series are more than anybody asked for", before)
	}
}

func TestRuns_AreCountedByTheirOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	results := []outbox.Result{
		outbox.Done(), outbox.Failed(fault.New(fault.Unavailable, "later")), outbox.Broken(errors.New("the store is away")),
	}
	work := &outbox.Outbox{Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler), Meter: w.Count}
	next := 0
	work.Add(outbox.Kind{Name: calendarsync.SweepKind, Unclaimed: true, Handle: func(context.Context, outbox.Item) outbox.Result {
		next++
		w.now = w.now.Add(time.Second)
		return results[next-1]
	}})
	for i := range results {
		if _, err := work.Run(t.Context(), calendarsync.SweepKind, "a"); (err != nil) != (i == 2) {
			t.Errorf("run %d: %v", i, err)
		}
	}
	w.shows(`work_runs_total{kind="sweep",outcome="done"} 1`, `work_runs_total{kind="sweep",outcome="failed"} 1`,
		`work_runs_total{kind="sweep",outcome="broken"} 1`,
		`work_run_seconds_sum{kind="sweep"} 3`, `errors_total{kind="unavailable"} 1`, `errors_total{kind="internal"} 1`)
}

func TestLog_CountsWarningsAndErrors_AndPassesAllOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var text strings.Builder
	log := slog.New(w.Log(slog.NewTextHandler(&text, nil))).With("a", 1).WithGroup("g")
	log.Debug("detail")
	log.Info("news")
	log.Warn("trouble")
	log.Error("fault", "b", 2)
	w.shows(`log_records_total{level="warn"} 1`, `log_records_total{level="error"} 1`)
	for _, want := range []string{"news", "trouble", "g.b=2", "a=1"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

func TestOAuth_CountsItsEndpointsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) { answer.WriteHeader(status) }))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: w.OAuth(http.DefaultTransport, server.URL+"/token")}
	ask := func(method, path string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			return // where the server is gone
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	ask(http.MethodPost, "/token")
	ask(http.MethodPost, "/revoke?token=secret")
	ask(http.MethodGet, "/calendar/v3/calendars/a/events/token")
	ask(http.MethodGet, "/calendar/v3/calendars/a/events/revoke")
	for _, answered := range []int{http.StatusBadRequest, http.StatusTooManyRequests, http.StatusBadGateway} {
		status = answered
		ask(http.MethodPost, "/token")
	}
	server.Close()
	ask(http.MethodPost, "/token")
	w.shows(`google_calls_total{method="token",outcome="ok"} 1`, `google_calls_total{method="revoke",outcome="ok"} 1`,
		`google_calls_total{method="token",outcome="provider"} 1`, `google_calls_total{method="token",outcome="rate_limited"} 1`,
		`google_calls_total{method="token",outcome="unavailable"} 2`, `google_calls_total{method="events.get",outcome="ok"} 0`)
}

func TestAttendees_SwitchedOn_AreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if strings.Contains(w.text(), "questscheduler_attendee_mappings") {
		t.Error("second addresses are off, and their mappings are shown")
	}
	w.now = w.now.Add(2 * time.Minute) // those figures are kept for a minute
	w.figures.Attendees = health.AttendeeFigures{
		On: true, Mappings: 7, Skipped: 2, WithoutAccess: 3, Held: 4, Failures: 5, LoadedAt: w.now.Add(-time.Minute),
		Pending: 6, Failed: 8, OldestDue: w.now.Add(-2 * time.Minute),
	}
	w.Count(attendees.Patched{Added: 2, Withdrawn: 1})
	w.Count(attendees.Patched{Added: 1})
	w.Count(attendees.Stale{})
	w.Count(attendees.Failed{Kind: fault.Forbidden})
	w.Count(attendees.Noted{State: attendees.Removed})
	w.Count(mappings.Load{Outcome: mappings.LoadHeld})
	w.shows(`attendee_mappings{state="used"} 7`, `attendee_mappings{state="skipped"} 2`,
		`attendee_mappings{state="without_access"} 3`, `attendee_mappings{state="held"} 4`,
		"attendee_mappings_age_seconds 60", "attendee_mappings_load_failures 5", "attendee_events_pending 6",
		"attendee_events_oldest_due_seconds 120", "attendee_events_in_error 8",
		`attendee_patches_total{outcome="ok"} 2`, `attendee_patches_total{outcome="stale"} 1`, `attendee_patches_total{outcome="forbidden"} 1`,
		`attendee_addresses_total{change="invited"} 3`, `attendee_addresses_total{change="withdrawn"} 1`,
		`attendee_notes_total{state="removed"} 1`,
		`attendee_loads_total{outcome="held"} 1`)
}
