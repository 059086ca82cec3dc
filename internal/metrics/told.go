package metrics

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"questscheduler/calendarsync"
	"questscheduler/notify"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

var (
	_ calendarsync.Meter = (*Metrics)(nil)
	_ scheduler.Meter    = (*Metrics)(nil)
	_ notify.Meter       = (*Metrics)(nil)
)

// Buckets, in seconds.
var (
	// forCalls fits what waits for somebody.
	forCalls = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 15, 30, 60}
	// forConvergence fits what pushes bring within seconds, and the sweep within
	// its six hours.
	forConvergence = []float64{.25, .5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400}
)

// counted makes the counters.
func (m *Metrics) counted() {
	m.watches = m.counter("watches_asked_total", "Watch channels that Google was asked for.", occasions, outcomes)
	m.stopped = m.counter("watches_stopped_total", "Watch channels that were stopped at Google.")
	m.pushesRefused = m.counter("pushes_refused_total", "Pushes that were not Google's, or of no channel of ours.")
	m.looks = m.counter("looks_total", "Looks at calendars that came to their end.", hints, looked)
	m.transitions = m.counter("transitions_total", "Changes of polls by what their calendar says.", actions)
	m.commands = m.counter("commands_total", "Changes of polls by what people asked for.", commands)
	m.syncErrors = m.counter("sync_errors_total", "Errors of the sync that polls began to show.", codes)
	m.mendings = m.counter("direct_edits_total", "Polls that somebody wrote directly and that were set right.", mendings)
	m.announced = m.counter("announcements_total", "Transitions that were told in every channel.", notices)
	m.discordRefused = m.counter("discord_refusals_total", "Messages and cards that Discord refused for good.", channels, discordReasons)
	m.calls = m.counter("google_calls_total", "Calls of Google that came to their end.", methods, outcomes)
	m.tasks = m.counter("task_runs_total", "Runs of tasks by what became of them.", label{"kind", taskKinds}, verdicts)
	m.requests = m.counter("http_requests_total", "Requests that were answered.", httpMethods, classes)
	m.failures = m.counter("errors_total", "Errors by their kind, wherever they were met: calls of Google, looks, runs of tasks.", label{"kind", kinds})
	m.records = m.counter("log_records_total", "Lines of the log that say that something is wrong.", levels)
}

// timed makes the histograms.
func (m *Metrics) timed() {
	m.lookSeconds = m.histogram("look_seconds", "How long looks take.", forCalls)
	m.behind = m.histogram("calendar_to_poll_seconds",
		"Convergence, first half: from the event's change in the calendar (its updated) to the poll's. A deletion is in it where Google says when it was.", forConvergence, moves)
	m.after = m.histogram("poll_to_people_seconds",
		"Convergence, second half: from the poll's change to everybody having been told; the rest of QS_NOTIFY_SETTLE is in it.", forConvergence, notices)
	m.callSeconds = m.histogram("google_call_seconds", "How long calls of Google take.", forCalls, methods)
	m.taskSeconds = m.histogram("task_run_seconds", "How long runs of tasks take.", forCalls, label{"kind", taskKinds})
	m.seconds = m.histogram("http_request_seconds", "How long requests take. Streams are not counted.", forCalls, httpMethods)
}

// Looked implements calendarsync.Meter.
func (m *Metrics) Looked(hint string, err error, took time.Duration) {
	result := outcome(err)
	if errors.Is(err, scheduler.ErrFenced) {
		result = overtaken
	} else {
		m.failed(err)
	}
	m.looks.WithLabelValues(hints.of(hint), result).Inc()
	observe(m.lookSeconds, took)
}

// WatchAsked implements calendarsync.Meter.
func (m *Metrics) WatchAsked(renewal bool, err error) {
	occasion := "creation"
	if renewal {
		occasion = "renewal"
	}
	m.watches.WithLabelValues(occasion, outcome(err)).Inc()
}

