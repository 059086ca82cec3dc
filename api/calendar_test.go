package api_test

import (
	"context"
	"sync"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// calendar is gm's calendar, as far as the routes need one. How the real one
// behaves is for the tests of the packages that speak to it.
type calendar struct {
	mu     sync.Mutex
	events map[string]scheduler.CalendarEvent
	// inserted counts the events that were made.
	inserted int
	// onInsert is called before an event is made, with how many were asked for
	// before; nil: nothing.
	onInsert func(ctx context.Context, before int) error
	asked    int
}

func newCalendar() *calendar { return &calendar{events: map[string]scheduler.CalendarEvent{}} }

// Insert implements scheduler.Calendar.
func (c *calendar) Insert(ctx context.Context, intent poll.Intent) (scheduler.CalendarEvent, error) {
	c.mu.Lock()
	before, hook := c.asked, c.onInsert
	c.asked++
	c.mu.Unlock()
	if hook != nil {
		if err := hook(ctx, before); err != nil {
			return scheduler.CalendarEvent{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.events[intent.EventID]; taken {
		return scheduler.CalendarEvent{}, &fault.Error{Kind: fault.Conflict, Code: scheduler.CodeTaken, Message: "taken"}
	}
	c.inserted++
	event := scheduler.CalendarEvent{
		ID: intent.EventID, Version: "1", EventState: rules.Present, Fingerprint: intent.Session.Fingerprint(), Updated: begin,
		Poll: intent.PollID, Generation: intent.Generation,
	}
	c.events[intent.EventID] = event
	return event, nil
}

// Get implements scheduler.Calendar.
func (c *calendar) Get(_ context.Context, _, _, eventID string) (scheduler.CalendarEvent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	event, there := c.events[eventID]
	if !there {
		return scheduler.CalendarEvent{}, fault.New(fault.NotFound, "no such event")
	}
	return event, nil
}

// Move implements scheduler.Calendar.
func (c *calendar) Move(
	_ context.Context, _ poll.Place, event scheduler.CalendarEvent, to rules.Fingerprint, _ string,
) (scheduler.CalendarEvent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	event.Fingerprint, event.Updated = to, event.Updated.Add(time.Second)
	c.events[event.ID] = event
	return event, nil
}

// Delete implements scheduler.Calendar.
func (c *calendar) Delete(_ context.Context, _, _, eventID string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, there := c.events[eventID]
	delete(c.events, eventID)
	return there, nil
}

// Find implements scheduler.Calendar: there is one calendar.
func (c *calendar) Find(context.Context, scheduler.Missing) (*scheduler.Found, error) {
	return nil, nil
}

// MayFollow implements scheduler.Calendar.
func (c *calendar) MayFollow(context.Context, string, string) (bool, error) { return true, nil }

// Ensure implements scheduler.Watches.
func (c *calendar) Ensure(context.Context, string, string) error { return nil }

// made is how many events were made.
func (c *calendar) made() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inserted
}

// moveEvent moves the event of a poll in the calendar and has the scheduler
// apply it, as a sync does.
func (w *world) moveEvent(p pollJSON, to rules.Fingerprint) {
	w.t.Helper()
	event, err := w.calendar.Get(w.t.Context(), "", "", *p.GoogleEventID)
	must(w.t, err)
	event, err = w.calendar.Move(w.t.Context(), poll.Place{}, event, to, "")
	must(w.t, err)
	_, err = w.options.Scheduler.Apply(w.t.Context(), scheduler.ObservedEvent{
		AccountID: "acc_gm", CalendarID: "gm@example.com", EventID: event.ID, EventState: event.EventState,
		Fingerprint: event.Fingerprint, Updated: event.Updated, Own: true, Cause: scheduler.Cause{Trigger: "push"},
	})
	must(w.t, err)
}
