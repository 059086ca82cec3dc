package main

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/attendees/mappings"
	"questscheduler/internal/test/cost"
	"questscheduler/internal/test/mirrortest"
)

func TestReport_SetsEachFigureAgainstOneOfTheSameRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := &report{out: &out, known: map[string]float64{}}
	for _, f := range []figure{{name: "bare", value: 2, unit: "ms"}, {name: "ours", value: 3, unit: "ms", to: "bare"}} {
		if err := r.add(f.name, f.value, f.unit, f.to); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	if got, want := strings.Join(lines, "\n"), "bare 2 ms\nours 3 ms 1.5 of bare"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := r.add("other", 1, "ms", "unknown"); err == nil {
		t.Error("a figure was set against one that was not measured")
	}
}

func TestGoal_OfAFigure_IsMetOrMissed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		goal goal
		f    figure
		want string
	}{
		{goal{most: 4}, figure{value: 4}, "  goal <= 4: met"},
		{goal{most: 4}, figure{value: 4.1}, "  goal <= 4: missed"},
		{goal{least: 0.6, ofRatio: true}, figure{value: 9, ratio: 0.6}, "  goal >= 0.6: met"},
		{goal{least: 0.6, ofRatio: true}, figure{value: 9, ratio: 0.59}, "  goal >= 0.6: missed"},
		{goal{most: 10, ofRatio: true}, figure{value: 1, ratio: 11}, "  goal <= 10: missed"},
		{goal{}, figure{value: 1}, ""},
	} {
		if got := row.goal.of(row.f); got != row.want {
			t.Errorf("%+v of %+v is %q, want %q", row.goal, row.f, got, row.want)
		}
	}
}

func TestLatencies_ByShare_AreReported(t *testing.T) {
	t.Parallel()
	var hundred latencies
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i)*time.Millisecond)
	}
	for share, want := range map[float64]float64{0: 1, 0.5: 51, 0.99: 100, 1: 100} {
		if got := hundred.at(share); got != want {
			t.Errorf("at %v: %v ms, want %v", share, got, want)
		}
	}
	if got := (latencies{}).at(0.5); got != 0 {
		t.Errorf("of no calls: %v", got)
	}
}

func TestFlows_AreCounted(t *testing.T) {
	t.Parallel()
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := flows(t.Context(), r, ""); err != nil {
		t.Fatal(err)
	}
	for _, f := range cost.Flows {
		if r.known[f.Name+"_reads"] == 0 {
			t.Errorf("%s: nothing was read", f.Name)
		}
		if got := r.known[f.Name+"_transactions_that_write"]; got != float64(f.Commits) {
			t.Errorf("%s: %v transactions that write, want %d", f.Name, got, f.Commits)
		}
	}
	if each, listings := r.known["each_unrelated_change_reads"], r.known["listings_of_1000_pushes_in_a_second"]; each != 0 || listings > 2 {
		t.Errorf("%v reads for each unrelated change, %v listings", each, listings)
	}
}

func TestAPage_IsReadAndDecided(t *testing.T) {
	t.Parallel()
	body, err := recordPage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
	defer server.Close()
	if err := decide(t.Context(), server); err != nil {
		t.Error(err)
	}
}

func TestASweep_ListsEachCalendarOnce(t *testing.T) {
	t.Parallel()
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := sweepOf(t.Context(), r, t.TempDir(), 120); err != nil {
		t.Fatal(err)
	}
	if err := upcomingOf(t.Context(), r, t.TempDir(), 40); err != nil {
		t.Fatal(err)
	}
	if got := r.known["upcoming_listings"]; got < 38*4+2*97 || got > 40*4+2*110 { // six hours, and fourteen minutes
		t.Errorf("%v listings a day", got)
	}
	if got := r.known["sweep_listings"]; got != 120 {
		t.Errorf("%v listings for 120 calendars", got)
	}
}

func TestTransitions_MoveOnSQLite(t *testing.T) {
	t.Parallel()
	r := &report{out: io.Discard, known: map[string]float64{"sqlite_transactions_1_writer": 1, "sqlite_transactions_64_writers": 1}}
	if err := transitions(t.Context(), r, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if one, many := r.known["transitions_1_at_once"], r.known["transitions_64_at_once"]; one <= 0 || many <= 0 {
		t.Errorf("%v and %v transitions a second", one, many)
	}
}

func TestPushes_AreAcknowledged(t *testing.T) {
	t.Parallel()
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := pushes(t.Context(), r, t.TempDir(), 1, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := r.known["push_acknowledged_p50"]; got <= 0 {
		t.Errorf("a push is acknowledged after %v ms", got)
	}
}

func TestLinking_ListsOnceAndMirrorsTheWindow(t *testing.T) {
	t.Parallel()
	const events = 300
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := linking(r, "memory", events, mirrortest.Options{}); err != nil {
		t.Fatal(err)
	}
	if mirrors, inserts := r.known["linking_memory_mirrors"], r.known["linking_memory_inserts"]; mirrors != events || inserts != events {
		t.Errorf("%v mirrors by %v inserts, want %d", mirrors, inserts, events)
	}
	if pages := r.known["linking_memory_listings"]; pages != 3 { // two of work, one of home
		t.Errorf("%v pages were listed, want 3", pages)
	}
}

func TestMappings_AreLoadedWhole(t *testing.T) {
	t.Parallel()
	const people = 300
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := loads(t.Context(), r, t.TempDir(), people); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mappings_sheet", "mappings_file"} {
		if took, stored := r.known[name+"_loaded"], r.known[name+"_stored"]; took <= 0 || stored <= 0 {
			t.Errorf("%s: %v ms, %v KiB", name, took, stored)
		}
	}
	rows := mappedRows(people)
	short := mappings.Sheet{ID: sheetID, Client: func(context.Context) (*http.Client, error) { return nil, io.ErrUnexpectedEOF }}
	if load(t.Context(), r, "none", short, people) == nil {
		t.Error("a load that failed was measured")
	}
	file, err := writeMappings(t.TempDir(), rows[:people])
	if err != nil {
		t.Fatal(err)
	}
	if load(t.Context(), r, "few", file, people) == nil {
		t.Error("a load that lacks a row was measured")
	}
}

func TestPushesOfMany_EachStartTheSyncOfAnother(t *testing.T) {
	t.Parallel()
	r := &report{out: io.Discard, known: map[string]float64{}}
	if err := pushesOf(t.Context(), r, t.TempDir(), 300, 100); err != nil {
		t.Fatal(err)
	}
	if r.known["push_starts_sync_300_p50"] == 0 || r.known["push_starts_sync_300_p99"] == 0 {
		t.Errorf("measured %v", r.known)
	}
}

func TestGrowth_OfAFigure_IsItsExponent(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ first, last, want float64 }{{1, 1_000, 1}, {2, 2, 0}, {3, 300, 2.0 / 3}, {1, 1e6, 2}} {
		if got := growth(row.first, row.last); math.Abs(got-row.want) > 1e-9 {
			t.Errorf("from %v to %v: %v, want %v", row.first, row.last, got, row.want)
		}
	}
}

func TestOfSize_MeasuresAFileAsAStartOpensIt(t *testing.T) {
	t.Parallel()
	measured, err := ofSize(t.Context(), filepath.Join(t.TempDir(), "data.db"), 40)
	if err != nil {
		t.Fatal(err)
	}
	for _, figure := range sizedFigures {
		if value, is := measured[figure.name]; !is || figure.name != "heap" && value <= 0 {
			t.Errorf("%s is %v", figure.name, value)
		}
	}
}
