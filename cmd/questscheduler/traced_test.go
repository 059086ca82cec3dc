package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOnePush_IsFollowedThroughTheLog moves an event. The log has the request of
// Google's push, the transition, the announcement and the Discord message under one
// trace, and the metrics count them.
func TestOnePush_IsFollowedThroughTheLog(t *testing.T) {
	t.Parallel()
	w := newCalendarWorld(t)
	server := serve(t, w.settings(freeAddress(t), "QS_LOG_FORMAT=text"))
	o := &outside{t, w.ready}
	o.ready.API = server.url
	linked := w.ready.Polls["linked"]
	// The first sync runs are over when a later change was announced.
	witness := newSession(o, "gm")
	witness.move(time.Hour)
	witness.becomesMoved(time.Hour)
	witness.becomesAnnounced("SESSION_RESCHEDULED", 1)

	poll, err := o.poll(linked)
	if err != nil {
		t.Fatal(err)
	}
	from, to := instant(t, at(poll, "winning_slot", "start")), instant(t, at(poll, "winning_slot", "end"))
	got, err := o.event("PATCH", fmt.Sprint(poll["google_event_id"]), times(from.Add(24*time.Hour), to.Add(24*time.Hour)))
	if err != nil || got.status != http.StatusOK {
		t.Fatalf("the event cannot be moved: %v %v", got, err)
	}
	title := fmt.Sprint(poll["title"])
	eventually(t, "the announcement", func() error { return o.announcedOnce(title, linked, "SESSION_RESCHEDULED", "rescheduled") })
	eventually(t, "its line", func() error {
		if n := strings.Count(server.log.String(), "msg=announced"); n != 2 {
			return fmt.Errorf("the log has %d", n)
		}
		return nil
	})

	lines := readLog(server.log.String())
	moved := lines.one(t, "poll reschedule", "poll", linked)
	trace := moved["trace"]
	if trace == "" || moved["user_id"] != "gm" || moved["hint"] != "push" {
		t.Errorf("the transition's line is %v", moved)
	}
	if push := lines.one(t, "request", "request_id", trace); push["route"] != webhookPath {
		t.Errorf("the trace began with %v", push)
	}
	lines.one(t, "announced", "trace", trace)
	sent := lines.one(t, "discord has the message", "trace", trace)
	said, err := o.said(title, "rescheduled")
	if err != nil || len(said) != 1 || said[0]["id"] != sent["message"] {
		t.Errorf("the log names the message %q, and Discord has %v (%v)", sent["message"], said, err)
	}
	journal, err := o.v1("gm", "GET", "/polls/"+linked+"/journal", nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(journal); err != nil || !strings.Contains(string(text), trace) {
		t.Errorf("the journal lacks the trace %s: %s (%v)", trace, text, err)
	}
	w.wantFigures(t, server, linked)
}

// wantFigures checks the metrics of a server whose linked poll was rescheduled by a
// push: they count that, and name no user, poll or calendar.
func (w *calendarWorld) wantFigures(t *testing.T, server *serving, linked string) {
	t.Helper()
	text := server.text("/metrics")
	for _, line := range []string{
		`questscheduler_transitions_total{transition="reschedule"} 2`, `questscheduler_announcements_total{notice="SESSION_RESCHEDULED"} 2`,
		`questscheduler_calendar_to_poll_seconds_count{transition="reschedule"} 2`,
		`questscheduler_poll_to_people_seconds_count{notice="SESSION_RESCHEDULED"} 2`,
		`questscheduler_google_calls_total{method="token",outcome="ok"} 1`, `questscheduler_commands_total{command="finalise"} 1`,
		`questscheduler_work_failing{kind="sync"} 0`, `questscheduler_accounts_revoked 0`, `questscheduler_polls_in_error{code="sync_failed"} 0`,
		`questscheduler_stored_figures_missing{of="work"} 0`, `questscheduler_stored_figures_missing{of="timers"} 0`,
		`questscheduler_stored_figures_missing{of="health"} 0`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	for _, counted := range []string{ // more than one where two asked at once
		`questscheduler_watches_asked_total{occasion="creation",outcome="ok"} `,
		`questscheduler_google_calls_total{method="events.watch",outcome="ok"} `,
		`questscheduler_last_drain_timestamp_seconds `,
	} {
		if !strings.Contains(text, "\n"+counted) || strings.Contains(text, counted+"0\n") {
			t.Errorf("the metrics lack %s", counted)
		}
	}
	for _, kind := range kinds {
		if !strings.Contains(text, `questscheduler_work_runs_total{kind="`+kind+`",outcome="done"} `) {
			t.Errorf("the metrics lack work of the kind %s", kind)
		}
	}
	w.wantNoSecrets(t, text)
	names := []string{linked}
	for who, user := range w.Users {
		names = append(names, `"`+who+`"`, user.Email, user.CalendarID)
	}
	if i := slices.IndexFunc(names, func(name string) bool { return strings.Contains(text, name) }); i >= 0 {
		t.Errorf("the metrics name %s", names[i])
	}
}

// text is the answer to a GET from this machine, with a bearer token if one is given.
func (s *serving) text(path string, token ...string) string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, bearer := range token {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s answers %d (%v): %s", path, response.StatusCode, err, text)
	}
	return string(text)
}

// logField is a name and its value.
var logField = regexp.MustCompile(`(\w+)=("(?:[^"\\]|\\.)*"|\S*)`)

// logText is the lines of a log, each by its fields.
type logText []map[string]string

// readLog reads a log in the form of slog's text handler.
func readLog(text string) (lines logText) {
	for line := range strings.Lines(text) {
		fields := map[string]string{}
		for _, match := range logField.FindAllStringSubmatch(line, -1) {
			fields[match[1]] = strings.Trim(match[2], `"`)
		}
		lines = append(lines, fields)
	}
	return lines
}

// one is the only line of a message that has a value in a field.
func (l logText) one(t *testing.T, message, field, value string) map[string]string {
	t.Helper()
	var found logText
	for _, line := range l {
		if line["msg"] == message && line[field] == value {
			found = append(found, line)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d lines say %q with %s=%s, want one", len(found), message, field, value)
	}
	return found[0]
}
