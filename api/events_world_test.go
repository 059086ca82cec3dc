package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"questscheduler/demo/sim/google"
	linked "questscheduler/internal/accounts"
	"questscheduler/mirrors"
	"questscheduler/mirrors/plan"
)

// teamCalendar is a calendar of ana's that gm may read.
const teamCalendar = "team@group.calendar.google.com"

// newWorkAccount links gm's second account, without the scope for overlay calendars.
func (w *world) newWorkAccount() string {
	w.t.Helper()
	account, err := w.linked.Link(w.t.Context(), "gm", linked.Identity{
		Provider: linked.Google, Sub: "sub-work", Email: "work@example.com",
	}, "refresh-work", []string{"openid", linked.ScopeEvents})
	must(w.t, err)
	return account.ID
}

func edge(from, to, detail, target string) map[string]any {
	return map[string]any{"from_account_id": from, "to_account_id": to, "detail": detail, "target": target}
}

func edgesOf(edges ...any) map[string]any {
	return map[string]any{"edges": append([]any{}, edges...)}
}

// Each row of bad input has a sentence and a code of its own, and nothing is written.
func TestBadInput_OfEventsAndPolicies_SaysWhatIsWrongAndWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gm, work, ana := w.newAccount("gm"), w.newWorkAccount(), w.newAccount("ana")
	must(t, w.google.AddCalendar(google.Calendar{ID: teamCalendar, Owner: "ana"}))
	must(t, w.google.Share(teamCalendar, "gm", google.Reader))
	first, second, anas := "/v1/policies/"+w.newPolicy("gm")+"/edges", "/v1/policies/"+w.newPolicy("gm")+"/edges",
		"/v1/policies/"+w.newPolicy("ana")+"/edges"
	w.want(200, call{as: "gm", method: "PUT", path: first, body: edgesOf(edge(gm, work, "BUSY", "primary"))}, nil)
	in := func(account, calendar string) map[string]any {
		asked := with(evening, "account_id", account)
		if calendar != "" {
			asked = with(asked, "calendar_id", calendar)
		}
		return asked
	}
	many := make([]any, 51)
	for i := range many {
		many[i] = edge(gm, work, "BUSY", "primary")
	}
	const events = "/v1/events?start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z"
	said := map[string]string{}
	for _, row := range []struct {
		name, method, path string
		body               any
		status             int
		code, reason, says string
	}{
		{"an unknown account", "POST", "/v1/events", in("acc_none", ""), 404, "NOT_FOUND", "", "account"},
		{
			"a calendar that may be read alone", "POST", "/v1/events", in(gm, teamCalendar), 403, "FORBIDDEN",
			mirrors.CodeNotWritable, "may not write",
		},
		{
			"an unknown calendar", "POST", "/v1/events", in(gm, "none@example.com"), 400, "VALIDATION_ERROR",
			mirrors.CodeUnknownCalendar, "calendar_id",
		},
		{
			"an end before the start", "POST", "/v1/events", with(in(gm, ""), "end_ts", "2026-03-10T10:00:00Z"), 400,
			"VALIDATION_ERROR", "", "end_ts",
		},
		{
			"a range that ends before it starts", "GET", "/v1/events?start=2026-03-02T00:00:00Z&end=2026-03-01T00:00:00Z", nil, 400,
			"VALIDATION_ERROR", "", "after start",
		},
		{
			"a range over 366 days", "GET", "/v1/events?start=2026-03-01T00:00:00Z&end=2027-03-02T00:00:01Z", nil, 400,
			"VALIDATION_ERROR", "", "366 days",
		},
		{
			"a range in the year 1", "GET", "/v1/events?start=0001-01-01T00:00:00Z&end=0001-02-01T00:00:00Z", nil, 400,
			"VALIDATION_ERROR", "", "1971",
		},
		{"a limit over 500", "GET", events + "&limit=501", nil, 400, "VALIDATION_ERROR", "", "500"},
		{"an unknown event", "GET", "/v1/events/evt_00000000000000000000000000", nil, 404, "NOT_FOUND", "", "no such event"},
		{
			"from an unknown account", "PUT", second, edgesOf(edge("acc_none", work, "BUSY", "primary")), 404, "NOT_FOUND",
			plan.CodeUnknownAccount, "from_account_id",
		},
		{
			"to another person's account", "PUT", second, edgesOf(edge(gm, ana, "BUSY", "primary")), 404, "NOT_FOUND",
			plan.CodeUnknownAccount, "to_account_id",
		},
		{"an edge to itself", "PUT", second, edgesOf(edge(gm, gm, "BUSY", "primary")), 400, "VALIDATION_ERROR", plan.CodeEdgeToItself, "itself"},
		{
			"an edge twice", "PUT", second, edgesOf(edge(gm, work, "BUSY", "primary"), edge(gm, work, "BUSY", "primary")), 400,
			"VALIDATION_ERROR", plan.CodeDuplicateEdge, "twice",
		},
		{
			"a contradiction within", "PUT", second, edgesOf(edge(work, gm, "BUSY", "primary"), edge(work, gm, "FULL", "primary")),
			409, "CONFLICT", plan.CodeContradiction, "Two edges",
		},
		{
			"a contradiction across policies", "PUT", second, edgesOf(edge(gm, work, "FULL", "primary")), 409, "CONFLICT",
			plan.CodeContradiction, "Another policy",
		},
		{"51 edges", "PUT", second, edgesOf(many...), 400, "VALIDATION_ERROR", "", "at most 50"},
		{
			"without the scope for an overlay", "PUT", second, edgesOf(edge(work, gm, "BUSY", "overlay")), 400, "VALIDATION_ERROR",
			linked.CodeScopesInsufficient, "external events",
		},
		{"another person's policy", "PUT", anas, edgesOf(), 404, "NOT_FOUND", "", "policy"},
	} {
		before := w.store.writes.Load()
		got := w.do(call{as: "gm", method: row.method, path: row.path, body: row.body})
		if got.status != row.status || got.Error.Code != row.code || got.Error.Detail.Reason != row.reason ||
			!strings.Contains(got.Error.Message, row.says) {
			t.Errorf("%s: answered %d %s", row.name, got.status, got.text)
		}
		if wrote := w.store.writes.Load() - before; wrote > 0 {
			t.Errorf("%s: it wrote %d documents", row.name, wrote)
		}
		if other, known := said[got.Error.Message]; known {
			t.Errorf("%s has the sentence of %s: %s", row.name, other, got.Error.Message)
		}
		said[got.Error.Message] = row.name
	}
	others := w.do(call{as: "gm", method: "POST", path: "/v1/events", body: in(ana, "")})
	if unknown := w.do(call{
		as: "gm", method: "POST", path: "/v1/events", body: in("acc_none", ""),
	}); others.status != 404 || others.Error.Message != unknown.Error.Message {
		t.Errorf("another person's account is answered %s, an unknown one %s", others.text, unknown.text)
	}
}

