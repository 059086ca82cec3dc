package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"questscheduler/api"
	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/fault"
	"questscheduler/scheduler"
)

// sheet is the source of second addresses, whose rows a test sets.
type sheet struct {
	rows [][]string
	err  error
}

func (s *sheet) Rows(context.Context) ([][]string, error) { return s.rows, s.err }
func (s *sheet) String() string                           { return "the test's sheet" }

// set gives the sheet rows of people with an address in each domain.
func (s *sheet) set(people ...string) {
	s.rows = nil
	for _, name := range people {
		s.rows = append(s.rows, []string{name + "@north.example", name + "@south.example", ""})
	}
}

// openMappings has second addresses in a sheet.
func (w *world) openMappings(options *api.Options) api.Mappings {
	w.sheet = &sheet{}
	w.sheet.set("ana", "ben", "cho")
	return &mappings.Service{
		Store: w.changes, Guests: &attendees.Service{Store: w.changes, Now: options.Now}, Source: w.sheet,
		Domains: []string{"north.example"}, Accounts: w.linked, Delegated: true,
		Follow: func(context.Context, string, string, scheduler.Cause) error { return nil }, Now: options.Now, Log: options.Log,
	}
}

type reloadedJSON struct {
	Version       string
	Mappings      int
	WithoutAccess int `json:"without_access"`
	Skipped       []struct {
		Row    int
		Reason string
	}
	SkippedCount int        `json:"skipped_count"`
	LoadedAt     *time.Time `json:"loaded_at"`
	Held         *struct {
		Version         string
		Lost, Added, Of int
	}
}

const pathReload = "/admin/reload-mappings"

func TestReloadMappings_ShowsWhatIsInUseAndSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newStillClock().on)
	w.sheet.rows = append(w.sheet.rows, []string{"dan@elsewhere.example", "dan@south.example", ""})
	var answer reloadedJSON
	w.want(200, call{as: "admin", method: "POST", path: pathReload}, &answer)
	if answer.Version == "" || answer.Mappings != 3 || answer.WithoutAccess != 0 || answer.Held != nil ||
		answer.LoadedAt == nil || !answer.LoadedAt.Equal(begin) {
		t.Errorf("the answer is %+v", answer)
	}
	if answer.SkippedCount != 1 || len(answer.Skipped) != 1 || answer.Skipped[0].Row != 5 || answer.Skipped[0].Reason == "" {
		t.Errorf("skipped rows: %+v", answer.Skipped)
	}
}

func TestReloadMappings_AVersionThatLacksMuch_IsConfirmedByItsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newStillClock().on)
	var first, held, other, last reloadedJSON
	w.want(200, call{as: "admin", method: "POST", path: pathReload}, &first)
	w.sheet.set("ana")
	w.want(200, call{as: "admin", method: "POST", path: pathReload}, &held)
	if held.Held == nil || held.Held.Lost != 2 || held.Held.Of != 3 || held.Version != first.Version || held.Mappings != 3 {
		t.Fatalf("the answer is %+v", held)
	}
	confirm := func(version string) call {
		return call{as: "admin", method: "POST", path: pathReload, body: map[string]any{"confirm": version}}
	}
	if refused := w.want(409, confirm(first.Version), nil); !strings.Contains(refused.Error.Message, held.Held.Version) {
		t.Errorf("the refusal names no version: %s", refused.text)
	}
	w.want(200, call{as: "admin", method: "POST", path: pathReload}, &other)
	if other.Version != first.Version {
		t.Error("a wrong confirmation took effect")
	}
	w.want(200, confirm(held.Held.Version), &last)
	if last.Version != held.Held.Version || last.Mappings != 1 || last.Held != nil {
		t.Errorf("the answer is %+v", last)
	}
	w.want(409, confirm(first.Version), nil)
}

