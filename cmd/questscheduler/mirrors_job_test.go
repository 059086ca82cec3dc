package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// mirrorsJob is the life of a meeting in a calendar of somebody with two accounts whose
// calendars know about each other, in steps as those of mainJob.
type mirrorsJob struct {
	*outside
	first, second account
	policyID      string
	start         time.Time // of the meeting
	meeting       string    // its event's id
	moved         string    // the id of the occurrence that is moved
}

// account is a linked account as its owner knows it.
type account struct{ id, token, calendarID string }

func newMirrorsJob(o *outside) *mirrorsJob {
	o.t.Helper()
	gm := o.ready.Users["gm"]
	job := &mirrorsJob{
		outside: o, first: account{token: gm.GoogleToken, calendarID: gm.CalendarID},
		second: account{gm.Second.AccountID, gm.Second.GoogleToken, gm.Second.CalendarID},
		start:  time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 9).Add(9 * time.Hour),
	}
	data, err := o.v1("gm", "GET", "/accounts", nil)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, linked := range list(data["accounts"]) {
		if linked["default"] == true {
			job.first.id, _ = linked["id"].(string)
		}
	}
	return job
}

const overlayName = "External Busy"

func (s *mirrorsJob) steps() []step {
	return []step{
		{"set the policy", s.setPolicy, s.follows},
		{"make a meeting", s.insert, s.follows},
		{"move it", func() error { return s.shift(24 * time.Hour) }, s.follows},
		{"drag its copy", func() error { return s.drag(-5 * time.Hour) }, s.follows},
		{"make it a series", s.repeat, func() error { return errors.Join(s.follows(), s.isSeries()) }},
		{"move one occurrence", s.moveOne, func() error { return errors.Join(s.follows(), s.isOneMoved()) }},
		{"drag an occurrence of the copy", s.dragOne, func() error { return errors.Join(s.follows(), s.isOneMoved()) }},
		{"move the series", func() error { return s.shift(25 * time.Hour) }, s.follows},
		{"meet in the other account", s.insertInSecond, s.follows},
		{"delete it", s.delete, s.follows},
		{"move the session of a poll", s.moveSession, func() error { return errors.Join(s.follows(), s.session("FINALIZED", "RESCHEDULED")) }},
		{"restore its time", s.restoreSession, func() error { return errors.Join(s.follows(), s.session("FINALIZED", "OK")) }},
		{"show titles in the primary calendar", func() error { return s.setEdges("TITLE", "primary") }, func() error { return s.inPrimary("") }},
		{"show everything there", func() error { return s.setEdges("FULL", "primary") }, func() error { return s.inPrimary("Bring dice.") }},
		{"hide again", func() error { return s.setEdges("BUSY", "overlay") }, s.follows},
		{"cancel the poll", s.cancelSession, func() error { return errors.Join(s.follows(), s.session("CANCELLED", "CANCELLED")) }},
		{"make another meeting", s.insert, s.follows},
	}
}

// google calls Calendar v3 as the owner of an account, and fails unless it succeeds.
func (s *mirrorsJob) google(as account, method, path string, body any) (map[string]any, error) {
	got, err := s.try(method, s.ready.Google+"/calendar/v3/"+path, "Bearer "+as.token, body)
	if err == nil && got.status != http.StatusOK && got.status != http.StatusNoContent {
		err = fmt.Errorf("%s %s answers %d: %v", method, path, got.status, got.body)
	}
	return got.body, err
}

func eventsOf(calendarID string) string { return "calendars/" + url.PathEscape(calendarID) + "/events" }

func oneEvent(calendarID, eventID string) string { return eventsOf(calendarID) + "/" + eventID }

func between(start time.Time, zone string) map[string]any {
	moment := func(at time.Time) map[string]any {
		return map[string]any{"dateTime": at.Format(time.RFC3339), "timeZone": zone}
	}
	return map[string]any{"start": moment(start), "end": moment(start.Add(time.Hour))}
}

func (s *mirrorsJob) setPolicy() error {
	data, err := s.v1("gm", "POST", "/policies", map[string]any{"name": "Both ways"})
	if err != nil {
		return err
	}
	s.policyID, _ = data["id"].(string)
	return s.setEdges("BUSY", "overlay")
}

// setEdges sets what the second account shows of the first; the first shows that the second
// is busy.
func (s *mirrorsJob) setEdges(detail, target string) error {
	_, err := s.v1("gm", "PUT", "/policies/"+s.policyID+"/edges", map[string]any{"edges": []any{
		map[string]any{"from_account_id": s.first.id, "to_account_id": s.second.id, "detail": detail, "target": target},
		map[string]any{"from_account_id": s.second.id, "to_account_id": s.first.id, "detail": "BUSY"},
	}})
	return err
}

func (s *mirrorsJob) insert() error {
	body := between(s.start, "UTC")
	body["summary"], body["description"], body["location"] = "Secret merger", "With the lawyers", "Room 5"
	event, err := s.google(s.first, "POST", eventsOf(s.first.calendarID), body)
	s.meeting, _ = event["id"].(string)
	return err
}

