package google_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/oauth2"
	"google.golang.org/api/option"
	"google.golang.org/api/sheets/v4"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
)

const (
	sheetID  = "sheet-1"
	mappings = "User Mappings"
)

// newSheet is a world with a spreadsheet of gm's that ana may read.
func newSheet(t *testing.T, opt google.Options) *world {
	t.Helper()
	w := newWorld(t, opt)
	err := w.sim.AddSheet(google.Sheet{
		ID: sheetID,
		Tabs: map[string][][]string{
			mappings: {{"Primary", "Secondary", "Status", "Note"}, {"a", "b", "", "n"}, nil, {"", "c"}, {"", "", ""}, nil},
			"Empty":  {},
		},
		Roles: map[string]google.Role{"GM@example.test": google.Owner, "ana@example.test": google.Reader},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// sheets is the real client, by a grant of the scopes. Each answer is held against the
// API's description.
func (w *world) sheets(key string, scopes ...string) *sheets.SpreadsheetsValuesService {
	w.t.Helper()
	grant := must(w.sim.NewGrant(key, scopes...))(w.t)
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: grant.AccessToken})
	client := &http.Client{Transport: &oauth2.Transport{Source: source, Base: described{w.t}}}
	service := must(sheets.NewService(w.t.Context(), option.WithEndpoint(w.url), option.WithHTTPClient(client)))(w.t)
	return service.Spreadsheets.Values
}

func TestValues_Range_IsShownWithoutEmptyEnds(t *testing.T) {
	t.Parallel()
	w := newSheet(t, testOptions())
	values := w.sheets("ana", google.ScopeSheetsReadonly)
	for _, row := range []struct{ asked, shown, cells string }{
		{"User Mappings!A2:C", "'User Mappings'!A2:C1000", `[["a","b"],[],["","c"]]`},
		{"'User Mappings'!A2:C", "'User Mappings'!A2:C1000", `[["a","b"],[],["","c"]]`},
		{"User Mappings!A:B", "'User Mappings'!A1:B1000", `[["Primary","Secondary"],["a","b"],[],["","c"]]`},
		{"User Mappings!b2:d4", "'User Mappings'!B2:D4", `[["b","","n"],[],["c"]]`},
		{"User Mappings!D1", "'User Mappings'!D1:D1", `[["Note"]]`},
		{"User Mappings", "'User Mappings'!A1:Z1000", `[["Primary","Secondary","Status","Note"],["a","b","","n"],[],["","c"]]`},
		{"User Mappings!A5:C", "'User Mappings'!A5:C1000", `null`},
		{"User Mappings!A2000:C", "'User Mappings'!A2000:C2000", `null`},
		{"Empty!A2:C", "Empty!A2:C1000", `null`},
	} {
		got := must(values.Get(sheetID, row.asked).Do())(t)
		text, err := json.Marshal(got.Values)
		if err != nil || string(text) != row.cells || got.Range != row.shown || got.MajorDimension != "ROWS" {
			t.Errorf("%s: %s %s %v, want %s %s", row.asked, got.Range, text, err, row.shown, row.cells)
		}
	}
}

func TestValues_BadRequests_AreRefused(t *testing.T) {
	t.Parallel()
	w := newSheet(t, testOptions())
	for _, row := range []struct {
		user, scope, sheet, asked, says string
		status                          int
	}{
		{"ana", google.ScopeSheets, sheetID, "Mappings!A2:C", "Unable to parse range: Mappings!A2:C", 400},
		{"ana", google.ScopeSheets, sheetID, "A2:C", "Unable to parse range: A2:C", 400},
		{"ana", google.ScopeSheets, sheetID, "User Mappings!2A", "Unable to parse range: User Mappings!2A", 400},
		{"ana", google.ScopeSheets, sheetID, "User Mappings!C2:A", "Unable to parse range: User Mappings!C2:A", 400},
		{"ana", google.ScopeSheets, "sheet-2", "User Mappings!A2:C", "Requested entity was not found.", 404},
		{"ben", google.ScopeSheets, sheetID, "User Mappings!A2:C", "The caller does not have permission", 403},
		{"ana", google.ScopeEvents, sheetID, "User Mappings!A2:C", "Request had insufficient authentication scopes.", 403},
	} {
		_, err := w.sheets(row.user, row.scope).Get(row.sheet, row.asked).Do()
		if want := fmt.Sprintf("googleapi: Error %d: %s", row.status, row.says); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s by %s: %v, want %s", row.asked, row.user, err, want)
		}
	}
	_, err := w.sheets("gm", google.ScopeSheetsReadonly).Update(sheetID, "User Mappings!A2", &sheets.ValueRange{}).ValueInputOption("RAW").Do()
	if err == nil || !strings.Contains(err.Error(), "ACCESS_TOKEN_SCOPE_INSUFFICIENT") {
		t.Errorf("a write with the scope to read: %v", err)
	}
}

