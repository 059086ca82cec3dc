package chromium_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"questscheduler/internal/test/chromium"
)

// TestFind_ChromiumIsHere is what `make test` prints a line of where it is
// skipped.
func TestFind_ChromiumIsHere(t *testing.T) {
	t.Parallel()
	if _, err := chromium.Find(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: tests of the dashboard in a browser, since " + err.Error())
	}
}

func TestBrowser_TellsWhatAPageComplainsAbout_AndWhomItAsks(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.Header().Set("Content-Type", "image/png")
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		if _, err := w.Write([]byte(`<!doctype html><link rel="icon" href="data:,"><button id="b">b</button><img src="` + other.URL + `/x.png"><img src="/missing.png"><script>throw new Error("planted")</script>`)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(page.Close)
	b := chromium.Open(t)
	b.Go(page.URL)
	b.TabTo("b")
	b.AwaitProblem("planted")
	b.AwaitProblem("404")
	b.AwaitProblem("not loaded") // that of the other server is no picture
	if hosts := strings.Join(b.Hosts(), " "); !strings.Contains(hosts, strings.TrimPrefix(other.URL, "http://")) {
		t.Errorf("the page asked %s", hosts)
	}
}
