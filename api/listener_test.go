package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// listener is a program that listens to a stream.
type listener struct {
	w        *world
	response *http.Response
	lines    *bufio.Scanner
}

// event is one that a stream sent; its name is "comment" for what programs pass
// over, and "" at the end.
type event struct{ name, id, data string }

// open begins a stream at an address; whatever is answered is given.
func (w *world) open(as, url string) *listener {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url+"/v1/stream", nil)
	must(w.t, err)
	request.Header.Set("Authorization", "Bearer "+w.tokens[as])
	response, err := http.DefaultClient.Do(request)
	must(w.t, err)
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return &listener{w: w, response: response, lines: lines}
}

// listen begins a stream and waits until it is ready.
func (w *world) listen(as string) *listener {
	w.t.Helper()
	l := w.open(as, w.url)
	if kind := l.response.Header.Get("Content-Type"); l.response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		w.t.Fatalf("the stream of %s is answered %d, %s", as, l.response.StatusCode, kind)
	}
	l.wants("ready")
	return l
}

// next waits for the next event.
func (l *listener) next() event {
	l.w.t.Helper()
	var got event
	for l.lines.Scan() {
		line := l.lines.Text()
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && got.name != "":
			return got
		case name == "event":
			got.name = value
		case name == "id":
			got.id = value
		case name == "data":
			got.data = value
		case name == "":
			got.name = "comment"
		default:
			l.w.t.Fatalf("the stream holds %q", line)
		}
	}
	must(l.w.t, l.lines.Err())
	return event{}
}

// wants waits for the next event, which must be of that name.
func (l *listener) wants(name string) event {
	l.w.t.Helper()
	got := l.next()
	if got.name != name || name != "" && name != "comment" && (!strings.HasPrefix(got.id, "evt_") || !json.Valid([]byte(got.data))) {
		l.w.t.Fatalf("the stream sent %+v, want %s", got, name)
	}
	return got
}

// wantsPoll waits for a poll, with the ETag that GET gives and nothing else.
func (l *listener) wantsPoll(as, id string) {
	l.w.t.Helper()
	got := l.wants("poll")
	read := l.w.want(200, call{as: as, method: "GET", path: "/v1/polls/" + id}, nil)
	if want := fmt.Sprintf(`{"id":%q,"etag":%q}`, id, read.header.Get("ETag")); got.data != want {
		l.w.t.Errorf("the stream of %s sent %s, want %s", as, got.data, want)
	}
}

// wantsNamed waits for a poll that has no UUID, so that no route gives it.
func (l *listener) wantsNamed(id string) {
	l.w.t.Helper()
	if got := l.wants("poll"); !strings.HasPrefix(got.data, `{"id":"`+id+`","etag":"`) {
		l.w.t.Errorf("the stream sent %s, want %s", got.data, id)
	}
}

func (l *listener) wantsRemoved(id string) {
	l.w.t.Helper()
	if got := l.wants("removed"); got.data != `{"id":"`+id+`"}` {
		l.w.t.Errorf("removed was %s, want %s", got.data, id)
	}
}

// close leaves, and has the server notice.
func (l *listener) close() { l.response.Body.Close() }
