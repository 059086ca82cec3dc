package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"questscheduler/demo"
)

// readState reads all that users can see of a session: the poll, its journal, the
// members' notices about it, and its messages and card in the party's channel. It
// leaves out when the calendar was last synced, which is not part of the poll.
func (s *session) readState() (string, error) {
	poll, err := s.poll()
	if err != nil {
		return "", err
	}
	if sync, ok := poll["sync"].(map[string]any); ok {
		delete(sync, "last_synced_at")
	}
	journal, err := s.journal()
	if err != nil {
		return "", err
	}
	visible := map[string]any{"poll": poll, "journal": journal}
	for _, who := range demo.Members {
		data, err := s.v1(who, "GET", "/notifications?limit=100", nil)
		if err != nil {
			return "", err
		}
		notices := []any{}
		for _, notice := range list(data["notifications"]) {
			if at(notice, "resource", "id") == s.id {
				notices = append(notices, notice)
			}
		}
		visible["notices of "+who] = notices
	}
	messages, err := s.messages()
	if err != nil {
		return "", err
	}
	visible["messages"] = slices.DeleteFunc(messages, func(message map[string]any) bool {
		text, err := json.Marshal(message)
		return err == nil && !strings.Contains(string(text), s.title) && !strings.Contains(string(text), s.id)
	})
	for _, message := range messages {
		// A state change redraws the card even if it shows the same. That may still be
		// in progress.
		delete(message, "edited_timestamp")
	}
	text, err := json.MarshalIndent(visible, "", "  ")
	return string(text), err
}

// state is readState; an error ends the test.
func (s *session) state() string {
	s.t.Helper()
	visible, err := s.readState()
	if err != nil {
		s.t.Fatal(err)
	}
	return visible
}

// wantState fails if anything users can see of a session changed.
func (s *session) wantState(before, when string) {
	s.t.Helper()
	if after := s.state(); after != before {
		s.t.Errorf("%s: %s is not as it was:\n%s", when, s.title, differing(before, after))
	}
}

// differing lists the lines that only one of the texts has.
func differing(before, after string) string {
	var lines []string
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			lines = append(lines, "+ "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// unchangedBy runs something that must change nothing. It then waits until a later
// change in the same calendar is announced: by then everything before it was synced.
func (s *session) unchangedBy(act func()) {
	s.t.Helper()
	witness := newSession(s.outside, s.who)
	before := s.state()
	act()
	witness.witnesses()
	s.wantState(before, fmt.Sprintf("after a later change in the calendar of %s was announced", s.who))
}

// witnesses moves the session and waits until that is announced.
func (s *session) witnesses() {
	s.t.Helper()
	s.move(time.Hour)
	s.becomesMoved(time.Hour)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
	eventually(s.t, "the card of the witness", func() error { return s.cardShows("RESCHEDULED") })
}
