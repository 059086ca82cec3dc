package google_test

import (
	"strings"
	"testing"

	"google.golang.org/api/calendar/v3"
)

// weekly is a series of gm's of four Fridays from 6 March 2026, 19:00, over the
// change of the clocks on 29 March.
func (w *world) weekly(id string) *calendar.Event {
	w.t.Helper()
	e := timed(id, 6)
	e.Start.TimeZone, e.End.TimeZone = "Europe/Zurich", "Europe/Zurich"
	e.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=5", "EXDATE;TZID=Europe/Zurich:20260313T190000"}
	return w.insert("gm", e)
}

func starts(items []*calendar.Event) string {
	var list []string
	for _, e := range items {
		text := e.Status
		if e.Start != nil {
			text = e.Start.DateTime + e.Start.Date
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

func single(c *calendar.EventsListCall) { c.SingleEvents(true) }

func TestSeries_SingleEvents_ExpandsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.fill("gm", 2)
	w.weekly("qs0series")
	whole, _ := w.list("gm", nil)
	if got := states(whole); got != "qs00000 confirmed, qs00001 confirmed, qs0series confirmed" || len(whole[2].Recurrence) != 2 {
		t.Errorf("not expanded: %s", got)
	}
	want := "qs00000 confirmed, qs00001 confirmed, qs0series_20260306T180000Z confirmed, " +
		"qs0series_20260320T180000Z confirmed, qs0series_20260327T180000Z confirmed, qs0series_20260403T170000Z confirmed"
	for _, size := range []int64{1, 2, 3, 250} {
		items, pages := w.pages("gm", func(c *calendar.EventsListCall) { c.SingleEvents(true).MaxResults(size) })
		if got := states(items); got != want {
			t.Errorf("pages of %d: %s", size, got)
		}
		if token := pages[len(pages)-1].NextSyncToken; token == "" {
			t.Error("no sync token")
		}
	}
	items, token := w.list("gm", func(c *calendar.EventsListCall) {
		c.SingleEvents(true).OrderBy("startTime").TimeMin("2026-03-25T00:00:00Z")
	})
	if got := starts(items); got != "2026-03-27T19:00:00+01:00, 2026-04-03T19:00:00+02:00" || token != "" {
		t.Errorf("from 25 March: %s", got)
	}
	last := items[1]
	if last.RecurringEventId != "qs0series" || last.OriginalStartTime.DateTime != last.Start.DateTime || last.Recurrence != nil {
		t.Errorf("instance %+v", last)
	}
}

// In Zurich a day begins before it does in UTC.
func TestSeries_OfDays_IsExpandedUpToTheCalendarsMidnight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.insert("gm", &calendar.Event{
		Id: "qs0dated", Start: &calendar.EventDateTime{Date: "2026-03-05"}, End: &calendar.EventDateTime{Date: "2026-03-06"},
		Recurrence: []string{"RRULE:FREQ=WEEKLY"},
	})
	items, _ := w.list("gm", func(c *calendar.EventsListCall) { c.SingleEvents(true).TimeMax("2026-03-18T23:30:00Z") })
	if got := starts(items); got != "2026-03-05, 2026-03-12, 2026-03-19" {
		t.Errorf("up to half past midnight: %s", got)
	}
	items, _ = w.list("gm", func(c *calendar.EventsListCall) { c.SingleEvents(true).TimeMax("2026-03-18T22:30:00Z") })
	if got := starts(items); got != "2026-03-05, 2026-03-12" {
		t.Errorf("up to half past eleven: %s", got)
	}
}

func TestSeries_WrittenInstance_BecomesAnEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.weekly("qs0series")
	_, token := w.list("gm", nil)
	_, singles := w.list("gm", single)
	const one, other = "qs0series_20260320T180000Z", "qs0series_20260327T180000Z"
	if got := w.get("gm", one); got.Start.DateTime != "2026-03-20T19:00:00+01:00" {
		t.Errorf("instance: %+v", got.Start)
	}
	later := timed("", 21)
	moved := must(w.as("gm").Events.Patch("primary", one, &calendar.Event{Start: later.Start, End: later.End}).Do())(t)
	if moved.Id != one || moved.OriginalStartTime.DateTime != "2026-03-20T19:00:00+01:00" ||
		moved.Start.DateTime != "2026-03-21T19:00:00+01:00" {
		t.Errorf("moved: %+v", moved)
	}
	if err := w.as("gm").Events.Delete("primary", other).Do(); err != nil {
		t.Fatal(err)
	}
	wantError(t, w.as("gm").Events.Delete("primary", other).Do(), 410, "deleted")

	t.Log("a deleted instance says which series it belonged to, and when")
	_, _, text := w.curl("gm", "GET",
		"/calendar/v3/calendars/primary/events/"+other+"?fields=id,status,recurringEventId,originalStartTime,start", "")
	if text != `{"id":"qs0series_20260327T180000Z","status":"cancelled","recurringEventId":"qs0series","originalStartTime":{"dateTime":"2026-03-27T19:00:00+01:00","timeZone":"Europe/Zurich"}}` {
		t.Errorf("deleted: %s", text)
	}
	delta, _ := w.since("gm", token)
	if got := states(delta); got != one+" confirmed, "+other+" cancelled" {
		t.Errorf("delta: %s", got)
	}
	whole, _ := w.list("gm", nil)
	if got := states(whole); got != "qs0series confirmed, "+one+" confirmed, "+other+" cancelled" {
		t.Errorf("full listing: %s", got)
	}
	expanded, _ := w.list("gm", single)
	if got := starts(expanded); got != "2026-03-06T19:00:00+01:00, 2026-04-03T19:00:00+02:00, 2026-03-21T19:00:00+01:00" {
		t.Errorf("expanded: %s", got)
	}
	since, _ := w.list("gm", func(c *calendar.EventsListCall) { c.SingleEvents(true).SyncToken(singles) })
	if got := states(since); got != one+" confirmed, "+other+" cancelled" {
		t.Errorf("expanded delta: %s", got)
	}
}

