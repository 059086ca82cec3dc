package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCallables_NotOurs_StreamThrough: the answer of the app's own function is streamed
// in pieces, with the headers that Firebase's clients send.
func TestCallables_NotOurs_StreamThrough(t *testing.T) {
	t.Parallel()
	heard := make(chan struct{})
	sent := make(chan http.Header, 1)
	upstream := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Clone()
		rw.Header().Set("Content-Type", "text/event-stream")
		if _, err := io.WriteString(rw, "data: {\"message\":1}\n\n"); err != nil {
			t.Error(err)
		}
		if err := http.NewResponseController(rw).Flush(); err != nil {
			t.Error(err)
		}
		select {
		case <-heard:
		case <-r.Context().Done():
		}
		if _, err := io.WriteString(rw, "data: {\"result\":2}\n\n"); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(upstream.Close)
	o := &outside{t, startDemo(t, t.TempDir(), "QS_CALLABLES_UPSTREAM="+upstream.URL)}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.ready.API+"/tellAStory", strings.NewReader(`{"data":null}`))
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string]string{
		"Accept": "text/event-stream", "Content-Type": "application/json", "Authorization": "Bearer of the app",
		"X-Firebase-Appcheck": "a token of the app", "Firebase-Instance-Id-Token": "an instance",
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("the answer is of the kind %q", kind)
	}
	lines := bufio.NewReader(response.Body)
	first, err := lines.ReadString('\n')
	close(heard) // only now does the function say the rest
	if err != nil || first != "data: {\"message\":1}\n" {
		t.Fatalf("it begins with %q, %v", first, err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil || string(rest) != "\ndata: {\"result\":2}\n\n" {
		t.Errorf("it goes on with %q, %v", rest, err)
	}
	got := <-sent
	for name, value := range headers {
		if got.Get(name) != value {
			t.Errorf("%s arrives as %q", name, got.Get(name))
		}
	}
}
