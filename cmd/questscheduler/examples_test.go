package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"questscheduler/api/examples"
	"questscheduler/demo"
	"questscheduler/demo/sim/control"
	"questscheduler/internal/test/docs"
)

// TestPage_Examples_AreCurrent makes the request of every example in one world, and
// compares the answers with those that are stored. `make generate` stores them.
func TestPage_Examples_AreCurrent(t *testing.T) {
	t.Parallel()
	w := newExampleWorld(t)
	for _, part := range []func(){
		w.health, w.accounts, w.group, w.poll, w.otherPoll, w.availability, w.session, w.notifications,
		w.calendars, w.lifecycle, w.mirrors, w.groupEvents, w.admin, w.feed, w.discord, w.end,
	} {
		part()
	}
	for _, operation := range slices.Sorted(maps.Keys(w.routes)) {
		if !w.shown[operation] {
			t.Errorf("the route %s has no example: add its request to examples_requests_test.go, and run: make generate", operation)
		}
	}
	stored, err := examples.Read()
	if err != nil {
		t.Fatal(err)
	}
	for operation := range stored {
		if !w.shown[operation] {
			t.Errorf("%s/%s.json is the example of no route: remove it", examples.Folder, operation)
		}
	}
}

// exampleWorld is a demo whose clock stands at another minute for each request, so that
// every time in an answer is known.
type exampleWorld struct {
	*outside
	demo   *openedDemo
	clock  *minutes
	routes map[string]exampleRoute
	// answers are the data of the answers so far, by operation, for later requests.
	answers  map[string]any
	shown    map[string]bool
	standIns *standIns
}

// exampleRoute is where an operation is.
type exampleRoute struct{ method, path string }

// minutes is a clock that runs, but begins a new minute when next is called.
type minutes struct {
	mu     sync.Mutex
	minute time.Time
	began  time.Time // of the minute, by the machine's clock
}

// exampleStart is earlier than any machine's time, so that the queue, which runs by that,
// delays nothing.
var exampleStart = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func (m *minutes) now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.minute.Add(time.Since(m.began))
}

func (m *minutes) next() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.minute, m.began = m.minute.Add(time.Since(m.began)).Truncate(time.Minute).Add(time.Minute), time.Now()
}

// newExampleWorld starts a demo with its people, and nothing else in it.
func newExampleWorld(t *testing.T) *exampleWorld {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	clock := &minutes{minute: exampleStart, began: time.Now()}
	at := demo.Place{Dir: dataDir(t), Addr: "127.0.0.1:0", Clock: control.NewClock(clock.now), PeopleOnly: true}
	d, err := openTestDemo(ctx, at, Process{
		// Each request reads what the one before did, and two lost events are held.
		Environ: []string{"QS_SYNC_MIN_GAP=1ms", "QS_MASS_CANCEL_MIN=1", "QS_MASS_CANCEL_SHARE=0.1"},
		Stderr:  testLog{t},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.End(); err != nil {
			t.Error(err)
		}
	})
	if err := d.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	w := &exampleWorld{
		outside: &outside{t, d.Ready()}, demo: d, clock: clock, routes: map[string]exampleRoute{},
		answers: map[string]any{}, shown: map[string]bool{}, standIns: &standIns{server: d.Ready().API, known: map[string]string{}},
	}
	w.readRoutes()
	w.settle()
	return w
}

// readRoutes reads the routes of the OpenAPI document.
func (w *exampleWorld) readRoutes() {
	w.t.Helper()
	var document struct {
		Paths map[string]map[string]struct{ OperationID string }
	}
	if err := json.Unmarshal(w.fetch("GET", "/openapi.json", "", "", nil).body, &document); err != nil {
		w.t.Fatal(err)
	}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			w.routes[operation.OperationID] = exampleRoute{strings.ToUpper(method), path}
		}
	}
}

// ask is a request. Its texts may refer to earlier answers: {create-poll.slots.0.id}.
type ask struct {
	as, operation string
	at            []string // the parameters of the path, in its order
	query, body   string
	headers       map[string]string
}

