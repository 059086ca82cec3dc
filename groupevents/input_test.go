package groupevents

import (
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/mirror"
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