func (s *mirrorsJob) insertInSecond() error {
	body := between(s.start.Add(50*time.Hour), "UTC")
	body["summary"] = "Night shift"
	_, err := s.google(s.second, "POST", eventsOf(s.second.calendarID), body)
	return err
}

func (s *mirrorsJob) shift(by time.Duration) error {
	_, err := s.google(s.first, "PATCH", oneEvent(s.first.calendarID, s.meeting), between(s.start.Add(by), "Europe/Berlin"))
	return err
}

func (s *mirrorsJob) repeat() error {
	body := between(s.start.Add(24*time.Hour), "Europe/Berlin")
	body["recurrence"] = []string{"RRULE:FREQ=WEEKLY;COUNT=6"}
	_, err := s.google(s.first, "PATCH", oneEvent(s.first.calendarID, s.meeting), body)
	return err
}

func (s *mirrorsJob) moveOne() error {
	got, err := s.google(s.first, "GET", oneEvent(s.first.calendarID, s.meeting)+"/instances", nil)
	if err != nil {
		return err
	}
	occurrences := list(got["items"])
	if len(occurrences) != 6 {
		return fmt.Errorf("the meeting has %d occurrences", len(occurrences))
	}
	s.moved, _ = occurrences[2]["id"].(string)
	start := instant(s.t, at(occurrences[2], "start", "dateTime"))
	_, err = s.google(s.first, "PATCH", oneEvent(s.first.calendarID, s.moved), between(start.Add(3*time.Hour), "Europe/Berlin"))
	return err
}

func (s *mirrorsJob) delete() error {
	_, err := s.google(s.first, "DELETE", oneEvent(s.first.calendarID, s.meeting), nil)
	return err
}

// drag moves the copy of the meeting by hand.
func (s *mirrorsJob) drag(by time.Duration) error {
	return s.dragAt(s.start.Add(24*time.Hour), by)
}

// dragOne moves the copy of one occurrence.
func (s *mirrorsJob) dragOne() error {
	shown, err := s.live(s.first, s.first.calendarID)
	if err != nil {
		return err
	}
	for _, event := range shown {
		if event["recurringEventId"] == s.meeting && event["id"] != s.moved {
			return s.dragAt(instant(s.t, at(event, "start", "dateTime")), -2*time.Hour)
		}
	}
	return errors.New("the meeting has no occurrences")
}

// dragAt moves the copy that starts at a time.
func (s *mirrorsJob) dragAt(start time.Time, by time.Duration) error {
	return s.onCopyAt(start, http.MethodPatch, between(start.Add(by), "Europe/Berlin"))
}

// onCopyAt calls Calendar v3 for the copy that starts at a time.
func (s *mirrorsJob) onCopyAt(start time.Time, method string, body any) error {
	overlay, err := s.overlay(s.second)
	if err != nil {
		return err
	}
	copies, err := s.live(s.second, overlay)
	if err != nil {
		return err
	}
	for _, event := range copies {
		if instant(s.t, at(event, "start", "dateTime")).Equal(start) {
			_, err := s.google(s.second, method, oneEvent(overlay, fmt.Sprint(event["id"])), body)
			return err
		}
	}
	return fmt.Errorf("no copy starts at %v: %v", start, copies)
}

// overlay is the id of an account's calendar for external events; "" if there is none, and
// an error if there are several.
func (s *mirrorsJob) overlay(of account) (id string, err error) {
	got, err := s.google(of, "GET", "users/me/calendarList", nil)
	if err != nil {
		return "", err
	}
	for _, calendar := range list(got["items"]) {
		if calendar["summary"] != overlayName {
			continue
		}
		if id != "" {
			return "", errors.New("there are several calendars " + overlayName)
		}
		id, _ = calendar["id"].(string)
	}
	return id, nil
}

// moveSession moves the event of the poll that follows one.
func (s *mirrorsJob) moveSession() error {
	poll, err := s.poll(s.ready.Polls["linked"])
	if err != nil {
		return err
	}
	start := instant(s.t, at(poll, "winning_slot", "start"))
	got, err := s.event("PATCH", fmt.Sprint(poll["google_event_id"]), between(start.Add(24*time.Hour), "Europe/Berlin"))
	if err == nil && got.status != http.StatusOK {
		err = fmt.Errorf("patch answers %d: %v", got.status, got.body)
	}
	return err
}

func (s *mirrorsJob) restoreSession() error {
	_, err := s.v1("gm", "POST", "/polls/"+s.ready.Polls["linked"]+"/restore-original-time", nil)
	return err
}

func (s *mirrorsJob) cancelSession() error {
	_, err := s.v1("gm", "POST", "/polls/"+s.ready.Polls["linked"]+"/cancel", nil)
	return err
}

func TestMirrors_OfAMeeting_FollowIt(t *testing.T) {
	t.Parallel()
	job := newMirrorsJob(&outside{t, startDemo(t, dataDir(t))})
	for _, step := range job.steps() {
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		began := time.Now()
		eventually(t, step.name, step.then)
		t.Logf("%s: followed after %v", step.name, time.Since(began).Round(time.Millisecond))
	}
	job.unlinkSecond()
	eventually(t, "unlink", job.isUnlinked)
}