func TestReloadMappings_AVersionThatAddsMuch_IsConfirmedByItsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, newStillClock().on)
	var first, held, last reloadedJSON
	w.want(200, call{as: "admin", method: "POST", path: pathReload}, &first)
	w.sheet.set("ana", "ben", "cho", "a", "b", "c", "d", "e", "f")
	w.want(200, call{as: "admin", method: "POST", path: pathReload}, &held)
	if held.Held == nil || held.Held.Lost != 0 || held.Held.Added != 6 || held.Held.Of != 3 || held.Version != first.Version ||
		held.Mappings != 3 {
		t.Fatalf("the answer is %+v", held)
	}
	w.want(200, call{as: "admin", method: "POST", path: pathReload, body: map[string]any{"confirm": held.Held.Version}}, &last)
	if last.Version != held.Held.Version || last.Mappings != 9 || last.Held != nil {
		t.Errorf("the answer is %+v", last)
	}
}

func TestReloadMappings_ASheetThatCannotBeRead_IsExplained(t *testing.T) {
	t.Parallel()
	for kind, status := range map[fault.Kind]int{
		fault.NotFound: 409, fault.Invalid: 409, fault.Forbidden: 409, fault.Revoked: 409, fault.Unavailable: 503,
	} {
		w := newWorld(t, newStillClock().on)
		w.sheet.err = fault.New(kind, "The tab User Mappings is missing.")
		if got := w.want(
			status, call{as: "admin", method: "POST", path: pathReload}, nil,
		); !strings.Contains(got.Error.Message, "The tab User Mappings is missing.") {
			t.Errorf("%s: %s", kind, got.text)
		}
	}
}

func TestReloadMappings_FailedLoad_SaysWhatStaysInUse(t *testing.T) {
	t.Parallel()
	clock := newStillClock()
	w := newWorld(t, clock.on)
	reload := call{as: "admin", method: "POST", path: pathReload}
	w.sheet.err = fault.New(fault.Unavailable, "Google Sheets does not answer.")
	if got := inUse(t, w.want(503, reload, nil)); got.Mappings != 0 || got.LoadedAt != nil || got.Failures != 1 {
		t.Errorf("before the first load: %+v", got)
	}
	w.sheet.err = nil
	w.sheet.rows = append(w.sheet.rows, []string{"dan@elsewhere.example", "dan@south.example", ""})
	var first reloadedJSON
	w.want(200, reload, &first)
	loaded := *first.LoadedAt
	clock.advance(time.Hour)
	w.sheet.err = fault.New(fault.NotFound, "The tab User Mappings is missing.")
	w.want(409, reload, nil)
	got := inUse(t, w.want(409, reload, nil))
	if got.Version != first.Version || got.Mappings != 3 || got.Failures != 2 || got.SkippedCount != 1 ||
		!got.LoadedAt.Equal(loaded) || !got.TriedAt.Equal(loaded.Add(time.Hour)) {
		t.Errorf("after a failure: %+v, first %+v", got, first)
	}
}

type inUseJSON struct {
	Version      string
	Mappings     int
	LoadedAt     *time.Time `json:"loaded_at"`
	TriedAt      *time.Time `json:"tried_at"`
	Failures     int
	SkippedCount int `json:"skipped_count"`
}

// inUse is what an error says of the mappings that stay in use.
func inUse(t *testing.T, got answer) inUseJSON {
	t.Helper()
	var body struct {
		Error struct{ Detail struct{ Mappings *inUseJSON } }
	}
	must(t, json.Unmarshal([]byte(got.text), &body))
	if body.Error.Detail.Mappings == nil {
		t.Fatalf("the answer says nothing of the mappings: %s", got.text)
	}
	return *body.Error.Detail.Mappings
}

func TestReloadMappings_WithoutSecondAddresses_SaysHowToHaveThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *setup) { s.withoutMappings = true })
	if got := w.want(
		503, call{as: "admin", method: "POST", path: pathReload}, nil,
	); !strings.Contains(got.Error.Message, "QS_ATTENDEES_SHEET") {
		t.Errorf("the answer is %s", got.text)
	}
}