type policyJSON struct {
	ID, Name string
	Version  int
	Edges    []struct {
		From, To, Detail, Target string
		FromAccountID            string  `json:"from_account_id"`
		FromCalendarID           *string `json:"from_calendar_id"`
		ToAccountID              string  `json:"to_account_id"`
	}
}

func TestPolicies_AreMadeListedReadAndReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gm, work := w.newAccount("gm"), w.newWorkAccount()
	var made, set, got policyJSON
	w.want(http.StatusCreated, call{as: "gm", method: "POST", path: "/v1/policies", body: map[string]any{"name": "Both ways"}}, &made)
	if made.Name != "Both ways" || made.Version != 1 || made.Edges == nil || len(made.Edges) > 0 {
		t.Errorf("made is %+v", made)
	}
	put := call{
		as: "gm", method: "PUT", path: "/v1/policies/" + made.ID + "/edges",
		body: edgesOf(edge(gm, work, "BUSY", "primary"), edge(work, gm, "TITLE", "primary")),
	}
	w.want(200, put, &set)
	put.body = edgesOf(edge(work, gm, "FULL", "primary")) // replaces both
	w.want(200, put, &set)
	w.want(200, call{as: "gm", method: "GET", path: "/v1/policies/" + made.ID}, &got)
	for _, p := range []policyJSON{set, got} {
		if len(p.Edges) != 1 || p.Edges[0].FromAccountID != work || p.Edges[0].ToAccountID != gm || p.Edges[0].Detail != "FULL" ||
			p.Edges[0].FromCalendarID != nil || p.Version != 3 {
			t.Errorf("it is %+v", p)
		}
	}
	var all, anas struct{ Policies []policyJSON }
	w.want(200, call{as: "gm", method: "GET", path: "/v1/policies"}, &all)
	w.want(200, call{as: "ana", method: "GET", path: "/v1/policies"}, &anas)
	if len(all.Policies) != 1 || all.Policies[0].ID != made.ID || len(anas.Policies) != 0 {
		t.Errorf("gm lists %+v, ana %+v", all, anas)
	}
	for _, method := range []call{{method: "GET", path: "/v1/policies/" + made.ID}, {method: "PUT", path: put.path, body: edgesOf()}} {
		method.as = "ana"
		w.want(404, method, nil)
	}
	put.body = edgesOf()
	w.want(200, put, &set)
	if len(set.Edges) != 0 || set.Version != 4 {
		t.Errorf("without edges it is %+v", set)
	}
}

