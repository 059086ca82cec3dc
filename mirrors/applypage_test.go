package mirrors_test

import (
	"maps"
	"testing"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

// applyPage has the consumer apply a page of changes at work, as far as that needs no transaction.
func (w *world) applyPage(page []gcal.Event) (applied map[string]bool, err error) {
	w.Helper()
	var observed []calendarsync.SyncedEvent
	for _, event := range page {
		observed = append(observed, calendarsync.SyncedEvent{Event: event, Writable: true})
	}
	run := calendarsync.Run{Calendar: w.calendar(work), Cause: cause}
	return mirrors.Consumer{Service: w.service}.ApplyPage(w.ctx, run, observed, false)
}

// knownPage is a long page of events that are known as they are.
func knownPage(t *testing.T) (w *world, page []gcal.Event) {
	t.Helper()
	w = newMirroringWorld(t)
	w.insertMany(work, 12)
	w.sync(work)
	w.sync(home)
	return w, w.shown(work, workMail)
}

// An event of which the page alone says all that matters is passed; any other one is applied alone.
func TestApplyPage_WhatIsKnownAsItIs_IsPassed(t *testing.T) {
	t.Parallel()
	stored := func(w *world, event gcal.Event, change func(e *mirror.Event)) {
		known, _, err := mirror.OfOrigin(w.ctx, w.memory, work, workMail, event.ID)
		w.must(err)
		change(&known)
		w.put(known)
	}
	for name, row := range map[string]struct {
		change func(w *world, event *gcal.Event)
		passed bool
	}{
		"as it is": {func(*world, *gcal.Event) {}, true},
		"changed":  {func(_ *world, event *gcal.Event) { event.Details.Summary = "Changed" }, false},
		"unknown":  {func(_ *world, event *gcal.Event) { event.ID = "unknown" }, false},
		"unknown, without an iCalUID": {func(_ *world, event *gcal.Event) {
			event.ID, event.Details.ICalUID = "unknown", ""
		}, false},
		"unknown, without details": {func(_ *world, event *gcal.Event) { event.ID, event.Details = "unknown", nil }, false},
		"deleted":                  {func(_ *world, event *gcal.Event) { event.EventState = rules.Gone }, false},
		"deleted before": {func(w *world, event *gcal.Event) {
			event.EventState = rules.Gone
			stored(w, *event, func(e *mirror.Event) { e.Status = "cancelled" })
		}, false},
		"the session of a poll": {func(w *world, event *gcal.Event) {
			stored(w, *event, func(e *mirror.Event) { e.PollID, e.Source = thePoll, mirror.SourcePoll })
		}, false},
		"known without an iCalUID": {func(w *world, event *gcal.Event) {
			event.Details.ICalUID = ""
			stored(w, *event, func(e *mirror.Event) { e.ICalUID = "" })
		}, false},
		"the event of a mirror in another calendar": {func(w *world, event *gcal.Event) {
			m := w.mirrors()[0]
			shown := w.copyOfMirror(m)
			event.ID, event.ETag, event.Private, event.Details, event.Updated = shown.ID, shown.ETag, shown.Private, shown.Details, shown.Updated
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, page := knownPage(t)
			details := *page[3].Details
			page[3].Details = &details
			row.change(w, &page[3])
			applied, err := w.applyPage(page)
			w.must(err)
			maps.DeleteFunc(applied, func(_ string, is bool) bool { return !is })
			if want := map[bool]int{true: 12, false: 11}[row.passed]; len(applied) != want || applied[page[3].ID] != row.passed {
				t.Errorf("passed are %v", applied)
			}
		})
	}
}

// Few events are applied alone, which costs less.
func TestApplyPage_OfFewEvents_LeavesThemAlone(t *testing.T) {
	t.Parallel()
	w, page := knownPage(t)
	for n, want := range map[int]int{9: 0, 10: 10} {
		applied, err := w.applyPage(page[:n])
		w.must(err)
		if len(applied) != want {
			t.Errorf("of %d events %d are passed, want %d", n, len(applied), want)
		}
	}
}

func TestApplyPage_DocumentUnread_SaysThatItFailed(t *testing.T) {
	t.Parallel()
	w, page := knownPage(t)
	page = append(page, gcal.Event{
		ID: mirror.EventPrefix + "a", EventState: rules.Present, Details: page[0].Details,
		Private: map[string]string{plan.MarkMirror: "mir_none"},
	})
	w.fallible().NoneUnread(t, 2, func() error { _, err := w.applyPage(page); return err })
}

// A first listing that is read while a mirror of one of its events is written changes that at once; what
// waits is what no calendar shows yet.
func TestFirstListing_OfAMirroredEvent_DoesNotWaitForOtherCalendars(t *testing.T) {
	t.Parallel()
	w := newMirroringWorld(t)
	w.insertMany(work, 12)
	shown := w.shown(work, workMail)[0]
	w.relist(work)
	w.must(w.clock.Advance(2 * time.Second))
	w.turn(shown, "Changed", thursday)
	o := &overtaken{Store: w.service.Store, query: "canonical events of a calendar"}
	o.then = func() {
		_, _, err := w.service.Observe(w.ctx, refTo(work), shown, false, cause)
		w.must(err)
		_, err = w.service.Outbox.Run(w.ctx, mirrors.WriteKind, w.only().ID)
		w.must(err)
	}
	w.service.Store = o
	w.requestSync(w.key(work))
	_, err := w.outbox.Run(w.ctx, calendars.SyncKind, w.key(work))
	w.must(err)
	waiting := 0
	for _, m := range w.mirrors() {
		if m.Due.After(w.clock.Now()) {
			waiting++
		}
		if m.EventID != "" && m.Due.After(w.clock.Now()) {
			t.Errorf("the mirror is due at %v", m.Due)
		}
	}
	if waiting != 11 {
		t.Errorf("%d wait", waiting)
	}
}
