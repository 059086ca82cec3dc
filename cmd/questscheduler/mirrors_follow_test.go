package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
)

// live lists the single events and the occurrences in a calendar that are not cancelled.
func (s *mirrorsJob) live(as account, calendarID string) ([]map[string]any, error) {
	got, err := s.google(as, "GET", eventsOf(calendarID)+"?singleEvents=true&maxResults=2500", nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list(got["items"]), func(event map[string]any) bool { return event["status"] == "cancelled" }), nil
}

// ours reports whether an event is a copy, by the mark that opens its id.
func ours(event map[string]any) bool {
	return strings.HasPrefix(fmt.Sprint(event["id"]), "questmirror")
}

// times lists the starts and ends of events.
func (s *mirrorsJob) times(events []map[string]any) (times []string) {
	for _, event := range events {
		start, end := instant(s.t, at(event, "start", "dateTime")), instant(s.t, at(event, "end", "dateTime"))
		times = append(times, start.Format(time.RFC3339)+" "+end.Format(time.RFC3339))
	}
	slices.Sort(times)
	return times
}

// follows checks that each account's overlay calendar shows the times of the other's own
// events and nothing else, that no primary calendar holds a copy, and what /v1 says of it.
func (s *mirrorsJob) follows() error {
	return errors.Join(s.noCopyIn(s.first), s.noCopyIn(s.second), s.shows(s.first, s.second), s.shows(s.second, s.first), s.settled())
}

// noCopyIn checks that an account's primary calendar holds no copy.
func (s *mirrorsJob) noCopyIn(in account) error {
	shown, err := s.live(in, in.calendarID)
	if i := slices.IndexFunc(shown, ours); err == nil && i >= 0 {
		err = fmt.Errorf("the primary calendar of %s holds a copy: %v", in.calendarID, shown[i])
	}
	return err
}

// shows checks that a target's overlay calendar shows the events of a source as busy.
func (s *mirrorsJob) shows(from, in account) error {
	originals, err := s.live(from, from.calendarID)
	if err != nil {
		return err
	}
	originals = slices.DeleteFunc(originals, ours)
	overlay, err := s.overlay(in)
	if err != nil {
		return err
	}
	var copies []map[string]any
	if overlay != "" {
		copies, err = s.live(in, overlay)
		if err != nil {
			return err
		}
	}
	if got, want := s.times(copies), s.times(originals); !reflect.DeepEqual(got, want) {
		return fmt.Errorf("the overlay calendar of %s shows %v, want %v", in.calendarID, got, want)
	}
	for _, event := range copies {
		if event["summary"] != "Busy" || event["description"] != nil || event["location"] != nil || event["attendees"] != nil {
			return fmt.Errorf("a copy shows more than its times: %v", event)
		}
	}
	return nil
}