func TestSeries_DeletedOrMoved_EndsItsExceptions(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world) error{
		"deleted": func(w *world) error { return w.as("gm").Events.Delete("primary", "qs0series").Do() },
		"moved": func(w *world) error {
			other := timed("", 7)
			_, err := w.as("gm").Events.Patch("primary", "qs0series", &calendar.Event{Start: other.Start, End: other.End}).Do()
			return err
		},
		"a series no longer": func(w *world) error {
			_, err := w.as("gm").Events.Patch("primary", "qs0series", &calendar.Event{NullFields: []string{"Recurrence"}}).Do()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			w.weekly("qs0series")
			const one = "qs0series_20260320T180000Z"
			must(w.as("gm").Events.Patch("primary", one, &calendar.Event{Summary: "own"}).Do())(t)
			if err := end(w); err != nil {
				t.Fatal(err)
			}
			if got := w.get("gm", one); got.Status != "cancelled" {
				t.Errorf("the exception: %+v", got)
			}
			_, err := w.as("gm").Events.Get("primary", "qs0series_20260403T170000Z").Do()
			wantError(t, err, 404, "notFound")
		})
	}
}

func TestSeries_ChangedInstance_IsVisibleToGuests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	series := w.weekly("qs0series")
	guests := &calendar.Event{Attendees: []*calendar.EventAttendee{{Email: "ana@example.test"}}}
	must(w.as("gm").Events.Patch("primary", series.Id, guests).Do())(t)
	const one, other = "qs0series_20260320T180000Z", "qs0series_20260327T180000Z"
	if err := w.as("gm").Events.Delete("primary", one).Do(); err != nil {
		t.Fatal(err)
	}
	if got := w.get("ana", one); got.Status != "cancelled" || got.RecurringEventId != "qs0series" {
		t.Errorf("ana's instance: %+v", got)
	}
	yes := &calendar.Event{Attendees: []*calendar.EventAttendee{{Email: "ana@example.test", ResponseStatus: "accepted"}}}
	must(w.as("ana").Events.Patch("primary", other, yes).Do())(t)
	if got := responses(w.get("gm", other)); got != "ana accepted" {
		t.Errorf("gm's instance: %s", got)
	}
	if got := responses(w.get("gm", series.Id)); got != "ana needsAction" {
		t.Errorf("gm's series: %s", got)
	}
}

// An instance that a guest changed for themselves alone, and that the organiser has not, ends with
// its series.
func TestSeries_Ended_EndsInstancesThatOnlyAGuestColoured(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world) error{
		"deleted": func(w *world) error { return w.as("gm").Events.Delete("primary", "qs0series").Do() },
		"ana is a guest no longer": func(w *world) error {
			return w.patchAttendees("gm", "qs0series", guests([2]string{"ben"}))
		},
		"shortened": func(w *world) error {
			shorter := &calendar.Event{Recurrence: []string{"RRULE:FREQ=WEEKLY;COUNT=1"}}
			_, err := w.as("gm").Events.Patch("primary", "qs0series", shorter).Do()
			return err
		},
		"a series no longer": func(w *world) error {
			_, err := w.as("gm").Events.Patch("primary", "qs0series", &calendar.Event{NullFields: []string{"Recurrence"}}).Do()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			series := w.weekly("qs0series")
			const coloured = "qs0series_20260320T180000Z"
			if err := w.patchAttendees("gm", series.Id, guests([2]string{"ana"}, [2]string{"ben"})); err != nil {
				t.Fatal(err)
			}
			must(w.as("ana").Events.Patch("primary", coloured, &calendar.Event{ColorId: "5"}).Do())(t)
			if err := end(w); err != nil {
				t.Fatal(err)
			}
			if got := w.get("ana", coloured); got.Status != "cancelled" {
				t.Errorf("ana's instance: %+v", got)
			}
		})
	}
}

