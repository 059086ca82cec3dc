package metrics

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/outbox"
	"questscheduler/mirrors"
	"questscheduler/notify"
	"questscheduler/scheduler"
)

// Count is the meter.Meter of the program. An event of no case counts nothing.
func (m *Metrics) Count(event any) {
	switch e := event.(type) {
	case calendarsync.Synced:
		result := outcome(e.Err)
		if errors.Is(e.Err, scheduler.ErrFenced) {
			result = overtaken
		} else {
			m.failed(e.Err)
		}
		m.count("syncs_total", e.Trigger, result)
		m.observe("sync_seconds", e.Took)
	case calendarsync.WatchAsked:
		occasion := "creation"
		if e.Renewal {
			occasion = "renewal"
		}
		m.count("watches_asked_total", occasion, outcome(e.Err))
	case calendarsync.WatchStopped:
		m.count("watches_stopped_total")
	case calendarsync.PushRefused:
		m.count("pushes_refused_total")
	case scheduler.Transition:
		m.count("transitions_total", string(e.Action))
	case scheduler.Behind:
		m.observe("calendar_to_poll_seconds", e.Late, string(e.Action))
	case scheduler.Commanded:
		m.count("commands_total", string(e.Command))
	case scheduler.SyncError:
		m.count("sync_errors_total", string(e.Code))
	case scheduler.Repaired:
		m.count("direct_edits_total", string(e.Repair))
	case notify.Announced:
		m.count("announcements_total", string(e.Notice))
		m.observe("poll_to_people_seconds", e.After, string(e.Notice))
	case mirrors.Written:
		m.count("mirror_writes_total", "write")
	case mirrors.Deleted:
		m.count("mirror_writes_total", "delete")
	case mirrors.StrayDeleted:
		m.count("mirror_writes_total", "delete_stray")
	case mirrors.OverlayCreated:
		m.count("mirror_writes_total", "create_calendar")
	case mirrors.Failed:
		m.count("mirror_failures_total", kindName(e.Kind))
	case mirrors.Observed:
		m.count("mirror_observations_total", string(e.Verdict))
	case attendees.Patched:
		m.count("attendee_patches_total", "ok")
		m.countMany("attendee_addresses_total", e.Added, "invited")
		m.countMany("attendee_addresses_total", e.Withdrawn, "withdrawn")
	case attendees.Stale:
		m.count("attendee_patches_total", "stale")
	case attendees.Failed:
		m.count("attendee_patches_total", kindName(e.Kind))
	case attendees.Noted:
		m.count("attendee_notes_total", string(e.State))
	case mappings.Load:
		m.count("attendee_loads_total", string(e.Outcome))
	case outbox.Ran:
		m.count("work_runs_total", e.Kind, e.Outcome.String())
		m.observe("work_run_seconds", e.Took, e.Kind)
		if e.Kind != calendars.SyncKind { // a sync run hands its error over itself
			m.failed(e.Err)
		}
	case notify.ChannelRefused:
		m.count("channel_refusals_total", e.Channel, e.Code)
	}
}

// Called counts a call of Google (gcal.Options.Called).
func (m *Metrics) Called(method string, err error, took time.Duration) {
	m.count("google_calls_total", method, outcome(err))
	m.observe("google_call_seconds", took, method)
	m.failed(err)
}

// Answered counts a request (api.Options.Answered).
func (m *Metrics) Answered(method string, status int, took time.Duration) {
	m.count("http_requests_total", method, strconv.Itoa(status/100)+"xx")
	m.observe("http_request_seconds", took, method)
}

// failed counts an error by its kind; nil is none.
func (m *Metrics) failed(err error) {
	if err != nil {
		m.count("errors_total", outcome(err))
	}
}

// OAuth counts the calls of Google's OAuth endpoints that go through next: to
// tokenURL as token, to any other address that ends in /revoke as revoke. Callers
// of other addresses count their calls themselves.
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
		m.count("google_calls_total", method, oauthOutcome(response, err))
		m.observe("google_call_seconds", m.now().Sub(began), method)
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// oauthOutcome is how a call of an OAuth endpoint ended, by its status alone: only
// the caller reads the body.
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
