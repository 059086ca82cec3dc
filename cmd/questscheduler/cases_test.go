package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"questscheduler/demo"
)

// The cases in cases_*_test.go run over HTTP against a demo. Cases that do not disturb
// each other share one, each with its own session.

// startCases starts a demo for cases that syncs a calendar as soon as
// requested.
func startCases(t *testing.T, environ ...string) *outside {
	t.Helper()
	return &outside{t, startDemo(t, dataDir(t), append([]string{"QS_SYNC_MIN_GAP=20ms"}, environ...)...)}
}

// in is the same demo for a subtest.
func (o *outside) in(t *testing.T) *outside { return &outside{t, o.ready} }

// do is try for a call that must get an answer of any status.
func (o *outside) do(method, url, bearer string, body any, headers ...string) answer {
	o.t.Helper()
	got, err := o.try(method, url, bearer, body, headers...)
	if err != nil {
		o.t.Fatal(err)
	}
	return got
}

// want fails if the answer has another status.
func (a answer) want(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("the answer is %d, want %d: %v", a.status, status, a.body)
	}
	return a
}

// sim calls a control of the Google simulator.
func (o *outside) sim(method, path string, body any) map[string]any {
	o.t.Helper()
	return o.do(method, o.ready.Google+"/_sim/"+path, "", body).want(o.t, http.StatusOK).body
}

// plant makes calls to the Google simulator fail until heal.
func (o *outside) plant(match string, fault map[string]any) {
	o.t.Helper()
	fault["match"] = match
	o.sim("POST", "faults", fault)
}

func (o *outside) heal() {
	o.t.Helper()
	o.sim("DELETE", "faults", nil)
}

// calls counts the calls of a method that the Google simulator received.
func (o *outside) calls(method string) int {
	o.t.Helper()
	count, _ := o.sim("GET", "calls", nil)[method].(float64)
	return int(count)
}

// atLeast checks that the Google simulator received at least so many calls of a method.
func (o *outside) atLeast(method string, times int) error {
	if got := o.calls(method); got < times {
		return fmt.Errorf("%s was called %d times, want %d", method, got, times)
	}
	return nil
}

// session is a poll that one case uses alone.
type session struct {
	*outside
	who, id, title string
	slots          []map[string]any
	event          string // id of its event, once it is finalised
	start, end     time.Time
}

var titles atomic.Int64

// newPoll creates a poll of a user with the whole party in it and three evenings.
func newPoll(o *outside, who string) *session {
	o.t.Helper()
	first := time.Now().UTC().Truncate(24 * time.Hour).Add(20*24*time.Hour + 18*time.Hour)
	return newPollAt(o, who, first, first.Add(4*time.Hour))
}

// newPollAt is newPoll with the first of the evenings given.
func newPollAt(o *outside, who string, start, end time.Time) *session {
	o.t.Helper()
	s := &session{outside: o, who: who, title: fmt.Sprintf("Case %04d", titles.Add(1)), start: start, end: end}
	var evenings []map[string]any
	for i := range 3 {
		evenings = append(evenings, map[string]any{
			"start": start.AddDate(0, 0, i).Format(time.RFC3339), "end": end.AddDate(0, 0, i).Format(time.RFC3339),
		})
	}
	made, err := o.v1(who, "POST", "/polls", map[string]any{
		"title": s.title, "timezone": "Europe/Berlin", "participant_ids": demo.Members, "group_id": o.ready.GroupID, "slots": evenings,
	})
	if err != nil {
		o.t.Fatal(err)
	}
	s.id, s.slots = fmt.Sprint(made["id"]), list(made["slots"])
	return s
}

// newSession is newPoll, finalised with an event and with its card drawn.
func newSession(o *outside, who string) *session {
	o.t.Helper()
	return newPoll(o, who).finalised(nil)
}

// finalised finalises the poll for its first slot, and awaits its card.
func (s *session) finalised(more map[string]any) *session {
	s.t.Helper()
	s.finalise(more).want(s.t, http.StatusOK)
	s.knowEvent()
	eventually(s.t, "the card of "+s.title, func() error { return s.cardShows("FINALIZED") })
	return s
}

// knowEvent reads which event the poll follows.
func (s *session) knowEvent() {
	s.t.Helper()
	poll, err := s.poll()
	if err != nil {
		s.t.Fatal(err)
	}
	s.event, _ = poll["google_event_id"].(string)
	if s.event == "" {
		s.t.Fatalf("%s follows no event: %v", s.title, poll)
	}
}

// finalise asks for the first slot.
func (s *session) finalise(more map[string]any, headers ...string) answer {
	s.t.Helper()
	body := map[string]any{"slot_id": s.slots[0]["id"]}
	maps.Copy(body, more)
	return s.ask("finalize", body, headers...)
}

// ask is a command of the creator's on the poll.
func (s *session) ask(command string, body any, headers ...string) answer {
	s.t.Helper()
	return s.do("POST", s.ready.API+"/v1/polls/"+s.id+"/"+command, "Bearer "+s.ready.Users[s.who].Token, body, headers...)
}

// poll reads the poll as its creator.
func (s *session) poll() (map[string]any, error) { return s.v1(s.who, "GET", "/polls/"+s.id, nil) }