// What a guest changed of an instance for themselves alone stays theirs, and what the series has
// shows there all the same. An instance of the organiser's own keeps what it has.
func TestSeries_Changed_ReachesInstancesThatOnlyAGuestColoured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	series := w.weekly("qs0series")
	if err := w.patchAttendees("gm", series.Id, guests([2]string{"ana"}, [2]string{"ben"})); err != nil {
		t.Fatal(err)
	}
	const coloured, own = "qs0series_20260320T180000Z", "qs0series_20260327T180000Z"
	must(w.as("ana").Events.Patch("primary", coloured, &calendar.Event{ColorId: "5"}).Do())(t)
	must(w.as("gm").Events.Patch("primary", own, &calendar.Event{Summary: "Special"}).Do())(t)

	if err := w.patchAttendees("ben", series.Id, guests([2]string{"ana", "needsAction"}, [2]string{"ben", "declined"})); err != nil {
		t.Fatal(err)
	}
	must(w.as("gm").Events.Patch("primary", series.Id, &calendar.Event{Summary: "Renamed"}).Do())(t)
	if got := w.get("ana", coloured); got.ColorId != "5" || got.Summary != "Renamed" {
		t.Errorf("ana's instance has colour %s and summary %s", got.ColorId, got.Summary)
	}
	const answered = "ana needsAction, ben declined"
	w.wantResponses(coloured, map[string]string{"gm": answered, "ana": answered, "ben": answered})
	if got := w.get("ana", own); got.Summary != "Special" {
		t.Errorf("the instance that gm changed is called %s", got.Summary)
	}
}

func TestInstances_ChangedSeries_ListsItsInstances(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions())
	w.weekly("qs0series")
	const one, other = "qs0series_20260320T180000Z", "qs0series_20260327T180000Z"
	later := timed("", 21)
	must(w.as("gm").Events.Patch("primary", one, &calendar.Event{Start: later.Start, End: later.End}).Do())(t)
	if err := w.as("gm").Events.Delete("primary", other).Do(); err != nil {
		t.Fatal(err)
	}
	call := func() *calendar.EventsInstancesCall { return w.as("gm").Events.Instances("primary", "qs0series") }
	all := must(call().Do())(t)
	if got := starts(all.Items); got != "2026-03-06T19:00:00+01:00, 2026-03-21T19:00:00+01:00, 2026-04-03T19:00:00+02:00" {
		t.Errorf("instances: %s", got)
	}
	if got := must(call().ShowDeleted(true).Do())(t); len(got.Items) != 4 || got.Items[2].Status != "cancelled" {
		t.Errorf("with deleted: %s", starts(got.Items))
	}
	if got := must(call().OriginalStart("2026-03-20T19:00:00+01:00").Do())(t); len(got.Items) != 1 || got.Items[0].Id != one {
		t.Errorf("by original start: %s", states(got.Items))
	}
	page := must(call().MaxResults(2).Do())(t)
	rest := must(call().MaxResults(2).PageToken(page.NextPageToken).Do())(t)
	if len(page.Items) != 2 || len(rest.Items) != 1 || rest.NextPageToken != "" {
		t.Errorf("pages of %d and %d", len(page.Items), len(rest.Items))
	}
	_, err := w.as("gm").Events.Instances("primary", "never0there").Do()
	wantError(t, err, 404, "notFound")
	_, err = w.as("gm").Events.Move("primary", one, "ana@example.test").Do()
	wantError(t, err, 404, "notFound")
}

func TestMove_Series_TakesItsExceptionsAlong(t *testing.T) {
	t.Parallel()
	w := newClub(t)
	w.weekly("qs0series")
	const one = "qs0series_20260320T180000Z"
	must(w.as("gm").Events.Patch("primary", one, &calendar.Event{Summary: "own"}).Do())(t)
	_, err := w.move("gm", "primary", one, club)
	wantError(t, err, 400, "cannotChangeOrganizerOfInstance")
	must(w.move("gm", "primary", "qs0series", club))(t)
	if got := must(w.as("gm").Events.Get(club, one).Do())(t); got.Summary != "own" || got.Organizer.Email != club {
		t.Errorf("exception: %q of %+v", got.Summary, got.Organizer)
	}
	if got := w.get("gm", one); got.Status != "cancelled" {
		t.Errorf("left behind: %s", got.Status)
	}
}

