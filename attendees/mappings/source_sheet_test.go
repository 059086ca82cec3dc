package mappings_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"questscheduler/attendees/mappings"
	simulator "questscheduler/demo/sim/google"
	"questscheduler/fault"
)

const sheetID = "1AbC_sheet-id"

// sheetWorld is a simulator behind a real server, with a person and a spreadsheet.
type sheetWorld struct {
	t   *testing.T
	sim *simulator.Server
	url string
}

func newSheetWorld(t *testing.T, rows [][]string) *sheetWorld {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Sequential: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.AddUser(simulator.User{Key: "ann", Sub: "1", Email: "ann@hoge.test"}); err != nil {
		t.Fatal(err)
	}
	err = sim.AddSheet(simulator.Sheet{
		ID: sheetID, Tabs: map[string][][]string{mappings.Tab: rows},
		Roles: map[string]simulator.Role{"ann@hoge.test": simulator.Reader},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := sim.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &sheetWorld{t: t, sim: sim, url: server.URL}
}

// sheet is the source, by a grant of ann's.
func (w *sheetWorld) sheet(scopes ...string) mappings.Sheet {
	w.t.Helper()
	grant, err := w.sim.NewGrant("ann", scopes...)
	if err != nil {
		w.t.Fatal(err)
	}
	return mappings.Sheet{
		ID: sheetID, Endpoint: w.url, Client: clientBy(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: grant.AccessToken})),
	}
}

func clientBy(source oauth2.TokenSource) func(context.Context) (*http.Client, error) {
	return func(context.Context) (*http.Client, error) {
		return &http.Client{Transport: &oauth2.Transport{Source: source}}, nil
	}
}

func TestSheet_Rows_AreThoseBelowTheHeader(t *testing.T) {
	t.Parallel()
	w := newSheetWorld(t, [][]string{
		{"Primary", "Secondary", "Status", "Note"}, {"ann@hoge.test", "ann@fuga.test, ann@baz.test", "active", "x"}, nil,
		{"bob@hoge.test", "bob"}, nil,
	})
	rows, err := w.sheet(simulator.ScopeSheetsReadonly).Rows(t.Context())
	want := [][]string{{"ann@hoge.test", "ann@fuga.test, ann@baz.test", "active"}, nil, {"bob@hoge.test", "bob"}}
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Fatalf("%q, %v", rows, err)
	}
	table, skipped, err := mappings.Parse(rows, []string{"hoge.test"}, mappings.Table{})
	if err != nil || table.Len() != 1 || len(skipped) != 1 || skipped[0].Row != 4 {
		t.Errorf("%v, %v, %v", table.Mappings(), skipped, err)
	}
}

