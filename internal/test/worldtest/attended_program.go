package worldtest

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// refreshEvery is the period of the job that loads the mappings.
const refreshEvery = 5 * time.Minute

// attending reports whether the program invites second addresses.
func (w *World) attending() bool { return w.options.Attended && !w.options.AttendeesOff }

// wireAttendees makes the program's parts of second addresses, as in production.
func (w *World) wireAttendees(p *Program, documents store.Store, client *gcal.Client, now func() time.Time, log *slog.Logger) {
	if !w.attending() {
		return
	}
	p.Mappings = &mappings.Service{
		Store: documents, Source: &sheetPort{w}, Domains: []string{Domain}, Accounts: p.Accounts,
		Delegated: w.options.Delegated, Follow: p.Watcher.Follow, Now: now, Log: log,
	}
	p.Attendees = &attendees.Service{
		Store: documents, Outbox: p.Outbox, Google: &googlePort{client: client.Within(mirrorShare), ports: &w.ports}, Mappings: p.Mappings,
		Accounts: p.Accounts, Notify: "none", Mode: w.syncMode, Now: now, Log: log,
	}
	p.Mappings.Guests = p.Attendees
	p.Outbox.Add(p.Attendees.Work())
	p.Syncer.Consumers = append([]calendarsync.Consumer{attendees.Consumer{Service: p.Attendees}}, p.Syncer.Consumers...)
}

// syncMode is that of work that changes calendars.
func (w *World) syncMode() outbox.Mode {
	if w.observing {
		return outbox.Observes
	}
	return outbox.Works
}

// tickAttendees runs the job that loads the mappings when its time has come.
func (w *World) tickAttendees() {
	if w.Attendees == nil {
		return
	}
	if w.Clock.Now().Truncate(refreshEvery).Equal(w.Clock.Now()) {
		if err := w.refreshMappings(false, scheduler.Cause{Trigger: "timer", Trace: "timer"}); err != nil {
			w.Verdicts = append(w.Verdicts, fmt.Sprintf("refresh of mappings: %v", err))
		}
	}
}

// refreshMappings runs the job that loads the mappings, step by step. By hand it revives
// accounts that Google refused.
func (w *World) refreshMappings(byHand bool, cause scheduler.Cause) error {
	defer w.loads()()
	for at := ""; ; {
		_, next, err := w.Mappings.Refresh(w.ctx, cause, at, byHand)
		if err != nil || next == "" {
			return err
		}
		at = next
	}
}

// ReloadMappings loads the mappings, as the operator asks for.
func (w *World) ReloadMappings(confirm string) error {
	for _, problem := range w.MappingProblems() { // of what was loaded before
		w.wrong("%s", problem)
	}
	defer w.loads()()
	w.mapped.confirming = confirm
	defer func() { w.mapped.confirming = "" }()
	_, err := w.Mappings.Reload(w.ctx, Cause, confirm)
	return err
}

// GuestPatches is how often the program changed the guests of events, without those of
// organizers that have second addresses: their mappings may have come or gone since.
func (w *World) GuestPatches() int { return w.guestbooks.patches }

// GuestCalls is how often the program asked Google to change the guests of an event.
func (w *World) GuestCalls() int { return w.guestbooks.asked }

// AwaitAttendees lets the time pass after which the writer takes up what it put off, and
// says whether there was anything.
func (w *World) AwaitAttendees() (waited bool) {
	w.t.Helper()
	var latest time.Time
	for _, record := range w.AttendeeRecords() {
		if record.Due.After(latest) {
			latest = record.Due
		}
	}
	if latest.IsZero() {
		return false
	}
	w.advance(max(0, latest.Sub(w.Clock.Now())))
	w.Run(3 * time.Minute)
	return true
}

// OffProblems is what a program did that has second addresses off.
func (w *World) OffProblems() (problems []string) {
	w.t.Helper()
	for _, document := range slices.Concat(w.all(allAttendeeEvents), w.all(allAttendeeMappings)) {
		problems = append(problems, fmt.Sprintf("second addresses are off, and there is %s", document.Path))
	}
	if w.guestbooks.patches > 0 {
		problems = append(problems, "second addresses are off, and guests were changed")
	}
	for _, document := range w.all(allCalendars) {
		if colleague(store.Fields(document.Data).String("calendarId")) != "" {
			problems = append(problems, fmt.Sprintf("second addresses are off, and calendar %s is followed", document.Path))
		}
	}
	return problems
}
