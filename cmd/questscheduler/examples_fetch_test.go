package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"questscheduler/api/examples"
	"questscheduler/demo"
)

// fetched is an answer as it came.
type fetched struct {
	status int
	body   []byte
}

// fetch makes one call.
func (w *exampleWorld) fetch(method, path, as, body string, headers map[string]string) fetched {
	w.t.Helper()
	response := w.open(w.t.Context(), method, path, as, body, headers)
	defer response.Body.Close()
	answered, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return fetched{response.StatusCode, bytes.TrimSpace(answered)}
}

// showStream shows the beginning of a stream, during which gm votes.
func (w *exampleWorld) showStream() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	asking := ask{as: "gm", operation: "stream"}
	asked := w.request(asking)
	response := w.open(ctx, asked.Method, asked.Path, asking.as, "", nil)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	var events []string
	for ended := 0; ended < 2 && lines.Scan(); {
		events = append(events, lines.Text())
		if lines.Text() != "" {
			continue
		}
		ended++
		if ended == 1 {
			w.prepare("vote", ask{as: "gm", operation: "vote", at: []string{"{session-12.id}"}, body: `{"votes": {}, "no_times_work": true}`})
		}
	}
	if err := lines.Err(); err != nil {
		w.t.Fatal(err)
	}
	w.store(asking, examples.Example{As: asking.as, Request: asked, Response: examples.Response{Status: response.StatusCode, Events: events}})
}

func (w *exampleWorld) open(ctx context.Context, method, path, as, body string, headers map[string]string) *http.Response {
	w.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, w.ready.API+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	switch as {
	case "":
	case demo.Admin:
		request.Header.Set("Authorization", "Bearer "+w.ready.AdminToken)
	default:
		request.Header.Set("Authorization", "Bearer "+w.ready.Users[as].Token)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	return response
}
