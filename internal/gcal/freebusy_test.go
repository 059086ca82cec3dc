package gcal_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
)

func TestFreeBusy_AnswersForEachCalendar(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	w.insertContent(t, "abcde1", evening())
	free := days()
	w.insertContent(t, "abcde2", free) // transparent
	got, err := w.client.FreeBusy(
		t.Context(), "gm", []string{"gm@example.test", "primary", "ana@example.test"}, noon.Add(time.Hour),
		noon.AddDate(0, 0, 30),
	)
	if err != nil || len(got) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	want := []gcal.Interval{{Start: noon.Add(time.Hour), End: noon.Add(2 * time.Hour)}}
	for _, id := range []string{"gm@example.test", "primary"} {
		if got[id].Err != nil || !slices.Equal(got[id].Busy, want) {
			t.Errorf("%s: %+v", id, got[id])
		}
	}
	if other := got["ana@example.test"]; !fault.Is(other.Err, fault.NotFound) || other.Busy != nil {
		t.Errorf("a stranger's: %+v", other)
	}
}

func TestFreeBusy_WhatCannotBeRead_IsUnknownAndNotFree(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]fault.Kind{
		`{"calendars":{"a":{"errors":[{"domain":"global","reason":"notFound"}],"busy":[]}}}`:           fault.NotFound,
		`{"calendars":{"a":{"errors":[{"domain":"global","reason":"internalError"}]}}}`:                fault.Unavailable,
		`{"calendars":{"a":{"errors":[{"domain":"global","reason":"tooManyCalendarsRequested"}]}}}`:    fault.Provider,
		`{"calendars":{"a":{"errors":[null]}}}`:                                                        fault.Unavailable,
		`{"calendars":{"a":{"busy":[{"start":"2026-03-01T12:00:00Z","end":"soon"}]}}}`:                 fault.Unavailable,
		`{"calendars":{"a":{"busy":[{"start":"2026-03-01T12:00:00Z","end":"2026-03-01T11:00:00Z"}]}}}`: fault.Unavailable,
		`{"calendars":{"a":{"busy":[null]}}}`:                                                          fault.Unavailable,
		`{"calendars":{"b":{"busy":[]}}}`:                                                              fault.Unavailable,
		`{}`:                                                                                           fault.Unavailable,
	} {
		client := scripted(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(answer))
		})
		got, err := client.FreeBusy(t.Context(), "gm", []string{"a"}, noon, noon.Add(time.Hour))
		if err != nil || !fault.Is(got["a"].Err, want) || len(got["a"].Busy) > 0 {
			t.Errorf("%s: %+v, %v, want %v", answer, got, err, want)
		}
	}
}

func TestFreeBusy_BeyondGooglesLimits_IsInvalid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	for name, ask := range map[string]func(ctx context.Context) error{
		"calendars": func(ctx context.Context) error {
			_, err := w.client.FreeBusy(ctx, "gm", make([]string, 51), noon, noon.Add(time.Hour))
			return err
		},
		"range": func(ctx context.Context) error {
			_, err := w.client.FreeBusy(ctx, "gm", []string{"primary"}, noon, noon.Add(gcal.MaxFreeBusyRange+time.Second))
			return err
		},
		"nothing": func(ctx context.Context) error {
			_, err := w.client.FreeBusy(ctx, "gm", []string{"primary"}, noon, noon)
			return err
		},
	} {
		if err := ask(t.Context()); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.client.FreeBusy(t.Context(), "gm", []string{"primary"}, noon, noon.Add(gcal.MaxFreeBusyRange)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}

// What an account was not asked for yet costs it that feature alone.
func TestFeatures_WithoutTheirScope_SayWhatToDo(t *testing.T) {
	t.Parallel()
	refused := 0
	w := newWorld(t, gcal.Options{Refused: func(context.Context, string, *http.Client) error { refused++; return nil }})
	grant, err := w.sim.NewGrant("gm", google.ScopeEvents)
	if err != nil {
		t.Fatal(err)
	}
	w.grants["gm"] = grant
	for _, name := range []string{"free busy", "insert calendar"} {
		wantKind(t, calls[name](t.Context(), w.client), fault.Forbidden, gcal.CodeScopeMissing)
	}
	if _, err := w.client.InsertContent(t.Context(), mine, "abcde1", evening(), nil); err != nil || refused != 0 {
		t.Errorf("what it may do: %v; the grant was refused %d times", err, refused)
	}
}

// Google takes no id for a calendar, so one whose answer was lost is found by its mark.
func TestInsertCalendar_AfterALostAnswer_IsFoundByItsDescription(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gcal.Options{})
	wanted := gcal.NewCalendar{Summary: "External Busy", Description: "mark 1", TimeZone: "Europe/Zurich"}
	if err := w.sim.Control().Plant(control.Rule{Match: "calendars.insert", LostAnswer: true, Times: 1}); err != nil {
		t.Fatal(err)
	}
	_, err := w.client.InsertCalendar(t.Context(), "gm", wanted)
	wantKind(t, err, fault.Unavailable, "")
	entries, err := w.client.Calendars(t.Context(), "gm")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(entries, func(e gcal.CalendarEntry) bool { return e.Description == wanted.Description })
	if len(entries) != 2 || at < 0 {
		t.Fatalf("listed: %+v", entries)
	}
	found := entries[at]
	if found.Summary != wanted.Summary || found.TimeZone != wanted.TimeZone || !found.Writable || found.Primary {
		t.Errorf("found %+v", found)
	}
	if _, err := w.client.InsertContent(t.Context(), gcal.Ref{Account: "gm", Calendar: found.ID}, "abcde1", evening(), nil); err != nil {
		t.Error(err)
	}
	other, err := w.client.InsertCalendar(t.Context(), "gm", wanted)
	if err != nil || other == "" || other == found.ID {
		t.Errorf("another one is %q, %v", other, err)
	}
}