type eventJSON struct {
	ID      string  `json:"canonical_event_id"`
	Account *string `json:"origin_account_id"`
	Title   string
	Start   string `json:"start_ts"`
	End     string `json:"end_ts"`
	Source  string
	Version int
	Mirrors []any
}

func TestEvents_InPages_AreOneList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	account := w.newAccount("gm")
	for i := range 5 {
		asked := with(with(evening, "account_id", account), "title", fmt.Sprint("Event ", i))
		var made eventJSON
		w.want(http.StatusCreated, call{as: "gm", method: "POST", path: "/v1/events", body: asked}, &made)
		if made.Source != "api" || made.Version != 1 || made.Account == nil || *made.Account != account || made.Mirrors == nil {
			t.Errorf("made is %+v", made)
		}
	}
	const events = "/v1/events?start=2026-03-01T00:00:00Z&end=2026-04-01T00:00:00Z"
	pages := func(limit int) (titles []string, cursor string) {
		for next := ""; ; {
			var page struct{ Events []eventJSON }
			got := w.want(200, call{as: "gm", method: "GET", path: fmt.Sprint(events, "&limit=", limit, "&cursor=", next)}, &page)
			for _, event := range page.Events {
				titles = append(titles, event.ID+event.Title)
			}
			next = got.Meta.NextCursor
			if next == "" {
				return titles, cursor
			}
			cursor = next
		}
	}
	all, _ := pages(500)
	for _, limit := range []int{1, 2, 3, 5} {
		if got, _ := pages(limit); len(got) != 5 || !slices.Equal(got, all) {
			t.Errorf("in pages of %d: %q, want %q", limit, got, all)
		}
	}
	_, cursor := pages(2)
	for name, path := range map[string]string{
		"another range": "/v1/events?start=2026-03-02T00:00:00Z&end=2026-04-01T00:00:00Z", "another filter": events + "&status=confirmed",
		"another account": events + "&account_id=" + account,
	} {
		if got := w.do(call{
			as: "gm", method: "GET", path: path + "&cursor=" + cursor,
		}); got.status != 400 || !strings.Contains(got.Error.Message, "cursor") {
			t.Errorf("with the cursor of %s: %s", name, got.text)
		}
	}
	if got := w.do(call{as: "ana", method: "GET", path: events + "&cursor=" + cursor}); got.status != 400 {
		t.Errorf("another person's cursor: %s", got.text)
	}
}