// settled checks that /v1 lists the events of both calendars, each with one mirror in the
// other account that is ACTIVE, and no mirror as an event, and that no write is pending.
func (s *mirrorsJob) settled() error {
	from, to := s.start.AddDate(0, 0, -30), s.start.AddDate(0, 0, 90)
	data, err := s.v1("gm", "GET", "/events?limit=500&start="+from.Format(time.RFC3339)+"&end="+to.Format(time.RFC3339), nil)
	if err != nil {
		return err
	}
	var got, want []string
	for _, event := range list(data["events"]) {
		got = append(got, fmt.Sprint(event["title"], " ", event["start_ts"]))
		other := map[any]string{s.first.id: s.second.id, s.second.id: s.first.id}[event["origin_account_id"]]
		mirrors := list(event["mirrors"])
		if len(mirrors) != 1 || mirrors[0]["state"] != "ACTIVE" || mirrors[0]["target_account_id"] != other ||
			mirrors[0]["last_write_ts"] == nil {
			return fmt.Errorf("the event %v at %v has the mirrors %v", event["title"], event["start_ts"], mirrors)
		}
	}
	for _, in := range []account{s.first, s.second} {
		shown, err := s.live(in, in.calendarID)
		if err != nil {
			return err
		}
		for _, event := range shown {
			if !ours(event) {
				want = append(want, fmt.Sprint(event["summary"], " ", instant(s.t, at(event, "start", "dateTime")).Format(time.RFC3339)))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("/v1/events lists %v, the calendars have %v", got, want)
	}
	return s.nothingPending()
}

func (s *mirrorsJob) nothingPending() error {
	data, err := s.v1("gm", "GET", "/sync/status", nil)
	if err != nil {
		return err
	}
	for _, linked := range list(data["accounts"]) {
		if err := expect(linked, map[string]any{"pending_writes": 0.0, "error_mirrors": 0.0, "status": "healthy"}); err != nil {
			return fmt.Errorf("the account %v: %w", linked["email"], err)
		}
	}
	return nil
}

// copies lists the copies as the overlay calendar has them: series are not expanded.
func (s *mirrorsJob) copies() ([]map[string]any, error) {
	overlay, err := s.overlay(s.second)
	if err != nil {
		return nil, err
	}
	got, err := s.google(s.second, "GET", eventsOf(overlay), nil)
	return list(got["items"]), err
}

// isSeries checks that the copy of the series is a series.
func (s *mirrorsJob) isSeries() error {
	copies, err := s.copies()
	if err != nil {
		return err
	}
	for _, event := range copies {
		if reflect.DeepEqual(event["recurrence"], []any{"RRULE:FREQ=WEEKLY;COUNT=6"}) && at(event, "start", "timeZone") == "Europe/Berlin" {
			return nil
		}
	}
	return fmt.Errorf("no copy is the series: %v", copies)
}

// isOneMoved checks that the copy of the series has one exception.
func (s *mirrorsJob) isOneMoved() error {
	copies, err := s.copies()
	if err != nil {
		return err
	}
	var exceptions int
	for _, event := range copies {
		if event["recurringEventId"] != nil && event["status"] != "cancelled" {
			exceptions++
		}
	}
	if exceptions != 1 {
		return fmt.Errorf("%d occurrences differ from the series, want one: %v", exceptions, copies)
	}
	return s.isSeries()
}

func (s *mirrorsJob) session(status, state string) error {
	poll, err := s.poll(s.ready.Polls["linked"])
	if err != nil {
		return err
	}
	return expect(poll, map[string]any{"status": status, "sync.state": state})
}

// inPrimary checks that the second account's primary calendar shows the session of the poll
// by its title, privately and with a description, and its overlay calendar nothing.
func (s *mirrorsJob) inPrimary(description string) error {
	overlay, err := s.overlay(s.second)
	if err != nil {
		return err
	}
	for calendarID, want := range map[string]int{overlay: 0, s.second.calendarID: 1} {
		shown, err := s.live(s.second, calendarID)
		if err != nil {
			return err
		}
		shown = slices.DeleteFunc(shown, func(event map[string]any) bool { return !ours(event) })
		if len(shown) != want {
			return fmt.Errorf("%s shows %d copies, want %d: %v", calendarID, len(shown), want, shown)
		}
		for _, event := range shown {
			text, _ := event["description"].(string)
			if event["summary"] != "Session 11: The Long Road" || event["visibility"] != "private" ||
				(description == "") != (text == "") || !strings.Contains(text, description) || event["attendees"] != nil {
				return fmt.Errorf("the copy is %v", event)
			}
		}
	}
	return errors.Join(s.shows(s.second, s.first), s.nothingPending())
}

// isUnlinked checks that no copy is left in either account. Unlinking ended all that the
// demo was granted, its token for the test too, so the owner lets the test see the calendars
// by a consent.
func (s *mirrorsJob) isUnlinked() error {
	var err error
	s.second.token, err = s.consent("gm-second")
	if err != nil {
		return err
	}
	for _, in := range []account{s.first, s.second} {
		overlay, err := s.overlay(in)
		if err != nil {
			return err
		}
		for _, calendarID := range []string{in.calendarID, overlay} {
			shown, err := s.live(in, calendarID)
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(shown, ours); i >= 0 {
				return fmt.Errorf("%s still shows %v", calendarID, shown[i])
			}
		}
	}
	return nil
}

// consent is a token for the calendars of one of the simulator's users, who grants it to
// another program than ours.
func (s *mirrorsJob) consent(user string) (token string, err error) {
	back := httptest.NewServer(http.NotFoundHandler())
	defer back.Close()
	asked := url.Values{
		"client_id": {"another"}, "redirect_uri": {back.URL}, "response_type": {"code"}, "scope": {"https://www.googleapis.com/auth/calendar"},
	}
	at, _ := newBrowser(s.t).visit(
		s.ready.Google+"/o/oauth2/v2/auth?"+asked.Encode(), "same-origin", url.Values{"user": {user}, "decision": {"allow"}},
	)
	exchange := url.Values{
		"client_id": {"another"}, "client_secret": {"secret"}, "grant_type": {"authorization_code"}, "redirect_uri": {back.URL},
		"code": {at.Query().Get("code")},
	}
	response, err := http.PostForm(s.ready.Google+"/token", exchange) //nolint:noctx // the simulator answers at once
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var answered struct {
		AccessToken string `json:"access_token"`
		Error       string `json:"error_description"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answered); err != nil || answered.AccessToken == "" {
		return "", fmt.Errorf("no token at %s: %s %w", at, answered.Error, err)
	}
	return answered.AccessToken, nil
}
