package plan_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/internal/gcal"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/mirrors/plan"
)

func private(e *mirror.Event)      { e.Visibility = "private" }
func confidential(e *mirror.Event) { e.Visibility = "confidential" }
func free(e *mirror.Event)         { e.Transparency = "transparent" }
func declined(e *mirror.Event)     { e.Declined = true }
func isCancelled(e *mirror.Event)  { e.Status = "cancelled" }

func TestProject(t *testing.T) {
	t.Parallel()
	e := meeting("a", hour)
	busy := gcal.Content{Summary: "Busy", Start: at(hour), End: at(2 * hour), Transparency: "opaque", Visibility: "default"}
	title := busy
	title.Summary, title.Visibility = "Budget", "private"
	full := title
	full.Description, full.Location = "Figures", "Room 1"
	fullAndFree := full
	fullAndFree.Transparency = "transparent"
	series := busy
	series.Recurrence = []string{"RRULE:FREQ=WEEKLY;COUNT=10"}
	days := busy
	days.Start, days.End = recurrence.Moment{Date: "2026-03-05"}, recurrence.Moment{Date: "2026-03-06"}
	utc := busy
	utc.Start.Zone, utc.End.Zone = "UTC", "UTC"
	for name, row := range map[string]struct {
		event  mirror.Event
		detail mirror.Detail
		want   gcal.Content
	}{
		"BUSY":                  {e, mirror.Busy, busy},
		"TITLE":                 {e, mirror.Title, title},
		"FULL":                  {e, mirror.Full, full},
		"FULL, free time":       {with(e, free), mirror.Full, fullAndFree},
		"FULL, private":         {with(e, private), mirror.Full, busy},
		"TITLE, confidential":   {with(e, confidential), mirror.Title, busy},
		"FULL, public":          {with(e, func(e *mirror.Event) { e.Visibility = "public" }), mirror.Full, full},
		"a series":              {with(e, weekly), mirror.Busy, series},
		"all day":               {with(e, func(e *mirror.Event) { e.Start, e.End = days.Start, days.End }), mirror.Busy, days},
		"a time without a zone": {with(e, func(e *mirror.Event) { e.Start.Zone, e.End.Zone = "", "" }), mirror.Busy, utc},
	} {
		if got := plan.Project(row.event, row.detail); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: it shows %+v, want %+v", name, got, row.want)
		}
	}
}

func TestHash_DiffersWithEveryField(t *testing.T) {
	t.Parallel()
	base := plan.Project(with(meeting("a", hour), weekly), mirror.Full)
	hashes := map[string]string{plan.Hash(base): "nothing"}
	for name, change := range map[string]func(c *gcal.Content){
		"summary": func(c *gcal.Content) { c.Summary = "x" }, "description": func(c *gcal.Content) { c.Description = "x" },
		"location": func(c *gcal.Content) { c.Location = "x" }, "start": func(c *gcal.Content) { c.Start = at(0) },
		"end": func(c *gcal.Content) { c.End = at(9 * hour) }, "zone": func(c *gcal.Content) { c.Start.Zone = "Asia/Tokyo" },
		"end's zone": func(c *gcal.Content) { c.End.Zone = "Asia/Tokyo" }, "recurrence": func(c *gcal.Content) { c.Recurrence = nil },
		"transparency": func(c *gcal.Content) { c.Transparency = "transparent" },
		"visibility":   func(c *gcal.Content) { c.Visibility = "default" },
	} {
		changed := base
		change(&changed)
		if same, ok := hashes[plan.Hash(changed)]; ok {
			t.Errorf("another %s has the hash of another %s", name, same)
		}
		hashes[plan.Hash(changed)] = name
	}
}

func TestHash_OfTheSameContent_IsTheSame(t *testing.T) {
	t.Parallel()
	lines := []string{"RRULE:FREQ=WEEKLY;COUNT=10", "EXDATE;TZID=Europe/Vienna:20260308T140000"}
	base := gcal.Content{Summary: "Busy", Start: at(hour), End: at(2 * hour), Recurrence: lines, Transparency: "opaque", Visibility: "default"}
	for name, change := range map[string]func(c *gcal.Content){
		"defaults left out":          func(c *gcal.Content) { c.Transparency, c.Visibility = "", "" },
		"an instant in another form": func(c *gcal.Content) { c.Start.Time = c.Start.Time.In(time.FixedZone("x", 3600)) },
		"lines in another order":     func(c *gcal.Content) { c.Recurrence = []string{lines[1], lines[0]} },
		"parts of a second":          func(c *gcal.Content) { c.End.Time = c.End.Time.Add(time.Millisecond) },
		"space around the title":     func(c *gcal.Content) { c.Summary = "Busy " },
	} {
		changed := base
		change(&changed)
		if plan.Hash(changed) != plan.Hash(base) {
			t.Errorf("%s: another hash", name)
		}
	}
}

func TestShown_OfTheAnswer_HasTheHashOfTheContent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		content := plan.Project(anyEvent(t), anyDetail(t))
		if got := plan.Shown(*answer("id", "1", content, now).Details); plan.Hash(got) != plan.Hash(content) {
			t.Fatalf("%+v is shown as %+v", content, got)
		}
	})
}

func TestProject_BUSY_RevealsNothingButTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyEvent(t), anyEvent(t)
		b.Start, b.End, b.Recurrence = a.Start, a.End, a.Recurrence
		if x, y := plan.Project(a, mirror.Busy), plan.Project(b, mirror.Busy); !reflect.DeepEqual(x, y) {
			t.Fatalf("two events of equal times show as %+v and %+v", x, y)
		}
	})
}
