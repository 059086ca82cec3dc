package plan_test

import (
	"testing"

	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
)

func recurring(lines ...string) func(e *mirror.Event) {
	return func(e *mirror.Event) { e.Recurrence = lines }
}

// An exception at the time of its rule, whose series was not read, is covered where a native
// series has an occurrence then, and by nothing else.
func TestPlan_AnOccurrenceByRule_CoversIfTheRuleHasIt(t *testing.T) {
	t.Parallel()
	x, native := exception("x", series, renamed), invited("n", series, "home")
	beside := func(event mirror.Event, changes ...func(e *mirror.Event)) []mirror.Event {
		return []mirror.Event{event, with(native, changes...)}
	}
	fromThen := func(e *mirror.Event) { e.Start, e.End = x.Start, x.End }
	after := func(e *mirror.Event) {
		fromThen(e)
		e.Start.Time, e.End.Time = e.Start.Time.Add(7*24*hour), e.End.Time.Add(7*24*hour)
	}
	noZone := func(e *mirror.Event) { e.Start.Zone, e.End.Zone = "", "" }
	days := func(e *mirror.Event) {
		e.Start, e.End = recurrence.Moment{Date: "2026-03-01"}, recurrence.Moment{Date: "2026-03-02"}
	}
	day := exception("x", with(series, days), func(e *mirror.Event) {
		e.OriginalStart, e.Start, e.End = recurrence.Moment{Date: "2026-03-08"}, recurrence.Moment{Date: "2026-03-08"},
			recurrence.Moment{Date: "2026-03-09"}
	})
	longAgo := func(e *mirror.Event) {
		e.Start.Time, e.End.Time = e.Start.Time.AddDate(0, 0, -90).Add(hour/2), e.End.Time.AddDate(0, 0, -90).Add(hour/2)
	}
	for name, row := range map[string]struct {
		events []mirror.Event
		want   mirror.State
	}{
		"weekly":                          {beside(x), mirror.Covered},
		"weekly, moved there":             {beside(exception("x", series)), mirror.Active},
		"without a zone":                  {beside(x, noZone), mirror.Covered},
		"of another time, without a zone": {beside(x, later, noZone), mirror.Active},
		"every other week, moved to the first": {
			beside(with(x, func(e *mirror.Event) { e.Start, e.End = native.Start, native.End }),
				recurring("RRULE:FREQ=WEEKLY;INTERVAL=2")), mirror.Active,
		},
		"under another id":                    {beside(x, copied), mirror.Covered},
		"from then on":                        {beside(x, fromThen), mirror.Covered},
		"after it":                            {beside(x, after), mirror.Active},
		"ended before":                        {beside(x, recurring("RRULE:FREQ=WEEKLY;COUNT=1")), mirror.Active},
		"every other week":                    {beside(x, recurring("RRULE:FREQ=WEEKLY;INTERVAL=2")), mirror.Active},
		"without that date":                   {beside(x, recurring("RRULE:FREQ=WEEKLY", "EXDATE:20260308T130000Z")), mirror.Active},
		"that date alone":                     {beside(x, recurring("RDATE:20260308T130000Z")), mirror.Covered},
		"of another time":                     {beside(x, later), mirror.Active},
		"of another time, under another id":   {beside(x, later, copied), mirror.Active},
		"of another time, just moved":         {beside(x, later, justNow), mirror.Covered},
		"just moved, under another id":        {beside(x, later, justNow, copied), mirror.Active},
		"of another organizer":                {beside(x, organizedBy("eve")), mirror.Active},
		"declined":                            {beside(x, declined), mirror.Active},
		"longer":                              {beside(x, func(e *mirror.Event) { e.End = at(3 * hour) }), mirror.Active},
		"whose rule cannot be read":           {beside(x, recurring("RRULE:FREQ=MINUTELY")), mirror.Covered},
		"with too many starts":                {beside(x, recurring("RRULE:FREQ=HOURLY;COUNT=90000"), longAgo), mirror.Covered},
		"all day":                             {beside(day, days), mirror.Covered},
		"all day, every other week":           {beside(day, days, recurring("RRULE:FREQ=WEEKLY;INTERVAL=2")), mirror.Active},
		"all day, a timed exception":          {beside(x, days), mirror.Active},
		"beside one of another time":          {append(beside(x), with(invited("m", native, "home", copied), later)), mirror.Covered},
		"with its own exception then":         {append(beside(x), exception("nx", native)), mirror.Active},
		"with an exception that is cancelled": {append(beside(x), exception("nx", native, isCancelled)), mirror.Active},
		"one event, at that time":             {beside(x, fromThen, recurring()), mirror.Covered},
		"one event, at another":               {beside(x, recurring()), mirror.Active},
	} {
		s := written(situation(row.events...), newCalendars())
		if m := of(s, row.events[0], "home"); m.State != row.want {
			t.Errorf("%s: it is %s, want %s", name, m.State, row.want)
		}
	}
}
