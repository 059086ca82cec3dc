package main

import (
	"math"
	"testing"
	"time"
)

func TestSlope_IsTheGrowthOfAnHour(t *testing.T) {
	t.Parallel()
	const late = 1000 * time.Hour // far from the beginning
	for _, c := range []struct {
		name   string
		points []point
		want   float64
	}{
		{"no sample", nil, 0},
		{"one sample", []point{{time.Minute, 7}}, 0},
		{"samples of one time", []point{{time.Minute, 7}, {time.Minute, 9}}, 0},
		{"what stays", []point{{0, 5}, {time.Minute, 5}, {time.Hour, 5}}, 0},
		{"one a minute", []point{{0, 3}, {time.Minute, 4}, {2 * time.Minute, 5}}, 60},
		{"less and less", []point{{time.Hour, 10}, {3 * time.Hour, 4}}, -3},
		{"a line through the middle", []point{{0, 0}, {time.Hour, 3}, {2 * time.Hour, 0}, {3 * time.Hour, 3}}, 0.6},
		{"a saw without growth", []point{{0, 1}, {time.Hour, 4}, {2 * time.Hour, 4}, {3 * time.Hour, 1}}, 0},
		{"uneven times", []point{{0, 0}, {time.Hour, 2}, {4 * time.Hour, 8}}, 2},
		{"late", []point{{late, 1e9}, {late + time.Second, 1e9 + 1}}, 3600},
	} {
		if got := slope(c.points); math.IsNaN(got) || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: the slope is %v, want %v", c.name, got, c.want)
		}
	}
}

func TestFigure_TellsTheLastValueAndTheGrowthAfterTheWarmUp(t *testing.T) {
	t.Parallel()
	f := figure{name: "heap", unit: megabyte, named: " MB", points: []point{
		{0, 0}, {time.Minute, 10 * megabyte}, {2 * time.Minute, 11 * megabyte}, {3 * time.Minute, 14 * megabyte},
	}}
	if got, want := f.line(time.Minute), "heap                   14.0 MB     +120.0 MB per hour"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := f.line(time.Hour), "heap              no sample"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
