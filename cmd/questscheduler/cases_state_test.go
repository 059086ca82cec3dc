package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// story is all that anybody can see of a session: the poll as it is answered,
// its journal, everybody's notices about it, and what the party's channel says
// of it, the card included. The one field that is left out is the calendar's
// and no matter of the poll: when it was last looked at.
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
	seen := map[string]any{"poll": poll, "journal": journal}
	for _, who := range party {
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
		seen["notices of "+who] = notices
	}
	messages, err := s.messages()
	if err != nil {
		return "", err
	}
	seen["messages"] = slices.DeleteFunc(messages, func(message map[string]any) bool {
		text, err := json.Marshal(message)
		return err == nil && !strings.Contains(string(text), s.title) && !strings.Contains(string(text), s.id)
	})
	for _, message := range messages {
		// A card is drawn when the state changes that goes with it, be it that it
		// shows the same: that may still be under way.
		delete(message, "edited_timestamp")
	}
	text, err := json.MarshalIndent(seen, "", "  ")
	return string(text), err
}

// tell is story for a test that cannot go on without.
func (s *session) state() string {
	s.t.Helper()
	told, err := s.readState()
	if err != nil {
		s.t.Fatal(err)
	}
	return told
}

// wantStory fails where anything of a session is not as it was.
func (s *session) wantState(before, when string) {
	s.t.Helper()
	if after := s.state(); after != before {
		s.t.Errorf("%s: %s is not as it was:\n%s", when, s.title, differing(before, after))
	}
}

// differing are the lines that one text has and the other has not.
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

// unchangedBy has something done that must change nothing. Nothing is waited
// for but a later change in the same calendar, which is seen to arrive and to be
// announced: what came before it has arrived by then.
func (s *session) unchangedBy(act func()) {
	s.t.Helper()
	witness := newSession(s.outside, s.who)
	before := s.state()
	act()
	witness.witnesses()
	s.wantState(before, fmt.Sprintf("after a later change in the calendar of %s was seen", s.who))
}

// witnesses has the session moved, which is seen to arrive and to be announced.
func (s *session) witnesses() {
	s.t.Helper()
	s.move(time.Hour)
	s.becomesMoved(time.Hour)
	s.becomesAnnounced("SESSION_RESCHEDULED", 1)
	eventually(s.t, "the card of the witness", func() error { return s.cardShows("RESCHEDULED") })
}
