package timers_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"questscheduler/internal/test/worldtest"
	"questscheduler/operations/health"
	"questscheduler/scheduler"
)

// followed is a poll with its event, and since when the event stands otherwise.
type followed struct {
	poll, event, calendar string
	day                   time.Time // the session's, before it was moved
	changed, agreed       time.Time
	gone                  bool
}

// month is a world of many polls in which few pushes arrive.
type month struct {
	*worldtest.World
	t     *testing.T
	polls []*followed
	sent  int
}

// newMonth is a world of polls in four calendars of three people, whose sessions
// are weeks behind the month.
func newMonth(t *testing.T, polls int) *month {
	t.Helper()
	m := &month{World: worldtest.New(t, worldtest.Options{}), t: t}
	m.Link("ben")
	calendars := []string{"gm", worldtest.Club, "ana", "ben"}
	for i := range polls {
		calendar := calendars[i%len(calendars)]
		person, calendarID := calendar, ""
		if calendar == worldtest.Club {
			person, calendarID = "gm", worldtest.ClubCalendar
		}
		day := time.Date(2026, 5, 1+i/8, 10, 0, 0, 0, time.UTC)
		view, err := m.Scheduler.Create(t.Context(), worldtest.Person(person), scheduler.Create{
			Title: fmt.Sprint("Session ", i), AllowLinkSharing: true, Slots: []worldtest.Slot{{Start: day, End: day.Add(time.Hour)}},
		}, worldtest.Cause)
		must(t, err)
		view, err = m.Scheduler.Finalise(t.Context(), worldtest.Person(person), view.Poll.ID, worldtest.Ask{
			SlotID: view.Slots[0].ID, CalendarID: calendarID, CreateEvent: true,
		}, worldtest.Cause)
		must(t, err)
		m.polls = append(m.polls, &followed{poll: view.Poll.ID, event: view.Poll.GoogleEventID, calendar: calendar, day: day})
		m.Run(time.Minute)
	}
	return m
}

// move gives the event of a poll another time, or its own again, or deletes it.
func (m *month) move(n int) {
	p := m.polls[n*37%len(m.polls)]
	switch {
	case p.gone:
		return
	case n%29 == 28:
		m.DeleteEvent(p.calendar, p.event)
		p.gone = true
	default:
		start := p.day.Add(time.Duration(n%3) * time.Hour)
		m.MoveEvent(p.calendar, p.event, worldtest.Slot{Start: start, End: start.Add(time.Hour)})
	}
	p.changed = m.Clock.Now()
}

// losePushes loses all pushes but one in a hundred.
func (m *month) losePushes() {
	for _, push := range m.PushesDue() {
		m.sent++
		if m.sent%100 != 0 {
			m.Plant("push", func(f *worldtest.Fault) { f.Drop, f.Times = true, 1 })
		}
		m.Deliver(push)
	}
}

// agrees fails where a poll does not say what its calendar has said since before
// the last sweep. Those that have said so before are asked again where all are.
func (m *month) agrees(by time.Time, all bool) {
	m.t.Helper()
	for _, p := range m.polls {
		if !p.changed.Before(by) || p.agreed.Equal(p.changed) && !all {
			continue
		}
		p.agreed = p.changed
		stored := m.View(p.poll)
		event := m.EventOf(p.calendar, p.event)
		switch {
		case p.gone && stored.Poll.Status != "CANCELLED":
			m.t.Errorf("%v: the event of poll %s is gone since %v, and it is %s", m.Clock.Now(), p.poll, p.changed, stored.Poll.Status)
		case !p.gone && !stored.Winning.Start.Equal(event.Fingerprint().StartTime()):
			m.t.Errorf("%v: poll %s is at %v, its event since %v at %v", m.Clock.Now(), p.poll, stored.Winning.Start, p.changed, event.Start)
		}
	}
}

// wellWatched fails where a calendar has no channel open at Google, or the status
// that people are shown is not what is so.
func (m *month) wellWatched() {
	m.t.Helper()
	open := m.Google.OpenChannels()
	watched := map[string]bool{}
	for _, doc := range m.Watches() {
		if slices.Contains(open, doc.Path.ID()) {
			watched[fmt.Sprint(doc.Data["calendarId"])] = true
		}
	}
	if len(watched) != 4 {
		m.t.Errorf("%v: only %v are watched", m.Clock.Now(), watched)
	}
	for _, person := range []string{"gm", "ana", "ben"} {
		report, err := m.Health.OfPerson(m.t.Context(), person)
		must(m.t, err)
		if report.Overall != health.Healthy {
			m.t.Errorf("%v: %s is shown %+v", m.Clock.Now(), person, report)
		}
	}
}

// Over thirty days in which one push in a hundred arrives, each poll agrees with
// its calendar within one sweep of its change, and no watch lapses.
func TestAMonth_InWhichFewPushesArrive(t *testing.T) {
	t.Parallel()
	const step = 2 * time.Hour
	m := newMonth(t, 200)
	m.RunTimers(time.Hour, time.Minute)
	// A sweep enqueues its calendars seconds apart, and sync runs follow each other after a
	// short pause.
	const within = worldtest.FallbackEvery + 10*time.Minute
	began := m.Clock.Now()
	for n := 0; m.Clock.Now().Before(began.Add(30 * 24 * time.Hour)); n++ {
		m.move(n)
		m.losePushes()
		m.RunTimers(step-time.Minute, step-time.Minute)
		m.RunTimers(time.Minute, 10*time.Second) // what was put off by seconds
		if t.Failed() {
			return
		}
		m.wellWatched()
		m.agrees(m.Clock.Now().Add(-within), n%30 == 0)
	}
	m.RunTimers(within, time.Hour)
	m.RunTimers(time.Minute, 10*time.Second)
	m.agrees(m.Clock.Now(), true)
	if arrived := m.sent / 100; arrived == 0 || m.sent < 300 {
		t.Errorf("%d pushes were sent, of which %d arrived", m.sent, arrived)
	}
	if opened := m.Calls("events.watch"); opened < 4*5 {
		t.Errorf("%d channels were opened in a month", opened)
	}
	m.Check()
}

// Channels that Google grants for an hour are renewed by the job of every minute:
// at no time is a calendar without one.
func TestADay_OfGrantsOfAnHour_HasChannelsAllTheTime(t *testing.T) {
	t.Parallel()
	m := newMonth(t, 4)
	m.RunTimers(time.Hour, time.Minute)
	m.LimitGrants(time.Hour)
	if _, _, err := m.Watcher.Register(t.Context(), worldtest.Cause, "", m.Clock.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	before := m.Calls("events.watch")
	for range 24 * 12 {
		m.RunTimers(5*time.Minute, time.Minute)
		m.wellWatched()
		if t.Failed() {
			return
		}
	}
	// Every 40 minutes one for each of four calendars.
	if opened := m.Calls("events.watch") - before; opened != 4*36 && opened != 4*35 {
		t.Errorf("%d channels were opened in a day", opened)
	}
	m.Check()
}
