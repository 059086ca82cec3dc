package google_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/google"
)

// busy asks when calendars are busy and writes each down as "start-end, …" or its error.
func (w *world) busy(key, from, to string, ids ...string) map[string]string {
	w.t.Helper()
	query := &calendar.FreeBusyRequest{TimeMin: from, TimeMax: to}
	for _, id := range ids {
		query.Items = append(query.Items, &calendar.FreeBusyRequestItem{Id: id})
	}
	found := map[string]string{}
	for id, cal := range must(w.as(key).Freebusy.Query(query).Do())(w.t).Calendars {
		var list []string
		for _, e := range cal.Errors {
			list = append(list, e.Reason)
		}
		for _, p := range cal.Busy {
			list = append(list, strings.TrimPrefix(p.Start, "2026-")+" "+strings.TrimPrefix(p.End, "2026-"))
		}
		found[id] = strings.Join(list, ", ")
	}
	return found
}

func TestFreeBusy_ShowsWhatBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.weekly("qs0series") // 6, 20 and 27 March, 3 April at 18 h UTC, at 17 h in summer
	must(w.as("gm").Events.Patch("primary", "qs0series_20260327T180000Z", &calendar.Event{
		Start: timed("", 28).Start, End: timed("", 28).End,
	}).Do())(t)
	if err := w.as("gm").Events.Delete("primary", "qs0series_20260320T180000Z").Do(); err != nil {
		t.Fatal(err)
	}
	free := timed("qs0free", 10)
	free.Transparency = "transparent"
	w.insert("gm", free)
	w.insert("gm", timed("qs0gone", 11))
	if err := w.as("gm").Events.Delete("primary", "qs0gone").Do(); err != nil {
		t.Fatal(err)
	}
	w.insert("gm", &calendar.Event{
		Id: "qs0date", Start: &calendar.EventDateTime{Date: "2026-03-12"}, End: &calendar.EventDateTime{Date: "2026-03-13"},
	})
	both := timed("qs0both", 14)
	both.End.DateTime = "2026-03-14T21:00:00+01:00"
	w.insert("gm", both)
	w.insert("gm", timed("qs0other", 14))
	for id, answer := range map[string]string{"qs0tes": "accepted", "qs0non": "declined"} {
		invited := timed(id, map[string]int{"accepted": 16, "declined": 17}[answer])
		invited.Attendees = []*calendar.EventAttendee{{Email: "gm@example.test"}}
		w.insert("ana", invited)
		must(w.as("gm").Events.Patch("primary", id,
			&calendar.Event{Attendees: []*calendar.EventAttendee{{Email: "gm@example.test", ResponseStatus: answer}}}).Do())(t)
	}
	got := w.busy("gm", "2026-03-06T18:30:00Z", "2026-04-30T00:00:00Z", "primary")
	want := "03-06T18:30:00Z 03-06T19:00:00Z, 03-11T23:00:00Z 03-12T23:00:00Z, 03-14T18:00:00Z 03-14T20:00:00Z, " +
		"03-16T18:00:00Z 03-16T19:00:00Z, 03-28T18:00:00Z 03-28T19:00:00Z, 04-03T17:00:00Z 04-03T18:00:00Z"
	if got["primary"] != want {
		t.Errorf("got  %s\nwant %s", got["primary"], want)
	}
}

func TestFreeBusy_AnOldEndlessSeries_StillBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.insert("gm", &calendar.Event{
		Id: "qs0often", Recurrence: []string{"RRULE:FREQ=DAILY"},
		Start: &calendar.EventDateTime{DateTime: "2015-01-01T08:00:00Z", TimeZone: "UTC"},
		End:   &calendar.EventDateTime{DateTime: "2015-01-01T09:00:00Z", TimeZone: "UTC"},
	})
	if got := w.busy("gm", "2026-03-06T00:00:00Z", "2026-03-07T00:00:00Z", "primary")["primary"]; got != "03-06T08:00:00Z 03-06T09:00:00Z" {
		t.Errorf("got %s", got)
	}
}

func TestFreeBusy_ErrorsAreTheCalendarsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.insert("gm", timed("qs0event", 6))
	if err := w.sim.Share("ana@example.test", "gm", google.FreeBusyReader); err != nil {
		t.Fatal(err)
	}
	w.insert("ana", timed("qs0hers", 7))
	w.insert("ana", &calendar.Event{
		Id: "qs0hours", Recurrence: []string{"RRULE:FREQ=HOURLY"}, Transparency: "transparent",
		Start: &calendar.EventDateTime{DateTime: "2026-03-07T10:00:00Z", TimeZone: "UTC"},
		End:   &calendar.EventDateTime{DateTime: "2026-03-07T10:30:00Z", TimeZone: "UTC"},
	})
	ids := []string{"gm@example.test", "ana@example.test", "ben@example.test", "nobody@example.test"}
	for i := range 50 {
		ids = append(ids, fmt.Sprintf("more%d@example.test", i))
	}
	got := w.busy("gm", "2026-03-01T00:00:00Z", "2026-03-31T00:00:00Z", ids...)
	if got[ids[0]] != "03-06T18:00:00Z 03-06T19:00:00Z" || got[ids[1]] != "03-07T18:00:00Z 03-07T19:00:00Z" {
		t.Errorf("readable ones: %q, %q", got[ids[0]], got[ids[1]])
	}
	if got[ids[2]] != "notFound" || got[ids[3]] != "notFound" || got[ids[49]] != "notFound" || got[ids[50]] != "tooManyCalendarsRequested" {
		t.Errorf("others: %v", got)
	}
	w.insert("ana", &calendar.Event{
		Id: "qs0blocks", Recurrence: []string{"RRULE:FREQ=HOURLY"},
		Start: &calendar.EventDateTime{DateTime: "2026-03-07T10:00:00Z", TimeZone: "UTC"},
		End:   &calendar.EventDateTime{DateTime: "2026-03-07T10:30:00Z", TimeZone: "UTC"},
	})
	if got := w.busy("gm", "2026-03-01T00:00:00Z", "2026-03-31T00:00:00Z", ids[:2]...); got[ids[1]] != "internalError" ||
		strings.Contains(got[ids[0]], "Error") {
		t.Errorf("one that cannot be expanded: %v", got)
	}
}

func TestFreeBusy_NeedsItsScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	query := &calendar.FreeBusyRequest{
		TimeMin: "2026-03-01T00:00:00Z", TimeMax: "2026-03-31T00:00:00Z",
		Items: []*calendar.FreeBusyRequestItem{{Id: "primary"}},
	}
	all := []string{google.ScopeFreeBusy, google.ScopeCalendar, google.ScopeCalendarReadonly}
	for _, scope := range append(slices.Clone(all), google.ScopeEvents, google.ScopeEventsReadonly, google.ScopeAppCreated,
		google.ScopeCalendarListReadonly) {
		w.grants["gm"] = must(w.sim.NewGrant("gm", scope))(t)
		_, err := w.as("gm").Freebusy.Query(query).Do()
		if slices.Contains(all, scope) {
			if err != nil {
				t.Errorf("%s: %v", scope, err)
			}
			continue
		}
		wantError(t, err, 403, "insufficientPermissions")
	}
	w.grants["gm"] = must(w.sim.NewGrant("gm"))(t)
	for to, reason := range map[string]string{
		"2026-06-30T00:00:00Z": "timeRangeTooLong", "2026-03-01T00:00:00Z": "timeRangeEmpty", "": "required", "soon": "invalid",
	} {
		query.TimeMax = to
		_, err := w.as("gm").Freebusy.Query(query).Do()
		wantError(t, err, 400, reason)
	}
}
