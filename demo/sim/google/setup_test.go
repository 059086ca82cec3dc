package google_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/api/calendar/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// people of the tests; gm's calendar is in Zurich.
var people = []google.User{
	{Key: "gm", Sub: "1001", Email: "gm@example.test", TimeZone: "Europe/Zurich"},
	{Key: "ana", Sub: "1002", Email: "ana@example.test", TimeZone: "America/New_York"},
	{Key: "ben", Sub: "1003", Email: "ben@example.test"},
}

// world is a simulator behind a real server, with the people in it.
type world struct {
	t      *testing.T
	sim    *google.Server
	url    string
	grants map[string]google.Grant
}

// newWorld starts a simulator whose clock stands still at epoch unless it is
// advanced.
func newWorld(t *testing.T, opt google.Options) *world {
	t.Helper()
	if opt.Now == nil {
		opt.Now = func() time.Time { return epoch }
	}
	sim, err := google.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, sim: sim, grants: map[string]google.Grant{}}
	for _, u := range people {
		grant, err := sim.AddUser(u)
		if err != nil {
			t.Fatal(err)
		}
		w.grants[u.Key] = grant
	}
	server := httptest.NewServer(sim.Handler())
	w.url = server.URL
	t.Cleanup(func() {
		server.Close()
		if err := sim.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// as is the real client, with the access token of a person's first grant. Each
// answer it gets is held against the API's description.
func (w *world) as(key string) *calendar.Service {
	w.t.Helper()
	return w.client(oauth2.StaticTokenSource(&oauth2.Token{AccessToken: w.grants[key].AccessToken}))
}

func (w *world) client(source oauth2.TokenSource) *calendar.Service {
	w.t.Helper()
	httpClient := &http.Client{Transport: &oauth2.Transport{Source: source, Base: described{w.t}}}
	service, err := calendar.NewService(w.t.Context(), option.WithEndpoint(w.url+"/calendar/v3/"), option.WithHTTPClient(httpClient))
	if err != nil {
		w.t.Fatal(err)
	}
	return service
}

// curl is a raw call with a person's token; body "" is none. Its answer is held
// against the API's description.
func (w *world) curl(key, method, path, body string, headers ...string) (int, http.Header, string) {
	w.t.Helper()
	return w.send(described{w.t}, key, method, path, body, headers...)
}

// send is a raw call by a transport of the caller's choice.
func (w *world) send(by http.RoundTripper, key, method, path, body string, headers ...string) (int, http.Header, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+w.grants[key].AccessToken)
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	resp, err := (&http.Client{Transport: by}).Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, strings.TrimSpace(string(text))
}

// control posts to /_sim/ and wants success.
func (w *world) control(path, body string) {
	w.t.Helper()
	if status, _, text := w.curl("", "POST", "/_sim/"+path, body); status != http.StatusOK {
		w.t.Fatalf("%s %s: %d %s", path, body, status, text)
	}
}

func (w *world) plant(rule control.Rule) {
	w.t.Helper()
	if err := w.sim.Control().Plant(rule); err != nil {
		w.t.Fatal(err)
	}
}

// advance moves the simulator's clock.
func (w *world) advance(d time.Duration) {
	w.t.Helper()
	if err := w.sim.Control().Clock().Advance(d); err != nil {
		w.t.Fatal(err)
	}
}

// must gives the value of a call that has to succeed.
func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// timed is an event of an hour on a day of March 2026, 19:00 in Zurich.
func timed(id string, day int) *calendar.Event {
	at := func(hour int) *calendar.EventDateTime {
		return &calendar.EventDateTime{DateTime: fmt.Sprintf("2026-03-%02dT%02d:00:00+01:00", day, hour)}
	}
	return &calendar.Event{Id: id, Summary: "Session " + id, Start: at(19), End: at(20)}
}

func (w *world) insert(key string, e *calendar.Event) *calendar.Event {
	w.t.Helper()
	return must(w.as(key).Events.Insert("primary", e).Do())(w.t)
}

// pages follows a listing to its end; change sets it up.
func (w *world) pages(key string, change func(*calendar.EventsListCall)) (items []*calendar.Event, pages []*calendar.Events) {
	w.t.Helper()
	for token := ""; ; {
		call := w.as(key).Events.List("primary")
		if change != nil {
			change(call)
		}
		if token != "" {
			call.PageToken(token)
		}
		page := must(call.Do())(w.t)
		items, pages = append(items, page.Items...), append(pages, page)
		token = page.NextPageToken
		if token == "" {
			return items, pages
		}
	}
}

// list is a whole listing: its events and its sync token.
func (w *world) list(key string, change func(*calendar.EventsListCall)) ([]*calendar.Event, string) {
	w.t.Helper()
	items, pages := w.pages(key, change)
	return items, pages[len(pages)-1].NextSyncToken
}

// since is a whole listing from a sync token.
func (w *world) since(key, token string) ([]*calendar.Event, string) {
	w.t.Helper()
	return w.list(key, func(c *calendar.EventsListCall) { c.SyncToken(token) })
}

// states writes events as "id status", in order.
func states(items []*calendar.Event) string {
	var list []string
	for _, e := range items {
		list = append(list, e.Id+" "+e.Status)
	}
	return strings.Join(list, ", ")
}

// wantError demands an error answer of Google's shape.
func wantError(t *testing.T, err error, status int, reason string) {
	t.Helper()
	var g *googleapi.Error
	if !errors.As(err, &g) || g.Code != status || len(g.Errors) == 0 || g.Errors[0].Reason != reason {
		t.Errorf("got %v, want %d %s", err, status, reason)
	}
}

// reasonOf is that of an error answer.
func reasonOf(t *testing.T, text string) string {
	t.Helper()
	var answer struct {
		Error struct {
			Errors []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Error.Errors) == 0 {
		t.Fatalf("no error answer: %s", text)
	}
	return answer.Error.Errors[0].Reason
}

// receiver is an address that pushes go to. It answers what answer gives, 200
// where that is nil.
type receiver struct {
	url    string
	pushes chan http.Header

	mu     sync.Mutex
	answer func(n int) int
	count  int
}

func newReceiver(t *testing.T, answer func(n int) int) *receiver {
	r := &receiver{pushes: make(chan http.Header, 100), answer: answer}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL + "/webhooks/google/calendar"
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil || len(body) > 0 || req.Method != http.MethodPost {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	status := http.StatusOK
	if r.answer != nil {
		status = r.answer(r.count)
	}
	r.count++
	r.mu.Unlock()
	w.WriteHeader(status)
	r.pushes <- req.Header
}

// next waits for one push.
func (r *receiver) next(t *testing.T) http.Header {
	t.Helper()
	select {
	case h := <-r.pushes:
		return h
	case <-time.After(10 * time.Second):
		t.Fatal("no push within 10 s")
		return nil
	}
}

// watch opens a channel for a person's primary calendar.
func (w *world) watch(key, id, address string) *calendar.Channel {
	w.t.Helper()
	return must(w.as(key).Events.Watch("primary", &calendar.Channel{
		Id: id, Type: "web_hook", Address: address, Token: "secret-" + id,
	}).Do())(w.t)
}

// deliverAll hands out what is pending until nothing is.
func (w *world) deliverAll() {
	w.t.Helper()
	for more := true; more; {
		more = must(w.sim.DeliverNext(w.t.Context()))(w.t)
	}
}

// testOptions are a simulator in memory whose pushes wait to be asked for.
func testOptions() google.Options { return google.Options{Sequential: true} }

// serve calls a handler without a connection and gives the status alone.
func serve(t testing.TB, h http.Handler, token, method, path, body string) int {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+token)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec.Code
}