// show makes a request, holds the answer to the document, and compares both with the
// stored example.
func (w *exampleWorld) show(a ask) {
	w.t.Helper()
	asked := w.request(a)
	got := w.fetch(asked.Method, asked.Path, a.as, string(asked.Body), asked.Headers)
	request, err := http.NewRequestWithContext(w.t.Context(), asked.Method, w.ready.API+asked.Path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	w.holdToDocument(request, got.status, got.body)
	w.keep(a.operation, a.operation, got)
	got.body = w.unwritten(a.operation, got.body)
	w.store(a, examples.Example{As: a.as, Request: asked, Response: examples.Response{Status: got.status, Body: got.body}})
	w.settle()
}

// readBefore names the example that read an event before another changed it.
var readBefore = map[string]string{
	"update-event": "get-event", "update-group-event": "get-group-event", "delete-group-event": "get-group-event",
}

// The mirrors of an answer where none is left, the state of one, and when it was written.
var (
	noMirrors   = regexp.MustCompile(`"mirrors":\s*\[\]`)
	mirrorState = regexp.MustCompile(`"state":\s*"(ACTIVE|PENDING)"`)
	lastWrite   = regexp.MustCompile(`"last_write_ts":\s*"[^"]*"`)
)

// unwritten is the answer to a change of an event as it is before the mirrors are written: that
// may be done by the time of the answer, or not.
func (w *exampleWorld) unwritten(operation string, body []byte) []byte {
	w.t.Helper()
	before, ok := readBefore[operation]
	if !ok {
		return body
	}
	body = noMirrors.ReplaceAll(body, []byte(w.resolve(
		`"mirrors": [{"target_account_id": "{`+before+`.mirrors.0.target_account_id}", "state": "DELETING", "last_write_ts": ""}]`)))
	body = mirrorState.ReplaceAll(body, []byte(`"state": "PENDING"`))
	return lastWrite.ReplaceAll(body, []byte(`"last_write_ts": "`+w.resolve("{"+before+".mirrors.0.last_write_ts}")+`"`))
}

// prepare makes a request that belongs to no example; later ones refer to its answer by the
// name.
func (w *exampleWorld) prepare(name string, a ask) {
	w.t.Helper()
	asked := w.request(a)
	w.keep(name, a.operation, w.fetch(asked.Method, asked.Path, a.as, string(asked.Body), asked.Headers))
	w.settle()
}

// store compares an example with its file.
func (w *exampleWorld) store(a ask, example examples.Example) {
	w.t.Helper()
	text, err := example.Text()
	if err != nil {
		w.t.Fatal(err)
	}
	w.shown[a.operation] = true
	docs.CheckFile(w.t, examples.Folder+"/"+a.operation+".json", w.standIns.in(a.operation, text, w.clock.now().Truncate(time.Minute)))
}

// request is what is sent: the references of a are replaced by ids of this world.
func (w *exampleWorld) request(a ask) examples.Request {
	w.t.Helper()
	route, ok := w.routes[a.operation]
	if !ok {
		w.t.Fatalf("there is no operation %s", a.operation)
	}
	parts, rest := strings.Split(route.path, "/"), a.at
	for i, part := range parts {
		if strings.HasPrefix(part, "{") && len(rest) > 0 {
			parts[i], rest = url.PathEscape(w.resolve(rest[0])), rest[1:]
		}
	}
	made := examples.Request{Method: route.method, Path: strings.Join(parts, "/"), Headers: a.headers}
	if a.query != "" {
		made.Path += "?" + w.resolve(a.query)
	}
	if a.body != "" {
		made.Body = json.RawMessage(w.resolve(a.body))
	}
	return made
}

// reference names a value of an earlier answer.
var reference = regexp.MustCompile(`\{([a-z0-9-]+)((?:\.\w+)+)\}`)

func (w *exampleWorld) resolve(text string) string {
	w.t.Helper()
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		parts := reference.FindStringSubmatch(found)
		value := w.answers[parts[1]]
		for _, name := range strings.Split(parts[2], ".")[1:] {
			switch in := value.(type) {
			case map[string]any:
				value = in[name]
			case []any:
				place, err := strconv.Atoi(name)
				if err != nil || place >= len(in) {
					w.t.Fatalf("%s: the list has %d items", found, len(in))
				}
				value = in[place]
			}
		}
		text, ok := value.(string)
		if !ok {
			w.t.Fatalf("%s is %v, in %v", found, value, w.answers[parts[1]])
		}
		return text
	})
}

// keep remembers the data of an answer, and fails unless the request succeeded.
func (w *exampleWorld) keep(name, operation string, got fetched) {
	w.t.Helper()
	var envelope struct{ Data any }
	if err := json.Unmarshal(got.body, &envelope); err != nil || got.status >= 300 {
		w.t.Fatalf("%s answers %d: %s (%v)", operation, got.status, got.body, err)
	}
	w.answers[name] = envelope.Data
}

// settle waits until what a request caused is done, and begins the next minute.
func (w *exampleWorld) settle() {
	w.t.Helper()
	eventually(w.t, "the end of the work", func() error {
		pushes := len(w.demo.Google().PendingPushes()) // first, since what they cause comes after
		idle, err := w.demo.idle(w.t.Context())
		if err == nil && (!idle || pushes > 0) {
			err = fmt.Errorf("idle is %t, and %d pushes are pending", idle, pushes)
		}
		return err
	})
	w.clock.next()
}