func TestSheet_OfAServiceAccount_IsReadWhenShared(t *testing.T) {
	t.Parallel()
	const robot = "robot@project.iam.gserviceaccount.test"
	w := newSheetWorld(t, [][]string{{"Primary"}, {"ann@hoge.test"}})
	key, err := w.sim.AddServiceAccount(simulator.ServiceAccount{Email: robot})
	if err != nil {
		t.Fatal(err)
	}
	config, err := google.JWTConfigFromJSON(key, simulator.ScopeSheetsReadonly)
	if err != nil {
		t.Fatal(err)
	}
	config.TokenURL = w.url + "/token"
	sheet := mappings.Sheet{ID: sheetID, Endpoint: w.url + "/", Client: clientBy(config.TokenSource(t.Context()))}
	if _, err := sheet.Rows(t.Context()); !fault.Is(err, fault.Forbidden) {
		t.Errorf("before it is shared: %v", err)
	}
	if err := w.sim.ChangeSheet(simulator.Sheet{ID: sheetID, Roles: map[string]simulator.Role{robot: simulator.Reader}}); err != nil {
		t.Fatal(err)
	}
	if rows, err := sheet.Rows(t.Context()); err != nil || len(rows) != 1 {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestSheet_OfTheSimulator_SaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change simulator.Sheet
		scope  string
		id     string
		kind   fault.Kind
		says   string
	}{
		"no tab": {
			change: simulator.Sheet{Tabs: map[string][][]string{mappings.Tab: nil, "Sheet1": {{"x"}}}}, kind: fault.Invalid,
			says: `no tab named "User Mappings"`,
		},
		"no access": {
			change: simulator.Sheet{Roles: map[string]simulator.Role{"ann@hoge.test": simulator.NoAccess}}, kind: fault.Forbidden,
			says: "share the spreadsheet with its e-mail address",
		},
		"no scope": {scope: simulator.ScopeEvents, kind: fault.Forbidden, says: `link it again with the feature "sheets"`},
		"no sheet": {id: "never", kind: fault.NotFound, says: "set QS_ATTENDEES_SHEET"},
	} {
		w := newSheetWorld(t, [][]string{{"Primary"}, {"ann@hoge.test"}})
		test.change.ID = sheetID
		if err := w.sim.ChangeSheet(test.change); err != nil {
			t.Fatal(err)
		}
		if test.scope == "" {
			test.scope = simulator.ScopeSheetsReadonly
		}
		sheet := w.sheet(test.scope)
		if test.id != "" {
			sheet.ID = test.id
		}
		rows, err := sheet.Rows(t.Context())
		if rows != nil || !fault.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
}

func TestSheet_HeaderOnly_HasNoRows(t *testing.T) {
	t.Parallel()
	w := newSheetWorld(t, [][]string{{"Primary", "Secondary", "Status"}})
	rows, err := w.sheet(simulator.ScopeSheetsReadonly).Rows(t.Context())
	if err != nil || len(rows) != 0 {
		t.Fatalf("%q, %v", rows, err)
	}
	if _, _, err := mappings.Parse(rows, []string{"hoge.test"}, mappings.Table{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("parsed: %v", err)
	}
}

// answering is a sheet at a server that gives one answer to all.
func answering(t *testing.T, handler http.HandlerFunc) mappings.Sheet {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return mappings.Sheet{
		ID: sheetID, Endpoint: server.URL, Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
		Client: func(context.Context) (*http.Client, error) { return server.Client(), nil },
	}
}

func TestSheet_Refusals_HaveAKindAndASentence(t *testing.T) {
	t.Parallel()
	const secret = "never-shown"
	info := func(reason string) string {
		return `,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + reason + `"}]`
	}
	for name, test := range map[string]struct {
		status int
		more   string
		header string
		kind   fault.Kind
		says   string
		wait   time.Duration
	}{
		"an Excel file": {
			400, `,"message":"This operation is not supported for this document"`, "", fault.Invalid, "no Google Sheet", 0,
		},
		"another bad request":     {400, "", "", fault.Provider, "refuses to show", 0},
		"a dead grant":            {401, "", "", fault.Revoked, "link it again", 0},
		"the API is off":          {403, info("SERVICE_DISABLED"), "", fault.Forbidden, "enable it there", 0},
		"the API is off, as old":  {403, `,"errors":[{"reason":"accessNotConfigured"}]`, "", fault.Forbidden, "enable it there", 0},
		"a rate, as old":          {403, `,"errors":[{"reason":"userRateLimitExceeded"}]`, "", fault.RateLimited, "slow down", 0},
		"a rate":                  {429, info("RATE_LIMIT_EXCEEDED"), "17", fault.RateLimited, "slow down", 17 * time.Second},
		"a rate until a time":     {429, "", "Sun, 01 Mar 2026 12:01:00 GMT", fault.RateLimited, "slow down", time.Minute},
		"a rate without a wait":   {429, "", "", fault.RateLimited, "slow down", 0},
		"a time-out":              {408, "", "", fault.Unavailable, "did not answer", 0},
		"a broken server":         {500, "", "", fault.Unavailable, "did not answer", 0},
		"a server that is busy":   {503, "", "60", fault.Unavailable, "did not answer", time.Minute},
		"something else entirely": {418, "", "", fault.Provider, "refuses to show", 0},
	} {
		sheet := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if test.header != "" {
				w.Header().Set("Retry-After", test.header)
			}
			w.WriteHeader(test.status)
			fmt.Fprintf(w, `{"error":{"code":%d,"status":"%s"%s}}`, test.status, secret, test.more)
		})
		rows, err := sheet.Rows(t.Context())
		if rows != nil || !fault.Is(err, test.kind) || fault.RetryAfter(err) != test.wait || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v (%v, after %v)", name, err, fault.KindOf(err), fault.RetryAfter(err))
		}
		if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), sheetID)) {
			t.Errorf("%s shows Google's answer: %v", name, err)
		}
	}
}

func TestSheet_UnusableAnswers_AreErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		kind fault.Kind
	}{
		"no JSON":       {"<html>", fault.Unavailable},
		"cut":           {`{"values":[["a"]`, fault.Unavailable},
		"another shape": {`{"values":{"a":1}}`, fault.Unavailable},
		"null":          {`null`, fault.Unavailable},
		"too large":     {`{"values":[["` + strings.Repeat("x", 9<<20) + `"]]}`, fault.TooLarge},
	} {
		sheet := answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, test.body) })
		if rows, err := sheet.Rows(t.Context()); rows != nil || !fault.Is(err, test.kind) || strings.Contains(err.Error(), sheetID) {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
	gone := answering(t, nil)
	gone.Endpoint = "http://127.0.0.1:1"
	if _, err := gone.Rows(t.Context()); !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), sheetID) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestSheet_OtherThanTexts_AreShownAsTexts(t *testing.T) {
	t.Parallel()
	sheet := answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"values":[["a",null,true],[],[7.5]]}`) })
	rows, err := sheet.Rows(t.Context())
	if want := [][]string{{"a", "", "true"}, nil, {"7.5"}}; err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestSheet_WithoutAClient_PassesItsErrorOn(t *testing.T) {
	t.Parallel()
	sheet := answering(t, nil)
	sheet.Client = func(context.Context) (*http.Client, error) {
		return nil, &fault.Error{Kind: fault.Revoked, Code: "token_expired", Message: "link it again", RetryAfter: time.Minute}
	}
	if _, err := sheet.Rows(t.Context()); !fault.Is(err, fault.Revoked) || fault.CodeOf(err) != "token_expired" ||
		fault.RetryAfter(err) != time.Minute {
		t.Errorf("got %v", err)
	}
	if name := sheet.String(); !strings.Contains(name, sheetID) || !strings.Contains(name, mappings.Tab) {
		t.Errorf("its name is %s", name)
	}
}