func TestRecurrence(t *testing.T) {
	t.Parallel()
	const timed = `"start":{"dateTime":"2026-03-06T19:00:00+01:00","timeZone":"Europe/Zurich"},"end":{"dateTime":"2026-03-06T20:00:00+01:00","timeZone":"Europe/Zurich"}`
	const allDay = `"start":{"date":"2026-01-31"},"end":{"date":"2026-02-02"}`
	for name, tc := range map[string]struct {
		times, recurrence string
		want              string // ends of the ids; "" where the recurrence is refused
	}{
		"daily":            {timed, `"RRULE:FREQ=DAILY;INTERVAL=2;COUNT=3"`, "20260306T180000Z, 20260308T180000Z, 20260310T180000Z"},
		"until, inclusive": {timed, `"RRULE:FREQ=DAILY;UNTIL=20260308T180000Z"`, "20260306T180000Z, 20260307T180000Z, 20260308T180000Z"},
		"until a day":      {timed, `"RRULE:FREQ=DAILY;UNTIL=20260307"`, "20260306T180000Z, 20260307T180000Z"},
		"weekdays": {
			timed, `"RRULE:FREQ=WEEKLY;BYDAY=MO,FR;WKST=MO;COUNT=4"`,
			"20260306T180000Z, 20260309T180000Z, 20260313T180000Z, 20260316T180000Z",
		},
		"every other week": {
			timed, `"RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,MO;COUNT=3"`, "20260308T180000Z, 20260316T180000Z, 20260322T180000Z",
		},
		"a day of the month": {allDay, `"RRULE:FREQ=MONTHLY;COUNT=3"`, "20260131, 20260331, 20260531"},
		"yearly":             {allDay, `"RRULE:FREQ=YEARLY;UNTIL=20280201"`, "20260131, 20270131, 20280131"},
		"dates of its own":   {allDay, `"RDATE;VALUE=DATE:20260210,20260205","EXDATE;VALUE=DATE:20260210"`, "20260131, 20260205"},
		"a second Tuesday":   {timed, `"RRULE:FREQ=MONTHLY;BYDAY=2TU;COUNT=3"`, "20260310T180000Z, 20260414T170000Z, 20260512T170000Z"},
		"a last weekday":     {timed, `"RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=2"`, "20260331T170000Z, 20260430T170000Z"},
		"no rule":            {timed, `"soon"`, ""},
		"no frequency":       {timed, `"RRULE:COUNT=3"`, ""},
		"unknown frequency":  {timed, `"RRULE:FREQ=OFTEN"`, ""},
		"count and until":    {timed, `"RRULE:FREQ=DAILY;COUNT=3;UNTIL=20260308T180000Z"`, ""},
		"a count of none":    {timed, `"RRULE:FREQ=DAILY;COUNT=0"`, ""},
		"an unknown part":    {timed, `"RRULE:FREQ=DAILY;MOOD=GOOD"`, ""},
		"an unknown zone":    {timed, `"EXDATE;TZID=Mars/Base:20260308T190000"`, ""},
		"no date":            {timed, `"EXDATE:soon"`, ""},
		"no list":            {timed, `7`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testOptions())
			status, _, text := w.curl("gm", "POST", "/calendar/v3/calendars/primary/events",
				`{"id":"qs0series",`+tc.times+`,"recurrence":[`+tc.recurrence+`]}`)
			if tc.want == "" {
				if status != 400 || reasonOf(t, text) != "invalid" {
					t.Errorf("%d %s", status, text)
				}
				return
			}
			items, _ := w.list("gm", single)
			var got []string
			for _, e := range items {
				got = append(got, strings.TrimPrefix(e.Id, "qs0series_"))
			}
			if strings.Join(got, ", ") != tc.want {
				t.Errorf("%d: got %v, want %s", status, got, tc.want)
			}
		})
	}

	t.Log("what it cannot expand is kept all the same")
	w := newWorld(t, testOptions())
	for _, recurrence := range []string{"RRULE:FREQ=HOURLY", "RRULE:FREQ=DAILY;INTERVAL=99999"} {
		_, _, text := w.curl("gm", "POST", "/calendar/v3/calendars/primary/events", `{`+timed+`,"recurrence":["`+recurrence+`"]}`)
		if !strings.Contains(text, recurrence) {
			t.Errorf("%s: %s", recurrence, text)
		}
	}
	_, err := w.as("gm").Events.List("primary").SingleEvents(true).Do()
	wantError(t, err, 400, "badRequest")
	w.list("gm", nil)
	endless := newWorld(t, testOptions())
	endless.curl("gm", "POST", "/calendar/v3/calendars/primary/events", `{`+timed+`,"recurrence":["RRULE:FREQ=DAILY"]}`)
	if items, _ := endless.list("gm", func(c *calendar.EventsListCall) { c.SingleEvents(true).MaxResults(2500) }); len(items) != 730 {
		t.Errorf("%d instances of an endless series", len(items))
	}
}