// WatchStopped implements calendarsync.Meter.
func (m *Metrics) WatchStopped() { m.stopped.WithLabelValues().Inc() }

// PushRefused implements calendarsync.Meter.
func (m *Metrics) PushRefused() { m.pushesRefused.WithLabelValues().Inc() }

// Transition implements scheduler.Meter.
func (m *Metrics) Transition(action rules.Action) {
	m.transitions.WithLabelValues(actions.of(string(action))).Inc()
}

// Behind implements scheduler.Meter.
func (m *Metrics) Behind(action rules.Action, late time.Duration) {
	observe(m.behind, late, moves.of(string(action)))
}

// Commanded implements scheduler.Meter.
func (m *Metrics) Commanded(command rules.Command) {
	m.commands.WithLabelValues(commands.of(string(command))).Inc()
}

// SyncError implements scheduler.Meter.
func (m *Metrics) SyncError(code rules.ErrorCode) {
	m.syncErrors.WithLabelValues(codes.of(string(code))).Inc()
}

// Mended implements scheduler.Meter.
func (m *Metrics) Mended(mending rules.Mending) {
	m.mendings.WithLabelValues(mendings.of(string(mending))).Inc()
}

// Announced implements notify.Meter.
func (m *Metrics) Announced(notice rules.Notice, after time.Duration) {
	m.announced.WithLabelValues(notices.of(string(notice))).Inc()
	observe(m.after, after, notices.of(string(notice)))
}

// DiscordRefused implements notify.Meter.
func (m *Metrics) DiscordRefused(channel, code string) {
	m.discordRefused.WithLabelValues(channels.of(channel), discordReasons.of(code)).Inc()
}

// Called counts a call of Google (gcal.Options.Called).
func (m *Metrics) Called(method string, err error, took time.Duration) {
	m.calls.WithLabelValues(methods.of(method), outcome(err)).Inc()
	observe(m.callSeconds, took, methods.of(method))
	m.failed(err)
}

// Answered counts a request (api.Options.Answered).
func (m *Metrics) Answered(method string, status int, took time.Duration) {
	class := strconv.Itoa(status/100) + "xx"
	m.requests.WithLabelValues(httpMethods.of(method), classes.of(class)).Inc()
	observe(m.seconds, took, httpMethods.of(method))
}

// OAuth counts the calls of Google's OAuth endpoints that go through next: of
// tokenURL as token, of any other address that ends in /revoke as revoke. What
// goes elsewhere is counted by those who make it.
func (m *Metrics) OAuth(next http.RoundTripper, tokenURL string) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		var method string
		switch address := request.URL.Scheme + "://" + request.URL.Host + request.URL.Path; {
		case address == tokenURL:
			method = "token"
		case strings.HasSuffix(request.URL.Path, "/revoke") && request.Method == http.MethodPost:
			method = "revoke"
		default:
			return next.RoundTrip(request)
		}
		began := m.now()
		response, err := next.RoundTrip(request)
		m.calls.WithLabelValues(methods.of(method), oauthOutcome(response, err)).Inc()
		observe(m.callSeconds, m.now().Sub(began), method)
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// oauthOutcome is how a call of an OAuth endpoint ended, by its status alone:
// the body is the caller's.
func oauthOutcome(response *http.Response, err error) string {
	switch {
	case err != nil || response.StatusCode >= http.StatusInternalServerError:
		return "unavailable"
	case response.StatusCode == http.StatusTooManyRequests:
		return "rate_limited"
	case response.StatusCode >= http.StatusBadRequest:
		return "provider"
	default:
		return ok
	}
}

// failed counts an error by its kind; nil is none.
func (m *Metrics) failed(err error) {
	if err != nil {
		m.failures.WithLabelValues(outcome(err)).Inc()
	}
}

// observe adds a time. Clocks differ: one that seems to lie ahead is none.
func observe(histogram *prometheus.HistogramVec, took time.Duration, labels ...string) {
	histogram.WithLabelValues(labels...).Observe(max(took, 0).Seconds())
}