// The same request under its key is answered with the same event.
func TestCreateEvent_AgainUnderItsKey_IsTheSameEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := call{
		as: "gm", method: "POST", path: "/v1/events", body: with(evening, "account_id", w.newAccount("gm")),
		header: map[string]string{"Idempotency-Key": "once"},
	}
	var first, again, listed eventJSON
	w.want(http.StatusCreated, asked, &first)
	w.want(http.StatusCreated, asked, &again)
	if first.ID != again.ID {
		t.Errorf("first %+v, again %+v", first, again)
	}
	own := "/v1/events/" + first.ID
	w.want(200, call{as: "gm", method: "PATCH", path: own, body: map[string]any{"title": "Other"}}, &again)
	w.want(200, call{as: "gm", method: "GET", path: own}, &listed)
	if listed.Title != "Other" || again.Title != "Other" || listed.Version != 2 || listed.Start != first.Start || listed.End != first.End {
		t.Errorf("changed it is %+v, was %+v", listed, first)
	}
	for _, method := range []string{"GET", "DELETE"} {
		w.want(404, call{as: "ana", method: method, path: own}, nil)
	}
	var gone struct{ Deleted bool }
	w.want(200, call{as: "gm", method: "DELETE", path: own}, &gone)
	if !gone.Deleted {
		t.Error("it is not deleted")
	}
	w.want(404, call{as: "gm", method: "GET", path: own}, nil)
}

func TestEvents_IfMatch_RefusesAnOlderTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := "/v1/events/" + w.newEventAt("gm",
		with(with(evening, "recurrence", []string{"RRULE:FREQ=WEEKLY;COUNT=3"}), "timezone", "Europe/Berlin"))
	second := w.occurrences()[1]
	for _, path := range []string{own, "/v1/events/" + second} {
		first := w.want(200, call{as: "gm", method: "GET", path: path}, nil).header.Get("ETag")
		under := func(method, tag string) call {
			asked := call{as: "gm", method: method, path: path, header: map[string]string{"If-Match": tag}}
			if method == "PATCH" {
				asked.body = map[string]any{"location": "Room " + path}
			}
			return asked
		}
		if w.send(call{as: "gm", method: "GET", path: path, header: map[string]string{"If-None-Match": first}}).status != 304 {
			t.Errorf("%s: it is not the same", path)
		}
		changed := w.want(200, under("PATCH", first), nil).header.Get("ETag")
		for _, method := range []string{"PATCH", "DELETE"} {
			if got := w.want(412, under(method, first), nil); got.Error.Code != "CONFLICT" || got.Error.Detail.Reason != "stale" {
				t.Errorf("%s %s: %s", method, path, got.text)
			}
		}
		if path != own { // the series stays
			w.want(200, under("DELETE", changed), nil)
		}
	}
	if left := w.occurrences(); len(left) != 2 {
		t.Errorf("left are %v", left)
	}
}

// occurrences are the addresses of what gm's list shows.
func (w *world) occurrences() (addresses []string) {
	w.t.Helper()
	var page struct {
		Events []struct {
			Address string `json:"occurrence_id"`
		}
	}
	w.want(200, call{as: "gm", method: "GET", path: "/v1/events?start=2026-03-01T00:00:00Z&end=2026-06-01T00:00:00Z"}, &page)
	for _, one := range page.Events {
		addresses = append(addresses, one.Address)
	}
	return addresses
}

// A listed occurrence that is changed by the id of its series moves nothing.
func TestUpdateEvent_ASeriesToAnotherDay_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newEventAt("gm", with(with(evening, "recurrence", []string{"RRULE:FREQ=WEEKLY;COUNT=3"}), "timezone", "Europe/Berlin"))
	before := w.occurrences()
	var second eventJSON
	w.want(200, call{as: "gm", method: "GET", path: "/v1/events/" + before[1]}, &second)
	body := map[string]any{"start_ts": second.Start, "end_ts": second.End}
	got := w.want(409, call{as: "gm", method: "PATCH", path: "/v1/events/" + id, body: body}, nil)
	if got.Error.Code != "CONFLICT" || got.Error.Detail.Reason != mirrors.CodeOtherDay || !strings.Contains(got.Error.Message, before[1]) {
		t.Errorf("it says %s", got.text)
	}
	if after := w.occurrences(); !slices.Equal(after, before) {
		t.Errorf("they are %v, were %v", after, before)
	}
}
