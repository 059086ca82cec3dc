package api_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// call is one request: Body is sent as it is where it is a string or bytes, and
// as JSON otherwise.
type call struct {
	as     string // whose token; "" for none
	method string
	path   string
	body   any
	header map[string]string
	more   http.Header // beside header, for names with several values
	// chunked sends a body without saying how long it is.
	chunked bool
}

// answer is what came back, its envelope read.
type answer struct {
	status int
	header http.Header
	text   string
	OK     bool
	Data   json.RawMessage
	Error  struct {
		Code    string
		Message string
		Detail  struct {
			Fields []struct{ Field, Rule string }
			Reason string
		}
	}
	Meta struct {
		RequestID  string `json:"request_id"`
		Timestamp  time.Time
		NextCursor string `json:"next_cursor"`
	}
}

// do sends a request and holds its answer to what every answer keeps to.
func (w *world) do(c call) answer {
	w.t.Helper()
	got := w.send(c)
	if err := json.Unmarshal([]byte(got.text), &got); err != nil {
		w.t.Fatalf("%s %s: no envelope in %q: %v", c.method, c.path, got.text, err)
	}
	if !strings.HasPrefix(got.Meta.RequestID, "req_") || got.Meta.Timestamp.IsZero() || got.header.Get("X-Request-Id") != got.Meta.RequestID {
		w.t.Errorf("%s %s: meta is not whole: %s", c.method, c.path, got.text)
	}
	if got.OK != (got.status < 400) || (got.Error.Code == "") != got.OK || (len(got.Data) > 0) != got.OK {
		w.t.Errorf("%s %s: envelope does not fit the status %d: %s", c.method, c.path, got.status, got.text)
	}
	if again := got.status == http.StatusTooManyRequests ||
		got.status == http.StatusServiceUnavailable; again && got.header.Get("Retry-After") == "" {
		w.t.Errorf("%s %s: status %d does not say when to come again", c.method, c.path, got.status)
	}
	if !got.OK && (got.Error.Message == "" || !strings.HasSuffix(got.Error.Message, ".") && got.status != 401) {
		w.t.Errorf("%s %s: the message is no sentence: %s", c.method, c.path, got.text)
	}
	return got
}

// send sends a request and reads the answer as text.
func (w *world) send(c call) answer {
	w.t.Helper()
	var body io.Reader
	switch sent := c.body.(type) {
	case nil:
	case string:
		body = strings.NewReader(sent)
	case []byte:
		body = bytes.NewReader(sent)
	default:
		text, err := json.Marshal(sent)
		must(w.t, err)
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), c.method, w.url+c.path, body)
	must(w.t, err)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.as != "" {
		request.Header.Set("Authorization", "Bearer "+w.tokens[c.as])
	}
	for name, value := range c.header {
		request.Header.Set(name, value)
	}
	maps.Copy(request.Header, c.more)
	if c.chunked {
		request.ContentLength = -1
	}
	response, err := http.DefaultClient.Do(request)
	must(w.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(w.t, err)
	got := answer{status: response.StatusCode, header: response.Header, text: string(text)}
	if broken := w.promises.Broken(request, got.status, text); broken != "" {
		w.t.Error(broken)
	}
	return got
}

// want sends a request that must be answered with status, and reads its data.
func (w *world) want(status int, c call, data any) answer {
	w.t.Helper()
	got := w.do(c)
	if got.status != status {
		w.t.Fatalf("%s %s as %q: status %d, want %d: %s", c.method, c.path, c.as, got.status, status, got.text)
	}
	if data != nil {
		must(w.t, json.Unmarshal(got.Data, data))
	}
	return got
}