func TestValues_Update_WritesWhatItNames(t *testing.T) {
	t.Parallel()
	opt := google.Options{Sequential: true, Dir: t.TempDir()}
	w := newSheet(t, opt)
	values := w.sheets("gm", google.ScopeSheets)
	written := must(values.Update(sheetID, "User Mappings!A2:C", &sheets.ValueRange{
		Values: [][]any{{"x", nil, true}, {}, {2.5, ""}, {}, {"last"}},
	}).ValueInputOption("RAW").Do())(t)
	if written.UpdatedRange != "'User Mappings'!A2:C6" || written.UpdatedRows != 5 || written.UpdatedColumns != 3 ||
		written.UpdatedCells != 5 {
		t.Errorf("written is %+v", written)
	}
	want := [][]any{{"x", "b", "TRUE"}, {}, {"2.5"}, {}, {"last"}}
	for restarted, w := range []*world{w, newWorld(t, opt)} {
		got := must(w.sheets("ana", google.ScopeSheetsReadonly).Get(sheetID, "User Mappings!A2:C").Do())(t)
		if !reflect.DeepEqual(got.Values, want) {
			t.Errorf("restarted %d: %v, want %v", restarted, got.Values, want)
		}
	}
	for name, row := range map[string]struct {
		user, asked, option string
		values              [][]any
		status              int
	}{
		"a reader":        {"ana", "User Mappings!A2", "RAW", [][]any{{"y"}}, 403},
		"too wide":        {"gm", "User Mappings!A2:C", "RAW", [][]any{{"1", "2", "3", "4"}}, 400},
		"too long":        {"gm", "User Mappings!A2", "RAW", [][]any{{"1"}, {"2"}}, 400},
		"a cell of cells": {"gm", "User Mappings!A2", "RAW", [][]any{{[]string{"1"}}}, 400},
		"no input option": {"gm", "User Mappings!A2", "", [][]any{{"y"}}, 400},
	} {
		call := w.sheets(row.user, google.ScopeSheets).Update(sheetID, row.asked, &sheets.ValueRange{Values: row.values})
		if row.option != "" {
			call.ValueInputOption(row.option)
		}
		if _, err := call.Do(); err == nil || !strings.Contains(err.Error(), fmt.Sprint("Error ", row.status)) {
			t.Errorf("%s: %v, want %d", name, err, row.status)
		}
	}
	if got := must(values.Get(sheetID, "User Mappings!A2:C").Do())(t); !reflect.DeepEqual(got.Values, want) {
		t.Errorf("after refusals: %v, want %v", got.Values, want)
	}
}

func TestValues_FaultsAndQuota_AreAnswered(t *testing.T) {
	t.Parallel()
	w := newSheet(t, testOptions())
	values := w.sheets("ana", google.ScopeSheetsReadonly)
	get := func() error {
		_, err := values.Get(sheetID, "User Mappings!A2:C").Do()
		return err
	}
	for _, status := range []int{400, 401, 403, 404, 429, 500, 503} {
		w.plant(control.Rule{Match: "spreadsheets.values.get", Status: status, Times: 1})
		if err := get(); err == nil || !strings.Contains(err.Error(), fmt.Sprint("Error ", status)) {
			t.Errorf("planted %d: %v", status, err)
		}
	}
	w.control("quota", `{"sheets":2,"per_person":1}`)
	for range 2 {
		if err := get(); err != nil {
			t.Error(err)
		}
	}
	if err := get(); err == nil || !strings.Contains(err.Error(), "Error 429") {
		t.Errorf("beyond the quota: %v", err)
	}
	must(w.as("ana").Events.List("primary").Do())(t) // its quota is another
	if n := w.sim.Control().Calls()["spreadsheets.values.get"]; n != 10 {
		t.Errorf("%d calls are counted, want 10", n)
	}
}

func TestSheetsControl_Changes_WhatItNames(t *testing.T) {
	t.Parallel()
	w := newSheet(t, testOptions())
	before := w.sim.Changes()
	put := func(path, body string, want int) string {
		t.Helper()
		status, _, text := w.curl("", "PUT", "/_sim/sheets/"+path, body)
		if status != want {
			t.Errorf("%s: %d %s, want %d", body, status, text, want)
		}
		return text
	}
	put(sheetID, `{"tabs":{"Empty":null,"User Mappings":[["h"],["x"]]},"roles":{"ana@example.test":"none","Ben@example.test":"reader"}}`, 200)
	if w.sim.Changes() == before {
		t.Error("no change is counted")
	}
	_, _, text := w.curl("", "GET", "/_sim/sheets/"+sheetID, "")
	if want := `{"tabs":{"User Mappings":[["h"],["x"]]},"roles":{"ben@example.test":"reader","gm@example.test":"owner"}}`; text != want {
		t.Errorf("it is %s, want %s", text, want)
	}
	put("other", `{"tabs":{"T":[["x"]]},"roles":{"gm@example.test":"owner"}}`, 200)
	put(sheetID, `{"roles":{"ana@example.test":"king"}}`, 400)
	put(sheetID, `{"tab":{}}`, 400)
	if status, _, _ := w.curl("", "GET", "/_sim/sheets/never", ""); status != 404 {
		t.Errorf("an unknown one: %d", status)
	}
	if err := w.sim.AddSheet(google.Sheet{ID: "other"}); err != nil {
		t.Fatal(err)
	}
	if _, _, text := w.curl("", "GET", "/_sim/sheets/other", ""); !strings.Contains(text, `[["x"]]`) {
		t.Errorf("AddSheet changed one that was there: %s", text)
	}
	if w.sim.AddSheet(google.Sheet{}) == nil {
		t.Error("a spreadsheet without an id was made")
	}
}
