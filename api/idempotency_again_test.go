package api_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/fault"
	"questscheduler/internal/store"
)

// gate lets the first event wait to be made until it is opened.
type gate struct {
	reached, open chan struct{}
}

func (w *world) gate() *gate {
	g := &gate{make(chan struct{}), make(chan struct{})}
	w.calendar.onInsert = func(ctx context.Context, before int) error {
		if before > 0 {
			return nil
		}
		close(g.reached)
		select {
		case <-g.open:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return g
}

// later sends a call and gives its answer when it comes.
func (w *world) later(c call) <-chan answer {
	answers := make(chan answer, 1)
	w.sendInto(answers, c)
	return answers
}

// sendInto sends a call, and its answer into a channel when it comes: an empty
// one where it could not be sent.
func (w *world) sendInto(answers chan<- answer, c call) {
	go func() {
		var got answer
		defer func() { answers <- got }()
		got = w.send(c)
	}()
}

func TestKey_OfSixRequestsAtOnce_MakesOneEvent(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	waiting, goOn := make(chan struct{}, 100), make(chan struct{})
	w := newWorld(t, clock.on, func(s *setup) {
		s.Wait = func(ctx context.Context, _ time.Duration) error {
			waiting <- struct{}{}
			select {
			case <-goOn:
			case <-ctx.Done():
			}
			return ctx.Err()
		}
	})
	made, gate := w.newPoll(nil), w.gate()
	answers := make(chan answer, 6)
	for range 6 {
		w.sendInto(answers, keyed("k1", finaliseCall(made)))
	}
	<-gate.reached
	for range 5 {
		<-waiting
	}
	close(gate.open)
	data := func(got answer) string { return got.text[:strings.LastIndex(got.text, `"meta"`)] }
	first := <-answers
	close(goOn)
	for range 5 {
		got := <-answers
		if got.status != 200 || data(got) != data(first) || !strings.Contains(got.text, "FINALIZED") {
			t.Errorf("answered %d %s, the first %s", got.status, got.text, first.text)
		}
	}
	if w.calendar.made() != 1 {
		t.Errorf("%d events", w.calendar.made())
	}
}

func TestKey_FirstRequestStillRuns_IsUnavailable(t *testing.T) {
	t.Parallel()
	var waits []time.Duration
	var waited time.Duration
	w := newWorld(t, newStillClock().on, func(s *setup) {
		s.Wait = func(_ context.Context, d time.Duration) error {
			waits, waited = append(waits, d), waited+d
			return nil
		}
	})
	made, gate := w.newPoll(nil), w.gate()
	first := w.later(keyed("k1", finaliseCall(made)))
	<-gate.reached
	got := w.want(503, keyed("k1", finaliseCall(made)), nil)
	if got.Error.Code != "UNAVAILABLE" || got.header.Get("Retry-After") == "" {
		t.Errorf("answered %s with %v", got.text, got.header)
	}
	if waited != 10*time.Second || waits[0] != 50*time.Millisecond || len(waits) > 20 {
		t.Errorf("it waits for %v, by %v", waited, waits)
	}
	close(gate.open)
	if got := <-first; got.status != 200 {
		t.Errorf("the first is answered %s", got.text)
	}
	w.want(200, keyed("k1", finaliseCall(made)), nil)
}

func TestKey_FirstRequestDied_RunsAgain(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	made, gate := w.newPoll(nil), w.gate()
	first := w.later(keyed("k1", finaliseCall(made)))
	<-gate.reached
	clock.advance(75*time.Second - time.Microsecond)
	w.want(503, keyed("k1", finaliseCall(made)), nil)
	clock.advance(time.Microsecond)
	second := w.want(200, keyed("k1", finaliseCall(made)), nil)

	// It was not dead after all: what it comes to now is not kept.
	w.want(200, call{as: "gm", method: "PATCH", path: "/v1/polls/" + made.ID, body: map[string]any{"title": "New"}}, nil)
	close(gate.open)
	<-first
	third := w.want(200, keyed("k1", finaliseCall(made)), nil)
	if string(second.Data) != string(third.Data) || w.calendar.made() != 1 {
		t.Errorf("answered %s, then %s; %d events", second.Data, third.Data, w.calendar.made())
	}
}

// TestKey_RequestTakesTooLong_IsCutOff: before its lease ends, and another
// request with the key may run beside it.
func TestKey_RequestTakesTooLong_IsCutOff(t *testing.T) {
	t.Parallel()
	for name, claiming := range map[string]time.Duration{
		"the command": 65*time.Second - time.Millisecond, // a millisecond is left
		"the claim":   65 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := newStillClock()
			w := newWorld(t, clock.on)
			made := w.newPoll(nil)
			w.store.refuse = func(path store.Path, _ map[string]any) error {
				if path.Collection() == "idempotencyKeys" {
					w.store.refuse = nil
					clock.advance(claiming)
				}
				return nil
			}
			w.calendar.onInsert = func(ctx context.Context, _ int) error {
				select {
				case <-ctx.Done():
				case <-time.After(10 * time.Second):
					t.Error("the command is not cut off")
				}
				return fault.New(fault.Unavailable, "no answer")
			}
			late := w.want(503, keyed("k1", finaliseCall(made)), nil)
			if name == "the claim" && w.calendar.asked != 0 {
				t.Error("it began all the same")
			}
			if late.header.Get("Retry-After") == "" {
				t.Errorf("answered %v without saying when to come again", late.header)
			}
			w.calendar.onInsert = nil
			w.want(200, keyed("k1", finaliseCall(made)), nil)
			if w.calendar.made() != 1 {
				t.Errorf("%d events", w.calendar.made())
			}
		})
	}
}