// move sets the event to its original time plus a duration.
func (s *session) move(by time.Duration) {
	s.t.Helper()
	s.patch(times(s.start.Add(by), s.end.Add(by)))
}

// times are an event's start and end.
func times(start, end time.Time) map[string]any {
	return map[string]any{
		"start": map[string]any{"dateTime": start.Format(time.RFC3339)},
		"end":   map[string]any{"dateTime": end.Format(time.RFC3339)},
	}
}

// patch changes the event in its creator's calendar.
func (s *session) patch(change map[string]any) {
	s.t.Helper()
	s.google("PATCH", change).want(s.t, http.StatusOK)
}

// google calls Calendar v3 for the event, as its creator.
func (s *session) google(method string, body any) answer {
	s.t.Helper()
	got, err := s.eventOf(s.who, method, s.event, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

// is returns a check of the poll's fields.
func (s *session) is(fields map[string]any) func() error {
	return func() error {
		poll, err := s.poll()
		if err != nil {
			return err
		}
		return expect(poll, fields)
	}
}

// becomes waits until the poll has these fields.
func (s *session) becomes(what string, fields map[string]any) {
	s.t.Helper()
	eventually(s.t, s.title+" "+what, s.is(fields))
}

// becomesMoved waits until the poll follows a move by a duration.
func (s *session) becomesMoved(by time.Duration) {
	s.t.Helper()
	s.becomes("moves", map[string]any{
		"status": "FINALIZED", "sync.state": "RESCHEDULED", "participants_hidden": true, "winning_slot.source": "calendar",
		"winning_slot.start": s.start.Add(by).Format(time.RFC3339), "original_slot.id": s.slots[0]["id"],
	})
}

// becomesCancelled waits until the poll is cancelled because its event is gone.
func (s *session) becomesCancelled() {
	s.t.Helper()
	s.becomes("is cancelled", map[string]any{
		"status": "CANCELLED", "sync.state": "CANCELLED", "sync.cancelled.reason": "calendar_deleted", "google_event_id": nil,
		"winning_slot.id": s.slots[0]["id"],
	})
}

// words are in the Discord message of each transition.
var words = map[string]string{
	"SESSION_RESCHEDULED": "rescheduled", "SESSION_RESTORED": "restored", "SESSION_CANCELLED": "cancelled", "SESSION_ON_AGAIN": "on again",
}

// statuses are what the card shows after each transition was announced.
var statuses = map[string]string{
	"SESSION_RESCHEDULED": "RESCHEDULED", "SESSION_RESTORED": "FINALIZED", "SESSION_CANCELLED": "CANCELLED", "SESSION_ON_AGAIN": "FINALIZED",
}

// becomesAnnounced waits until a transition was announced so many times and the card,
// which is drawn last, shows it.
func (s *session) becomesAnnounced(kind string, times int) {
	s.t.Helper()
	eventually(s.t, s.title+" "+kind, func() error { return s.announcedTimes(s.who, s.title, s.id, kind, words[kind], times) })
	eventually(s.t, s.title+" "+kind+", its card", func() error { return s.cardShows(statuses[kind]) })
}

// decisions lists the commands and decisions in the poll's journal, oldest first.
func (s *session) decisions() []string {
	s.t.Helper()
	entries, err := s.journal()
	if err != nil {
		s.t.Fatal(err)
	}
	var done []string
	for i := range entries {
		entry := entries[len(entries)-1-i]
		done = append(done, fmt.Sprint(entry["command"])+fmt.Sprint(entry["decision"]))
	}
	return done
}

// wantDecisions fails if the journal has other decisions.
func (s *session) wantDecisions(want ...string) {
	s.t.Helper()
	if got := s.decisions(); !reflect.DeepEqual(got, want) {
		s.t.Errorf("the journal of %s says %v, want %v", s.title, got, want)
	}
}

func (s *session) journal() ([]map[string]any, error) {
	data, err := s.v1(s.who, "GET", "/polls/"+s.id+"/journal?limit=100", nil)
	return list(data["entries"]), err
}

// card is the poll's card in the party's channel.
func (s *session) card() (map[string]any, error) {
	messages, err := s.messages()
	if err != nil {
		return nil, err
	}
	for _, message := range messages {
		if buttons, err := json.Marshal(message["components"]); err == nil && isCardOf(s.id, string(buttons)) {
			return message, nil
		}
	}
	return nil, fmt.Errorf("%s has no card", s.title)
}

// isCardOf tells a poll's card by its button, which votes where the server answers Discord, and
// leads to the poll elsewhere.
func isCardOf(pollID, message string) bool {
	return strings.Contains(message, `"vote_btn:`+pollID+`"`) || strings.Contains(message, `?ref=card%3A`+pollID+`"`)
}

// cardShows checks the status that the card shows.
func (s *session) cardShows(status string) error {
	card, err := s.card()
	if err != nil {
		return err
	}
	for _, embed := range list(card["embeds"]) {
		for _, field := range list(embed["fields"]) {
			if field["name"] == "Status" && field["value"] == status {
				return nil
			}
		}
	}
	return fmt.Errorf("the card does not show %s: %v", status, card["embeds"])
}
