package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// fuzzRoutes are the routes that take a body, below a poll of gm's where they
// are about one.
var fuzzRoutes = []struct{ method, path string }{
	{http.MethodPost, "/v1/polls"}, {http.MethodPost, "/v1/groups"}, {http.MethodPatch, "/v1/polls/{id}"},
	{http.MethodPut, "/v1/polls/{id}/votes/me"}, {http.MethodPost, "/v1/polls/{id}/finalize"}, {http.MethodPost, "/v1/polls/{id}/cancel"},
	{http.MethodPost, "/v1/polls/{id}/reopen"}, {http.MethodPost, "/v1/polls/{id}/accept-new-time"},
	{http.MethodPost, "/v1/calendars/00000000000000000000000000000000/confirm-cancellations"},
}

// fuzzWorld gives the inputs of a fuzz test one world after the other, each for
// some hundred of them: a world takes longer to make than a request.
type fuzzWorld struct {
	*world
	uses int
}

func (f *fuzzWorld) next(t *testing.T) *world {
	t.Helper()
	if f.uses%300 == 0 {
		f.world = newWorld(t)
		f.shared = true
	}
	f.uses++
	f.t = t
	return f.world
}

// ask is world.do without a socket, and so without promises.
func ask(t *testing.T, w *world, method, path, body string) answer {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, "http://api.test/", strings.NewReader(body))
	address, err := url.Parse("http://api.test" + path)
	if err != nil {
		t.Skip("no address")
	}
	request.URL = address
	request.Header.Set("Authorization", "Bearer "+w.tokens["gm"])
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	w.echo.ServeHTTP(recorder, request)
	got := answer{status: recorder.Code, text: recorder.Body.String()}
	if err := json.Unmarshal(recorder.Body.Bytes(), &got); err != nil {
		t.Fatalf("%s %s: no envelope in %q: %v", method, path, got.text, err)
	}
	if got.OK != (got.status < 400) || (got.Error.Code == "") != got.OK || got.status >= 500 ||
		!strings.HasPrefix(got.Meta.RequestID, "req_") {
		t.Fatalf("%s %s: %d %s", method, path, got.status, got.text)
	}
	got.text, _, _ = strings.Cut(got.text, `"meta":{"request_id"`) // ours, and full of digits
	return got
}

// openPoll makes a poll of gm's with one slot, and gives its id and the slot's.
func openPoll(t *testing.T, w *world) (id, slot string) {
	t.Helper()
	var made struct {
		ID    string
		Slots []struct{ ID string }
	}
	got := ask(
		t, w, http.MethodPost, "/v1/polls",
		`{"title":"Session","slots":[{"start":"2026-03-02T10:00:00Z","end":"2026-03-02T12:00:00Z"}]}`,
	)
	must(t, json.Unmarshal(got.Data, &made))
	return made.ID, made.Slots[0].ID
}

// FuzzBodies: whatever body a route is sent, it answers with a whole envelope
// and never fails; where it refuses, nothing was written and no text of the body
// comes back.
func FuzzBodies(f *testing.F) {
	for route, body := range map[int]string{
		0: `{"title":"T","slots":[{"start":"2026-03-02T10:00:00Z","end":"2026-03-02T12:00:00+01:00"}],"timezone":"Europe/Zurich","participant_ids":["ana"]}`,
		1: `{"name":"Party","member_ids":["ana"],"discord":{"guild_id":"1","channel_id":"2","notify_role_id":"everyone"}}`,
		2: `{"title":null,"slots":[]}`, 3: `{"votes":{"SLOT":"FEASIBLE"},"no_times_work":false}`,
		4: `{"slot_id":"SLOT","create_event":false,"duration_minutes":90}`,
		5: `{"delete_event":false}`, 6: `{}`, 7: `{"fingerprint":"2026-03-02|2026-03-03|true"}`, 8: `{"poll_ids":["ID"]}`,
	} {
		f.Add(uint8(route), body)
		f.Add(uint8(route), body+"\xff")
		f.Add(uint8(route), `{"votes":{"a":{"b":[1e999]}},"slot_id":"\u0000","title":"\ud800"}`)
	}
	worlds := &fuzzWorld{}
	f.Fuzz(func(t *testing.T, route uint8, body string) {
		w := worlds.next(t)
		id, slot := openPoll(t, w)
		at := fuzzRoutes[int(route)%len(fuzzRoutes)]
		body = strings.NewReplacer("SLOT", slot, "ID", id).Replace(body)
		before := w.store.writes.Load()
		got := ask(t, w, at.method, strings.Replace(at.path, "{id}", id, 1), body)
		if got.OK {
			return
		}
		if written := w.store.writes.Load() - before; written > 0 {
			t.Fatalf("%s %s: refused with %s, and %d documents were written", at.method, at.path, got.text, written)
		}
		for _, text := range texts(body) {
			if strings.Contains(got.text, text) {
				t.Fatalf("%s %s: %q comes back in %s", at.method, at.path, text, got.text)
			}
		}
	})
}