// A store that does not answer holds up no answer.
func TestKey_AnswerIsBeingKept_EndsInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, kept := w.newPoll(nil), 0
	w.store.setting = func(ctx context.Context, path store.Path, data map[string]any) {
		if path.Collection() != "idempotencyKeys" || data["holder"] != "" {
			return
		}
		kept++
		if deadline, has := ctx.Deadline(); !has || time.Until(deadline) > 5*time.Second {
			t.Errorf("it may go on until %v (%v)", deadline, has)
		}
	}
	w.want(200, keyed("k1", finaliseCall(made)), nil)
	if kept != 1 {
		t.Errorf("it was kept %d times", kept)
	}
}

func TestKey_OfAProcessThatIsGone_RunsAgain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		alone  bool
		status int
	}{"the only one": {true, 200}, "one of several": {false, 503}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, newStillClock().on, func(s *setup) { s.SingleProcess = row.alone })
			made, gate := w.newPoll(nil), w.gate()
			first := w.later(keyed("k1", finaliseCall(made)))
			<-gate.reached
			old := w.url
			w.url = w.serve(api.New(w.options)).URL
			w.want(row.status, keyed("k1", finaliseCall(made)), nil)
			w.url = old
			close(gate.open)
			<-first
			if w.calendar.made() != 1 {
				t.Errorf("%d events", w.calendar.made())
			}
		})
	}
}

// TestKey_AnswerNotStored_MakesNoSecondPoll: the program ends between the
// making of a poll and the keeping of the answer.
func TestKey_AnswerNotStored_MakesNoSecondPoll(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	w.store.refuse = func(path store.Path, data map[string]any) error {
		if path.Collection() == "idempotencyKeys" && data["holder"] == "" {
			return fault.Wrap(fault.Unavailable, errors.New("gone"), "The store is gone.")
		}
		return nil
	}
	var first, second pollJSON
	w.want(201, keyed("k1", createCall(session)), &first)
	if !logged(w, "the answer to an idempotency key is not kept") {
		t.Error("the log does not say so")
	}
	w.store.refuse = nil
	clock.advance(75 * time.Second)
	w.want(201, keyed("k1", createCall(session)), &second)
	if first.ID != second.ID || !slices.Equal(first.Slots, second.Slots) || len(w.mine("gm")) != 1 {
		t.Errorf("made %+v, then %+v", first, second)
	}
}

// TestKey_FinalisedByTheDrain_MakesNoSecondEvent: the first request
// gave up, and its insert was carried out all the same.
func TestKey_FinalisedByTheDrain_MakesNoSecondEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newPoll(nil)
	w.calendar.onInsert = func(context.Context, int) error { return fault.New(fault.Unavailable, "no answer") }
	w.want(503, keyed("k1", finaliseCall(made)), nil)
	w.calendar.onInsert = nil
	finalised := w.finalise(made) // as the drain does, under the same intent
	again := w.want(200, keyed("k1", finaliseCall(made)), nil)
	if !strings.Contains(string(again.Data), *finalised.GoogleEventID) || w.calendar.made() != 1 {
		t.Errorf("answered %s; %d events", again.Data, w.calendar.made())
	}
	w.want(200, keyed("k2", finaliseCall(made)), nil) // who means it finalises anew
	if w.calendar.made() != 2 {
		t.Errorf("%d events", w.calendar.made())
	}
}
