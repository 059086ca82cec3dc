package groupevents

import (
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
	"questscheduler/internal/recurrence"
	"questscheduler/rules"
)

func TestInput_DeceptiveTitle_IsRefused(t *testing.T) {
	t.Parallel()
	night := Input{Title: " Movie night ", Start: "2026-03-10T18:00:00Z", End: "2026-03-10T19:00:00Z"}
	var event mirror.Event
	if err := night.fill(&event); err != nil || event.Title != "Movie night" {
		t.Fatalf("%q, %v", event.Title, err)
	}
	for _, bad := range []string{"Movie\nnight", "Movie\x00night", "safe\u202eexe.cod", "safe\u2067exe.cod"} {
		made := event
		if err := (Edit{Title: &bad}).applyTo(inputOf(event)).fill(&made); !fault.Is(err, fault.Invalid) || made.Title != "Movie night" {
			t.Errorf("%q: %q, %v", bad, made.Title, err)
		}
	}
}

func TestInput_WrongField_IsNamed(t *testing.T) {
	t.Parallel()
	right := Input{Title: "Night", Start: "2026-03-10T18:00:00Z", End: "2026-03-10T19:00:00Z"}
	for says, change := range map[string]func(in *Input){
		"location":            func(in *Input) { in.Location = strings.Repeat("x", rules.MaxLocation+1) },
		"description":         func(in *Input) { in.Description = strings.Repeat("x", rules.MaxDescription+1) },
		"start must be a day": func(in *Input) { in.Start = "tomorrow" },
		"end must be a day":   func(in *Input) { in.End = "tomorrow" },
		"timezone":            func(in *Input) { in.Timezone = "Nowhere/Land" },
	} {
		in := right
		change(&in)
		err := in.fill(&mirror.Event{})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("instead of %q it says %v", says, err)
		}
	}
}

func TestEdit_ZoneAlone_IsAChange(t *testing.T) {
	t.Parallel()
	var was mirror.Event
	in := Input{Title: "Night", Start: "2026-03-10T18:00:00Z", End: "2026-03-10T19:00:00Z", Timezone: "Europe/Zurich"}
	if err := in.fill(&was); err != nil {
		t.Fatal(err)
	}
	next, zone := was, "America/New_York"
	err := (Edit{Timezone: &zone}).applyTo(inputOf(was)).fill(&next)
	if err != nil || sameText(was, next) || !next.Start.Time.Equal(was.Start.Time) {
		t.Errorf("%+v becomes %+v, %v", was.Start, next.Start, err)
	}
}

// A zone that this machine does not know any more is shown as UTC.
func TestText_UnknownZone_IsUTC(t *testing.T) {
	t.Parallel()
	at := recurrence.Moment{Time: time.Date(2026, 3, 10, 18, 0, 0, 0, time.FixedZone("", 3600)), Zone: "Nowhere/Land"}
	if text := Text(at); text != "2026-03-10T17:00:00Z" {
		t.Errorf("it is shown as %s", text)
	}
}