// texts are the long texts of a body that stand as values, beside those that
// this test puts there.
func texts(body string) (found []string) {
	var value any
	if json.Unmarshal([]byte(body), &value) != nil {
		return nil
	}
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, item := range v {
				walk(item)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		case string:
			if len(v) > 12 && !strings.Contains(v, "-") { // ids and times have hyphens, and sentences quote examples of them
				found = append(found, v)
			}
		}
	}
	walk(value)
	return found
}

// FuzzLists: whatever is asked of a list, it gives a page or says which
// parameter is wrong; and a cursor that is taken leads to a page of that list.
func FuzzLists(f *testing.F) {
	for _, seed := range []string{
		"", "e30", "bnVsbA", "eyJsIjoiIiwidiI6e30sImQiOiIifQ", strings.Repeat("A", 5000), "%00", "../..",
		"eyJ2Ijp7InQiOiI5OTk5OTk5OTk5OTk5OTk5OTk5In19",
	} {
		f.Add(seed, "20", "creator", "OPEN")
	}
	f.Add("", "-1", "nobody", "open")
	f.Add("", "1e3", "", "\x00")
	worlds := &fuzzWorld{}
	f.Fuzz(func(t *testing.T, cursor, limit, role, status string) {
		w := worlds.next(t)
		openPoll(t, w)
		query := url.Values{"cursor": {cursor}, "limit": {limit}, "role": {role}, "status": {status}}.Encode()
		for _, list := range []string{"/v1/polls", "/v1/notifications"} {
			if list != "/v1/polls" {
				query = url.Values{"cursor": {cursor}, "limit": {limit}}.Encode()
			}
			got := ask(t, w, http.MethodGet, list+"?"+query, "")
			if got.status != http.StatusOK && got.status != http.StatusBadRequest {
				t.Fatalf("%s?%s: %d %s", list, query, got.status, got.text)
			}
			if len(cursor) > 12 && strings.Contains(got.text, cursor) {
				t.Fatalf("%s: the cursor comes back in %s", list, got.text)
			}
		}
	})
}

// FuzzIDs: any text in the place of an id is not found, and the answer repeats
// nothing of it.
func FuzzIDs(f *testing.F) {
	for _, seed := range []string{
		"", ".", "..", "%2e%2e", "a%2fb", "00000000-0000-4000-8000-000000000000", "__x__", "\x00", strings.Repeat("a", 3000),
		"ａ",
	} {
		f.Add(seed)
	}
	worlds := &fuzzWorld{}
	f.Fuzz(func(t *testing.T, id string) {
		w := worlds.next(t)
		mine, _ := openPoll(t, w)
		if id == mine || id == "" || id == "." || id == ".." { // other addresses altogether
			return
		}
		before := w.store.writes.Load()
		for _, c := range [][3]string{{http.MethodGet, "", ""}, {http.MethodPost, "/cancel", "{}"}} {
			got := ask(t, w, c[0], "/v1/polls/"+url.PathEscape(id)+c[1], c[2])
			if got.status != http.StatusNotFound || len(id) > 12 && strings.Contains(got.text, id) {
				t.Fatalf("%s %q: %d %s", c[0], id, got.status, got.text)
			}
		}
		if w.store.writes.Load() != before {
			t.Fatalf("%q made something be written", id)
		}
	})
}
