package callables

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"questscheduler/availability"
	"questscheduler/fault"
	"questscheduler/scheduler"
)

// calendars has everybody busy for the first hour of what is asked for, and unknown for
// the second.
type calendars struct{ asked string }

func (c *calendars) Own(_ context.Context, userID string, from, to time.Time, _ []string) (availability.Answer, error) {
	c.asked = userID + " " + to.Sub(from).String()
	hour := func(n int) availability.Interval {
		start := from.Add(time.Duration(n) * time.Hour)
		return availability.Interval{Start: start, End: start.Add(time.Hour)}
	}
	return availability.Answer{
		Times: availability.Times{Busy: []availability.Interval{hour(0)}, Unknown: []availability.Interval{hour(1)}},
	}, nil
}

func TestBusyWindows_AreInTheAppsShape(t *testing.T) {
	t.Parallel()
	asked := &calendars{}
	s := &server{Options: Options{Availability: asked}}
	in := call{person: scheduler.Person{ID: "gm"}, data: fields{"start": "2026-03-01T12:00:00+01:00", "end": "2026-03-02T11:00:00.000Z"}}
	result, err := s.busyWindows(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	const rest = `"sourceSchedulerId":null,"sourceWinningSlotId":null,"priorityAtMs":null}]`
	want := `{"busyWindows":[{"startUtc":"2026-03-01T11:00:00.000Z","endUtc":"2026-03-01T12:00:00.000Z",` + rest +
		`,"unknownWindows":[{"startUtc":"2026-03-01T12:00:00.000Z","endUtc":"2026-03-01T13:00:00.000Z",` + rest + `}`
	if string(text) != want || asked.asked != "gm 24h0m0s" {
		t.Errorf("asked for %s: %s", asked.asked, text)
	}
}

func TestBusyWindows_WithoutATime_AreRefused(t *testing.T) {
	t.Parallel()
	asked := &calendars{}
	s := &server{Options: Options{Availability: asked}}
	for name, data := range map[string]fields{
		"nothing": nil, "no end": {"start": "2026-03-01T12:00:00Z"}, "a number": {"start": json.Number("1"), "end": "2026-03-01T12:00:00Z"},
		"no zone": {"start": "2026-03-01T12:00:00", "end": "2026-03-01T13:00:00Z"},
	} {
		if _, err := s.busyWindows(t.Context(), call{data: data}); !fault.Is(err, fault.Invalid) || asked.asked != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
