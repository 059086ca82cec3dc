package mirrors_test

import (
	"context"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/gcal"
	"questscheduler/mirrors"
)

// events serves the routes over the world's documents and calendars.
func (w *world) events() *mirrors.Events {
	return &mirrors.Events{
		Google: w.client, Service: w.service,
		Accounts: accounts.New(accounts.Options{Store: w.counter, Now: w.clock.Now}),
	}
}

const team = "team@group.calendar.google.com" // a calendar of ana's

// meddling is Google with another's doings beside the next call.
type meddling struct {
	mirrors.EventGoogle
	afterGet, afterInsert func()
	// lost has the answer to inserts lost.
	lost bool
}

func (m *meddling) Get(ctx context.Context, ref gcal.Ref, id string) (gcal.Event, error) {
	event, err := m.EventGoogle.Get(ctx, ref, id)
	m.run(&m.afterGet)
	return event, err
}

func (m *meddling) InsertContent(
	ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string,
) (gcal.Event, error) {
	event, err := m.EventGoogle.InsertContent(ctx, ref, id, content, private)
	m.run(&m.afterInsert)
	if m.lost {
		return gcal.Event{}, fault.New(fault.Unavailable, "it did not answer")
	}
	return event, err
}

func (m *meddling) run(do *func()) {
	if run := *do; run != nil {
		*do = nil
		run()
	}
}

// dentist is an event of an hour at work, on a Thursday.
func dentist(change ...func(e *mirrors.NewEvent)) mirrors.NewEvent {
	asked := mirrors.NewEvent{
		AccountID: work, Title: "Dentist", Description: "Bring the card", Location: "Zurich",
		Start: at(thursday).Time, End: at(thursday).Time.Add(time.Hour), TimeZone: "Europe/Zurich", Transparency: "opaque", Visibility: "default",
	}
	for _, do := range change {
		do(&asked)
	}
	return asked
}

// create makes an event as a route does; the sync that follows must find nothing to do.
func (w *world) create(asked mirrors.NewEvent) mirrors.Shown {
	w.Helper()
	w.names++
	made, err := w.events().Create(w.ctx, gm, w.newID(), asked, cause)
	w.must(err)
	w.settle()
	w.wantFollowedBySilence(gcal.Ref{Account: made.AccountID, Calendar: made.CalendarID})
	return made
}

// alter changes an event, and the same for it.
func (w *world) alter(id string, change mirrors.Change) mirrors.Shown {
	w.Helper()
	changed, err := w.events().Change(w.ctx, gm, id, change, cause)
	w.must(err)
	w.settle()
	w.wantFollowedBySilence(gcal.Ref{Account: changed.AccountID, Calendar: changed.CalendarID})
	return changed
}

// wantFollowedBySilence syncs a calendar, which must change nothing that is kept.
func (w *world) wantFollowedBySilence(ref gcal.Ref) {
	w.Helper()
	before := w.state()
	w.must(w.queueSyncOf(ref))
	w.settle()
	if after := w.state(); after != before {
		w.Errorf("the sync after it has something to do:\n%s\nand before:\n%s", after, before)
	}
}

func (w *world) atGoogle(shown mirrors.Shown) gcal.Event {
	w.Helper()
	event, err := w.full.Get(w.ctx, gcal.Ref{Account: shown.AccountID, Calendar: shown.CalendarID}, shown.EventID)
	w.must(err)
	return event
}

func wantFault(t *testing.T, what string, err error, kind fault.Kind, code string) {
	t.Helper()
	if !fault.Is(err, kind) || fault.CodeOf(err) != code {
		t.Errorf("%s: %v, kind %s, code %q; want %s, %q", what, err, fault.KindOf(err), fault.CodeOf(err), kind, code)
	}
	if fault.MessageOf(err, "") == "" {
		t.Errorf("%s: it says nothing to a person", what)
	}
}

func contentOf(event gcal.Event) gcal.Content {
	d := event.Details
	return gcal.Content{
		Summary: d.Summary, Description: d.Description, Location: d.Location, Start: d.Start, End: d.End,
		Recurrence: d.Recurrence, Transparency: d.Transparency, Visibility: d.Visibility,
	}
}
