package plan_test

import (
	"fmt"
	"testing"
	"time"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const hour = time.Hour

func at(after time.Duration) recurrence.Moment {
	return recurrence.Moment{Time: now.Add(after), Zone: "Europe/Vienna"}
}

// meeting is an event of ana's account "work" of an hour, beginning after a time.
func meeting(id string, after time.Duration) mirror.Event {
	e := mirror.Event{
		ID: "evt_" + id, OwnerID: "ana", AccountID: "work", CalendarID: "work@x", EventID: id, ICalUID: "uid-" + id,
		Title: "Budget", Description: "Figures", Location: "Room 1", Start: at(after), End: at(after + hour),
		Status: "confirmed", Visibility: "default", Transparency: "opaque", Kind: "default", Source: mirror.SourceProvider, Version: 1,
	}
	e.From, e.Until = plan.Bounds(e)
	return e
}

func with(e mirror.Event, changes ...func(e *mirror.Event)) mirror.Event {
	for _, change := range changes {
		change(&e)
	}
	e.From, e.Until = plan.Bounds(e)
	return e
}

func weekly(e *mirror.Event) { e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=10"} }

func in(account string) func(e *mirror.Event) {
	return func(e *mirror.Event) { e.AccountID, e.CalendarID = account, account+"@x" }
}

// exception is that of a series for its second occurrence, an hour later than by the rule.
func exception(id string, series mirror.Event, changes ...func(e *mirror.Event)) mirror.Event {
	e := series
	e.ID, e.EventID, e.SeriesID, e.Recurrence = "evt_"+id, id, series.EventID, nil
	e.OriginalStart = recurrence.Moment{Time: series.Start.Time.Add(7 * 24 * hour), Zone: series.Start.Zone}
	e.Start, e.End = e.OriginalStart, e.OriginalStart
	e.Start.Time, e.End.Time = e.Start.Time.Add(hour), e.End.Time.Add(2*hour)
	return with(e, changes...)
}

func edge(from, to string, detail mirror.Detail) mirror.Edge {
	return mirror.Edge{FromAccountID: from, ToAccountID: to, Detail: detail, Target: mirror.Overlay}
}

func accounts(names ...string) map[string]plan.Account {
	all := map[string]plan.Account{}
	for _, name := range names {
		all[name] = plan.Account{
			Usable: true, PrimaryID: name + "@x", Overlay: mirror.OverlayCalendar{CalendarID: name + "-overlay", Generation: 1},
		}
	}
	return all
}

// situation is ana's, whose work shows in her home account as BUSY.
func situation(events ...mirror.Event) plan.Situation {
	return plan.Situation{
		Owner: "ana", Now: now, Events: events, Edges: []mirror.Edge{edge("work", "home", mirror.Busy)},
		Accounts: accounts("work", "home", "club"),
	}
}

// applied is a situation after its plan was stored, and the plan.
func applied(of plan.Situation) (plan.Situation, []mirror.Mirror) {
	planned := plan.Plan(of)
	of.Mirrors = merged(of.Mirrors, planned)
	return of, planned
}

func merged(mirrors, changed []mirror.Mirror) (all []mirror.Mirror) {
	newest := map[string]mirror.Mirror{}
	for _, m := range changed {
		newest[m.ID] = m
	}
	for _, m := range mirrors {
		if next, ok := newest[m.ID]; ok {
			m = next
			delete(newest, m.ID)
		}
		all = append(all, m)
	}
	for _, m := range changed {
		if _, isNew := newest[m.ID]; isNew {
			all = append(all, m)
		}
	}
	return all
}

// of is the mirror of an event in an account; the zero mirror if there is none.
func of(s plan.Situation, event mirror.Event, account string) mirror.Mirror {
	for _, m := range s.Mirrors {
		if m.ID == mirror.IDOf(event.ID, account) {
			return m
		}
	}
	return mirror.Mirror{}
}

// states names the mirrors of a situation: "event>account STATE".
func states(s plan.Situation) map[string]mirror.State {
	all := map[string]mirror.State{}
	for _, m := range s.Mirrors {
		all[m.CanonicalID[4:]+">"+m.TargetAccountID] = m.State
	}
	return all
}

func expect(t *testing.T, s plan.Situation, want map[string]mirror.State) {
	t.Helper()
	if got := states(s); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the mirrors are %v, want %v", got, want)
	}
}

// answer is Google's to a write of a content.
func answer(id, etag string, c gcal.Content, updated time.Time) gcal.Event {
	return gcal.Event{ID: id, ETag: etag, EventState: rules.Present, Updated: updated, Details: &gcal.Details{
		Summary: c.Summary, Description: c.Description, Location: c.Location, Start: c.Start, End: c.End, Recurrence: c.Recurrence,
		Transparency: c.Transparency, Visibility: c.Visibility, Status: "confirmed",
	}}
}

func absent(id string, updated time.Time) gcal.Event {
	return gcal.Event{ID: id, ETag: "gone", EventState: rules.Gone, Updated: updated, Details: &gcal.Details{Status: "cancelled"}}
}
