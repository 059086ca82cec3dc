package main

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"
)

// TestFinalise_SixAtOnceWithOneKey_MakeOneEvent: all six get the same answer. The key
// with another request is refused and changes nothing.
func TestFinalise_SixAtOnceWithOneKey_MakeOneEvent(t *testing.T) {
	t.Parallel()
	o := startCases(t)
	s := newPoll(o, "gm")
	key := []string{"Idempotency-Key", "six-at-once"}
	inserts := o.calls("events.insert")
	answers := make([]answer, 6)
	var asks []func()
	for i := range answers {
		asks = append(asks, func() {
			eventually(t, "an answer", func() error { // a request that waits too long for the first gets 503: try again
				answers[i] = s.finalise(nil, key...)
				if answers[i].status == http.StatusServiceUnavailable {
					return fmt.Errorf("%v", answers[i])
				}
				return nil
			})
		})
	}
	atOnce(asks...)
	for _, got := range answers {
		got.want(t, http.StatusOK)
		if !reflect.DeepEqual(got.body["data"], answers[0].body["data"]) {
			t.Errorf("the answers differ:\n%v\n%v", got.body["data"], answers[0].body["data"])
		}
	}
	s.knowEvent()
	s.wantOneEvent()
	if got := o.calls("events.insert") - inserts; got != 1 {
		t.Errorf("Google was asked for %d events, want one", got)
	}
	s.wantDecisions("finalise")
	eventually(t, "the card", func() error { return s.cardShows("FINALIZED") })

	before := s.state()
	s.finalise(map[string]any{"title": "Another body"}, key...).want(t, http.StatusConflict)
	if again := s.finalise(nil, key...).want(t, http.StatusOK); !reflect.DeepEqual(again.body["data"], answers[0].body["data"]) {
		t.Errorf("the same request gets another answer later: %v", again.body["data"])
	}
	s.unchangedBy(func() {})
	s.wantState(before, "after the key was used for something else")
}

// TestFinalise_SixAtOnceWithoutAKey_LeaveOneEvent: each is a separate command. The last
// one wins, and the events of the others are deleted.
func TestFinalise_SixAtOnceWithoutAKey_LeaveOneEvent(t *testing.T) {
	t.Parallel()
	s := newPoll(startCases(t), "gm")
	var asks []func()
	for range 6 {
		asks = append(asks, func() {
			if got := s.finalise(nil); got.status != http.StatusOK && got.status != http.StatusConflict {
				t.Errorf("a finalisation answers %d: %v", got.status, got.body)
			}
		})
	}
	atOnce(asks...)
	s.becomes("is finalised", map[string]any{"status": "FINALIZED", "sync.state": "OK"})
	s.knowEvent()
	eventually(t, "one event", s.hasOneEvent)
	s.unchangedBy(func() {})
	s.wantOneEvent()
}
