package process

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestMetrics_AreThoseWithoutLabels(t *testing.T) {
	t.Parallel()
	said := "# HELP go_goroutines Number.\n# TYPE go_goroutines gauge\ngo_goroutines 12\nheap 1.5e+06\ncalls{kind=\"a b\"} 7\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, said) }))
	defer server.Close()
	got, err := (&Server{URL: server.URL, HTTP: server.Client()}).Metrics(t.Context())
	if err != nil || len(got) != 2 || got["go_goroutines"] != 12 || got["heap"] != 1.5e6 {
		t.Errorf("read %v, %v", got, err)
	}
	refusing := httptest.NewServer(http.NotFoundHandler())
	defer refusing.Close()
	if got, err := (&Server{URL: refusing.URL, HTTP: refusing.Client()}).Metrics(t.Context()); err == nil {
		t.Errorf("what was refused is read as %v", got)
	}
}

func TestStop_OfAServerThatIsNotStarted_IsAnError(t *testing.T) {
	t.Parallel()
	if _, err := New("questscheduler", t.TempDir(), "127.0.0.1:1", nil).Stop(); err == nil {
		t.Error("nothing was stopped")
	}
}
