package explain_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/internal/poll"
	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/explain"
	"questscheduler/scheduler"
)

// act is something that people do to a poll or, where ofEvent is set, to its
// event. What is refused is refused: the journal has to give back the poll all
// the same.
type act struct {
	name    string
	ofEvent bool
	do      func(w *worldtest.World, pollID, eventID string)
}

var acts = []act{
	{"move", true, move(worldtest.Noon)},
	{"move elsewhere", true, move(worldtest.Three)},
	{"move back", true, move(worldtest.Ten)},
	{"make it a series", true, recurring("RRULE:FREQ=WEEKLY")},
	{"make it single", true, recurring()},
	{"delete the event", true, func(w *worldtest.World, _, event string) { w.DeleteEvent("gm", event) }},
	{"give it to another calendar", true, func(w *worldtest.World, _, event string) { w.MoveAway("gm", event, worldtest.Club) }},
	{"give it back", false, func(w *worldtest.World, _, event string) {
		if event != "" && w.EventOf(worldtest.Club, event).Live() {
			w.MoveAway(worldtest.Club, event, "gm")
		}
	}},
	{"cancel", false, func(w *worldtest.World, poll, _ string) { _, _ = w.Cancel(poll) }},
	{"cancel and keep", false, func(w *worldtest.World, poll, _ string) {
		_, _ = w.Scheduler.Cancel(w.Context(), gm, poll, true, worldtest.Cause)
	}},
	{"reopen", false, func(w *worldtest.World, poll, _ string) {
		_, _ = w.Scheduler.Reopen(w.Context(), gm, poll, true, worldtest.Cause)
	}},
	{"archive", false, func(w *worldtest.World, poll, _ string) {
		_, _ = w.Scheduler.Archive(w.Context(), gm, poll, worldtest.Cause)
	}},
	{"unarchive", false, func(w *worldtest.World, poll, _ string) {
		_, _ = w.Scheduler.Unarchive(w.Context(), gm, poll, worldtest.Cause)
	}},
	{"restore", false, func(w *worldtest.World, poll, _ string) {
		_, _ = w.Scheduler.RestoreOriginal(w.Context(), gm, poll, worldtest.Cause)
	}},
	{"accept", false, func(w *worldtest.World, poll, _ string) {
		shown := w.View(poll).Poll.Sync.Applied.String()
		_, _ = w.Scheduler.AcceptNew(w.Context(), gm, poll, shown, worldtest.Cause)
	}},
	{"finalise", false, finalise(scheduler.Finalise{CreateEvent: true})},
	{"finalise a short event", false, finalise(scheduler.Finalise{CreateEvent: true, Duration: 30 * time.Minute})},
	{"finalise without event", false, finalise(scheduler.Finalise{})},
	{"revoke", false, func(w *worldtest.World, _, _ string) { w.Revoke("gm") }},
	{"link again", false, func(w *worldtest.World, _, _ string) { w.Link("gm"); w.Sweep() }},
	{"cancel in the documents", false, edit("CANCELLED")},
	{"reopen in the documents", false, edit("OPEN")},
	{"restore in the documents", false, edit("FINALIZED")},
	{"archive in the documents", false, edit("ARCHIVED")},
	{"sweep", false, func(w *worldtest.World, _, _ string) { w.Sweep() }},
	{"time goes by", false, func(w *worldtest.World, _, _ string) { w.Skip(3 * 24 * time.Hour) }},
}

var gm = worldtest.Person("gm")

func move(to worldtest.Slot) func(w *worldtest.World, _, event string) {
	return func(w *worldtest.World, _, event string) { w.MoveEvent("gm", event, to) }
}

func recurring(rules ...string) func(w *worldtest.World, _, event string) {
	return func(w *worldtest.World, _, event string) {
		w.PatchEvent("gm", event, map[string]any{"recurrence": append([]string{}, rules...)})
	}
}

// edit writes a status into the poll's document, as the web app does, and repairs it.
func edit(status string) func(w *worldtest.World, pollID, _ string) {
	return func(w *worldtest.World, pollID, _ string) {
		w.Edit(poll.Path(pollID), poll.Set("status", status))
		_, _ = w.Scheduler.Reconcile(w.Context(), pollID, worldtest.Cause)
	}
}

// finalise finalises for the poll's first slot.
func finalise(ask scheduler.Finalise) func(w *worldtest.World, pollID, _ string) {
	return func(w *worldtest.World, pollID, _ string) {
		ask.SlotID = w.View(pollID).Slots[0].ID
		_, _ = w.FinaliseAs(pollID, ask)
	}
}

// TestJudge_WhateverHappens_TheJournalGivesBackThePoll has real polls go
// through anything, in any order.
func TestJudge_WhateverHappens_TheJournalGivesBackThePoll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := worldtest.New(t, worldtest.Options{})
		pollID, _, _ := w.Finalised()
		for range rapid.IntRange(1, 10).Draw(t, "acts") {
			next := rapid.SampledFrom(acts).Draw(t, "act")
			judged(t, w, pollID, next, rapid.Bool().Draw(t, "wait"))
		}
	})
}

// TestJudge_AWarningAboutAnEventThatWasLinkedAgain_Stays has a poll warned of a series
// whose state is OK, as nothing was known of its times yet: a later edit of the poll
// alone must not be read as one that named another event.
func TestJudge_AWarningAboutAnEventThatWasLinkedAgain_Stays(t *testing.T) {
	t.Parallel()
	w := worldtest.New(t, worldtest.Options{})
	pollID, _, _ := w.Finalised()
	for _, name := range []string{
		"make it a series", "reopen in the documents", "restore in the documents", "link again", "archive in the documents",
	} {
		next := slices.IndexFunc(acts, func(a act) bool { return a.name == name })
		judged(t, w, pollID, acts[next], true)
	}
}

// judged does something to a poll, and fails the test if its journal does not give back
// the poll then.
func judged(t worldtest.TB, w *worldtest.World, pollID string, next act, wait bool) {
	event := w.View(pollID).Poll.GoogleEventID
	if next.ofEvent && (event == "" || !w.EventOf("gm", event).Live()) {
		return
	}
	next.do(w, pollID, event)
	if wait {
		w.Run(2 * time.Minute)
	}
	history, err := explain.Load(w.Context(), w.Documents, pollID)
	if err != nil {
		t.Fatalf("load the history: %v", err)
	}
	if verdict := explain.Judge(history); !verdict.Agrees {
		t.Fatalf("after %q: %+v\n%+v", next.name, verdict, history.Entries)
	}
}
