package main

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"
)

// mainJob is the life of a poll in the calendar, in steps: each acts and says what must
// follow. It runs twice: in one process, and with the process killed between any two
// steps.
type mainJob struct {
	*outside
	pollID, title string
	slot          map[string]any // the chosen one
	votes         any
	event, again  string // ids of the first event, and of the second
	start, end    time.Time
}

func newMainJob(o *outside) *mainJob {
	o.t.Helper()
	job := &mainJob{outside: o, pollID: o.ready.Polls["open"]}
	poll, err := o.poll(job.pollID)
	if err != nil {
		o.t.Fatal(err)
	}
	job.title, _ = poll["title"].(string)
	job.slot, job.votes = list(poll["slots"])[1], poll["votes"]
	if len(list(job.votes)) != 3 {
		o.t.Fatalf("the open poll has votes %v, want those of three players", job.votes)
	}
	job.start, job.end = instant(o.t, job.slot["start"]), instant(o.t, job.slot["end"])
	return job
}

// step is one act, and what must be true afterwards.
type step struct {
	name string
	act  func() error
	then func() error
}

func (j *mainJob) steps() []step {
	return []step{
		{"finalise", j.finalise, j.isFinalised},
		{"move the event", func() error { return j.patchTimes(24 * time.Hour) }, j.isRescheduled},
		{"move it back", func() error { return j.patchTimes(0) }, j.isRestored},
		{"delete it", j.deleteEvent, j.isCancelled},
		{"finalise again", j.finalise, j.isFinalisedAgain},
	}
}

func (j *mainJob) finalise() error {
	_, err := j.v1("gm", "POST", "/polls/"+j.pollID+"/finalize", map[string]any{"slot_id": j.slot["id"]})
	return err
}

func (j *mainJob) patchTimes(by time.Duration) error {
	got, err := j.outside.event("PATCH", j.event, map[string]any{
		"start": map[string]any{"dateTime": j.start.Add(by).Format(time.RFC3339)},
		"end":   map[string]any{"dateTime": j.end.Add(by).Format(time.RFC3339)},
	})
	if err == nil && got.status != http.StatusOK {
		err = fmt.Errorf("patch answers %d: %v", got.status, got.body)
	}
	return err
}

func (j *mainJob) deleteEvent() error {
	got, err := j.outside.event("DELETE", j.event, nil)
	if err == nil && got.status != http.StatusNoContent {
		err = fmt.Errorf("delete answers %d: %v", got.status, got.body)
	}
	return err
}

func (j *mainJob) isFinalised() error {
	poll, err := j.poll(j.pollID)
	if err != nil {
		return err
	}
	j.event, _ = poll["google_event_id"].(string)
	if err := expect(poll, map[string]any{
		"status": "FINALIZED", "sync.state": "OK", "winning_slot.id": j.slot["id"], "participants_hidden": false,
	}); err != nil {
		return err
	}
	return j.onlyEvent(j.event)
}

// onlyEvent checks that there is one event of the poll, with the right times.
func (j *mainJob) onlyEvent(id string) error {
	events := j.events(j.title)
	if len(events) != 1 || events[0]["id"] != id {
		return fmt.Errorf("the calendar holds %d events of the poll, want one, %s: %v", len(events), id, events)
	}
	start, end := instant(j.t, at(events[0], "start", "dateTime")), instant(j.t, at(events[0], "end", "dateTime"))
	if !start.Equal(j.start) || !end.Equal(j.end) {
		return fmt.Errorf("the event is from %v to %v, want %v to %v", start, end, j.start, j.end)
	}
	return nil
}

func (j *mainJob) isRescheduled() error {
	poll, err := j.poll(j.pollID)
	if err != nil {
		return err
	}
	if err := expect(poll, map[string]any{
		"status": "FINALIZED", "sync.state": "RESCHEDULED", "participants_hidden": true,
		"winning_slot.source": "calendar", "winning_slot.start": j.start.Add(24 * time.Hour).Format(time.RFC3339),
		"original_slot.id": j.slot["id"],
	}); err != nil {
		return err
	}
	return j.announcedOnce(j.title, j.pollID, "SESSION_RESCHEDULED", "rescheduled")
}

func (j *mainJob) isRestored() error {
	poll, err := j.poll(j.pollID)
	if err != nil {
		return err
	}
	if err := expect(poll, map[string]any{
		"status": "FINALIZED", "sync.state": "OK", "participants_hidden": false,
		"winning_slot.id": j.slot["id"], "original_slot": nil,
	}); err != nil {
		return err
	}
	if !reflect.DeepEqual(poll["votes"], j.votes) {
		return fmt.Errorf("the votes are %v, were %v", poll["votes"], j.votes)
	}
	for _, slot := range list(poll["slots"]) {
		if slot["source"] == "calendar" {
			return fmt.Errorf("a calendar slot is left: %v", slot)
		}
	}
	return j.announcedOnce(j.title, j.pollID, "SESSION_RESTORED", "restored")
}

func (j *mainJob) isCancelled() error {
	poll, err := j.poll(j.pollID)
	if err != nil {
		return err
	}
	if err := expect(poll, map[string]any{
		"status": "CANCELLED", "sync.state": "CANCELLED", "sync.cancelled.reason": "calendar_deleted",
		"google_event_id": nil, "winning_slot.id": j.slot["id"],
	}); err != nil {
		return err
	}
	return j.announcedOnce(j.title, j.pollID, "SESSION_CANCELLED", "cancelled")
}

func (j *mainJob) isFinalisedAgain() error {
	poll, err := j.poll(j.pollID)
	if err != nil {
		return err
	}
	j.again, _ = poll["google_event_id"].(string)
	if err := expect(poll, map[string]any{"status": "FINALIZED", "sync.state": "OK", "sync.cancelled": nil}); err != nil {
		return err
	}
	if j.again == j.event {
		return fmt.Errorf("the new event has the id of the deleted one")
	}
	return j.onlyEvent(j.again)
}

// expect compares fields of an answer; a dotted name walks into objects.
func expect(got map[string]any, want map[string]any) error {
	for name, value := range want {
		if found := at(got, split(name)...); !reflect.DeepEqual(found, value) {
			return fmt.Errorf("%s is %v, want %v", name, found, value)
		}
	}
	return nil
}

func TestMainJob(t *testing.T) {
	t.Parallel()
	walk(t, newMainJob(&outside{t, startDemo(t, dataDir(t))}))
}

// walk runs every step and waits for its effect.
func walk(t *testing.T, job *mainJob) {
	t.Helper()
	for _, step := range job.steps() {
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		eventually(t, step.name, step.then)
	}
}
