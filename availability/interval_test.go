package availability_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/availability"
)

var epoch = time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)

// minutes is the interval between two minutes of a day.
func minutes(start, end int) availability.Interval {
	return availability.Interval{Start: epoch.Add(time.Duration(start) * time.Minute), End: epoch.Add(time.Duration(end) * time.Minute)}
}

// TestMerge_AgreesWithABitmap compares with each minute of a day, and requires gaps between
// the intervals.
func TestMerge_AgreesWithABitmap(t *testing.T) {
	t.Parallel()
	const day = 300
	rapid.Check(t, func(t *rapid.T) {
		var given []availability.Interval
		var want [day]bool
		for range rapid.IntRange(0, 12).Draw(t, "intervals") {
			start, length := rapid.IntRange(0, day-1).Draw(t, "start"), rapid.IntRange(-5, 60).Draw(t, "length")
			given = append(given, minutes(start, min(day, start+length)))
			for m := start; m < min(day, start+length); m++ {
				want[m] = true
			}
		}
		merged := availability.Merge(given)
		var got [day]bool
		for i, one := range merged {
			if !one.Start.Before(one.End) || i > 0 && !merged[i-1].End.Before(one.Start) {
				t.Fatalf("%v is not sorted, separate and filled", merged)
			}
			for m := int(one.Start.Sub(epoch).Minutes()); m < int(one.End.Sub(epoch).Minutes()); m++ {
				got[m] = true
			}
		}
		if got != want {
			t.Fatalf("%v is merged to %v", given, merged)
		}
		slot := rapid.IntRange(0, day-1).Draw(t, "slot")
		if state := availability.State(minutes(slot, slot+1), merged, nil); (state == availability.StateBusy) != want[slot] {
			t.Fatalf("minute %d is %s in %v", slot, state, merged)
		}
	})
}

func TestState(t *testing.T) {
	t.Parallel()
	busy := []availability.Interval{minutes(60, 120)}
	unknown := []availability.Interval{minutes(100, 200)}
	for name, c := range map[string]struct {
		slot availability.Interval
		want availability.SlotState
	}{
		"before":                        {minutes(0, 30), availability.StateFree},
		"touching a busy time":          {minutes(30, 60), availability.StateFree},
		"a minute into it":              {minutes(30, 61), availability.StateBusy},
		"within it":                     {minutes(70, 80), availability.StateBusy},
		"around it":                     {minutes(0, 300), availability.StateBusy},
		"busy and unknown":              {minutes(110, 130), availability.StateBusy},
		"unknown":                       {minutes(120, 130), availability.StateUnknown},
		"a minute unknown":              {minutes(199, 300), availability.StateUnknown},
		"after what is unknown":         {minutes(200, 300), availability.StateFree},
		"no length, at a start":         {minutes(60, 60), availability.StateBusy},
		"no length, at the end of busy": {minutes(120, 120), availability.StateUnknown},
	} {
		if got := availability.State(c.slot, busy, unknown); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestJoin_OfAccounts(t *testing.T) {
	t.Parallel()
	busy := availability.Times{Busy: []availability.Interval{minutes(60, 120)}}
	unread := availability.Times{Unknown: []availability.Interval{minutes(0, 1440)}}
	free := availability.Times{}
	for name, c := range map[string]struct {
		accounts []availability.Times
		want     availability.SlotState // of 01:00
		wantElse availability.SlotState // of 03:00
	}{
		"no account":             {nil, availability.StateFree, availability.StateFree},
		"one busy, one free":     {[]availability.Times{free, busy}, availability.StateBusy, availability.StateFree},
		"one busy, one unknown":  {[]availability.Times{unread, busy}, availability.StateBusy, availability.StateUnknown},
		"one unknown, none busy": {[]availability.Times{free, unread, free}, availability.StateUnknown, availability.StateUnknown},
		"two that touch are one busy": {
			[]availability.Times{busy, {Busy: []availability.Interval{minutes(120, 130)}}}, availability.StateBusy,
			availability.StateFree,
		},
		"one unknown at another time ": {
			[]availability.Times{{Unknown: []availability.Interval{minutes(180, 240)}}, free}, availability.StateFree,
			availability.StateUnknown,
		},
	} {
		joined := availability.Join(c.accounts...)
		got := availability.State(minutes(60, 120), joined.Busy, joined.Unknown)
		gotElse := availability.State(minutes(180, 240), joined.Busy, joined.Unknown)
		if got != c.want || gotElse != c.wantElse || len(joined.Busy) > 1 || len(joined.Unknown) > 1 {
			t.Errorf("%s: %s and %s of %v, want %s and %s", name, got, gotElse, joined, c.want, c.wantElse)
		}
	}
}
