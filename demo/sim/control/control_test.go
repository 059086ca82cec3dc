package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/demo/sim/control"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newControl() *control.Control {
	clock := control.NewClock(func() time.Time { return epoch })
	return control.New(clock, "events.list", "events.insert", "push")
}

func plant(t *testing.T, c *control.Control, rules ...control.Rule) {
	t.Helper()
	for _, r := range rules {
		if err := c.Plant(r); err != nil {
			t.Fatalf("plant %+v: %v", r, err)
		}
	}
}

func TestTake(t *testing.T) {
	t.Parallel()
	type call struct {
		method string
		want   control.Fault
	}
	refused := func(status int) control.Fault { return control.Fault{Status: status} }
	for name, tc := range map[string]struct {
		rules []control.Rule
		calls []call
	}{
		"a rule strikes as often as it says and then no more": {
			rules: []control.Rule{{Match: "events.list", Status: 503, Times: 2}},
			calls: []call{{"events.list", refused(503)}, {"events.list", refused(503)}, {"events.list", control.Fault{}}},
		},
		"without times it strikes until it is cleared": {
			rules: []control.Rule{{Match: "events.list", Status: 503}},
			calls: []call{{"events.list", refused(503)}, {"events.list", refused(503)}, {"events.list", refused(503)}},
		},
		"another method is left alone and uses nothing up": {
			rules: []control.Rule{{Match: "events.list", Status: 503, Times: 1}},
			calls: []call{{"events.insert", control.Fault{}}, {"events.list", refused(503)}},
		},
		"alternatives and any text match": {
			rules: []control.Rule{{Match: "push|events.*", Status: 500}},
			calls: []call{{"push", refused(500)}, {"events.insert", refused(500)}},
		},
		"the oldest rule that does something is used up first": {
			rules: []control.Rule{{Match: "events.list", Status: 503, Times: 1}, {Match: "*", Status: 429, Reason: "rateLimitExceeded"}},
			calls: []call{{"events.list", refused(503)}, {"events.list", control.Fault{Status: 429, Reason: "rateLimitExceeded"}}},
		},
		"delays add to what strikes": {
			rules: []control.Rule{{Match: "*", DelayMS: 5}, {Match: "*", DelayMS: 7, Times: 1}, {Match: "push", Drop: true, Duplicate: 2, Times: 1}},
			calls: []call{
				{"push", control.Fault{Delay: 12 * time.Millisecond, Drop: true, Duplicate: 2}},
				{"push", control.Fault{Delay: 5 * time.Millisecond}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newControl()
			plant(t, c, tc.rules...)
			for i, call := range tc.calls {
				if got := c.Take(control.Call{Method: call.method}); got != call.want {
					t.Errorf("call %d of %s: got %+v, want %+v", i, call.method, got, call.want)
				}
			}
			c.Clear()
			if got := c.Take(control.Call{Method: tc.calls[0].method}); got != (control.Fault{}) {
				t.Errorf("after clearing: got %+v", got)
			}
		})
	}
}

func TestTake_ARuleThatIsLimited_StrikesThoseCallsAlone(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	calls := []control.Call{
		{Method: "events.list", Calendar: "club", Token: true}, {Method: "events.list", Calendar: "club"},
		{Method: "events.insert", Calendar: "club", Event: "feast"}, {Method: "events.insert", Calendar: "mine", Event: "feast"},
		{Method: "push", Calendar: "club"}, {Method: "push"},
	}
	for name, tc := range map[string]struct {
		rule control.Rule
		want string // for each of the calls, x where it is struck
	}{
		"not at all":                  {control.Rule{}, "xxxxxx"},
		"to a calendar":               {control.Rule{Calendar: "club"}, "xxx.x."},
		"to an event":                 {control.Rule{Event: "feast"}, "..xx.."},
		"to an event of a calendar":   {control.Rule{Event: "feast", Calendar: "mine"}, "...x.."},
		"to calls with a token":       {control.Rule{Token: &yes}, "x....."},
		"to calls without one":        {control.Rule{Token: &no}, ".xxxxx"},
		"to a calendar and a token":   {control.Rule{Calendar: "club", Token: &no}, ".xx.x."},
		"to a calendar and a method":  {control.Rule{Calendar: "club", Match: "push"}, "....x."},
		"to what no call names":       {control.Rule{Event: "none"}, "......"},
		"delays are limited likewise": {control.Rule{Calendar: "mine", DelayMS: 5}, "...x.."},
	} {
		c := newControl()
		c.Describe(func(*http.Request) control.Call { return control.Call{} })
		if tc.rule.Match == "" {
			tc.rule.Match = "*"
		}
		if tc.rule.DelayMS == 0 {
			tc.rule.Status = 503
		}
		plant(t, c, tc.rule)
		got := ""
		for _, call := range calls {
			if c.Take(call) == (control.Fault{}) {
				got += "."
			} else {
				got += "x"
			}
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestPlant_InvalidRule_IsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rule control.Rule
		word string
	}{
		"no method":                        {control.Rule{Status: 503}, "match"},
		"an unknown method":                {control.Rule{Match: "event.list"}, "events.list"},
		"one unknown of two":               {control.Rule{Match: "events.list|evnts.get"}, "no such method"},
		"a broken pattern":                 {control.Rule{Match: "events.["}, "match"},
		"a status of success":              {control.Rule{Match: "push", Status: 200}, "status"},
		"negative times":                   {control.Rule{Match: "push", Times: -1}, "times"},
		"a delay of hours":                 {control.Rule{Match: "push", DelayMS: 1 << 40}, "delay_ms"},
		"too many duplicates":              {control.Rule{Match: "push", Duplicate: 101}, "duplicate"},
		"a negative duplicate":             {control.Rule{Match: "push", Duplicate: -1}, "duplicate"},
		"a body that is no JSON":           {control.Rule{Match: "push", Body: []byte(`{"items":[`)}, "body"},
		"a calendar where calls name none": {control.Rule{Match: "push", Status: 503, Calendar: "club"}, "calendar"},
		"an empty alternative":             {control.Rule{Match: "push|"}, "match"},
		"a status out of range":            {control.Rule{Match: "push", Status: 600}, "status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newControl()
			err := c.Plant(tc.rule)
			if err == nil || !strings.Contains(err.Error(), tc.word) {
				t.Errorf("got %v, want an error that names %q", err, tc.word)
			}
			if n := len(c.Rules()); n != 0 {
				t.Errorf("%d rules planted, want none", n)
			}
		})
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	clock := control.NewClock(func() time.Time { return epoch })
	var received time.Duration
	clock.OnAdvance(func(offset time.Duration) error { received = offset; return nil })
	if err := clock.Advance(72 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := clock.Advance(-time.Second); !errors.Is(err, control.ErrBackwards) {
		t.Errorf("going back: got %v", err)
	}
	if want := epoch.Add(72 * time.Hour); !clock.Now().Equal(want) {
		t.Errorf("now %v, want %v", clock.Now(), want)
	}
	if received != 72*time.Hour || clock.Offset() != received {
		t.Errorf("OnAdvance received %v, offset %v", received, clock.Offset())
	}
	broken := errors.New("disk full")
	clock.OnAdvance(func(time.Duration) error { return broken })
	if err := clock.Advance(time.Hour); !errors.Is(err, broken) {
		t.Errorf("a listener's failure: got %v", err)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	c := newControl()
	mux := http.NewServeMux()
	c.Register(mux)
	client := &http.Client{Transport: control.Transport(mux)}
	call := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://sim"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, strings.TrimSpace(string(text))
	}
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{
			"POST", "/_sim/faults", `{"match":"events.list","status":503,"times":3,"delay_ms":50}`, 200,
			`{"faults":[{"match":"events.list","status":503,"times":3,"delay_ms":50}]}`,
		},
		{"POST", "/_sim/faults", `{"match":"events.list","statos":503}`, 400, "statos"},
		{"POST", "/_sim/faults", `{"match":"nothing"}`, 400, "no such method"},
		{"POST", "/_sim/faults", `{`, 400, "error"},
		{"POST", "/_sim/faults", `{"match":"push"} {}`, 400, "nothing after it"},
		{"GET", "/_sim/faults", "", 200, `"times":3`},
		{"DELETE", "/_sim/faults", "", 200, `{"faults":[]}`},
		{"POST", "/_sim/clock", `{"advance":"72h"}`, 200, `"now":"2026-03-04T12:00:00Z"`},
		{"POST", "/_sim/clock", `{"advance":"-1h"}`, 400, "forward"},
		{"POST", "/_sim/clock", `{"advance":"soon"}`, 400, "advance"},
		{"GET", "/_sim/clock", "", 200, `"offset":"72h0m0s"`},
	} {
		status, text := call(step.method, step.path, step.body)
		if status != step.status || !strings.Contains(text, step.want) {
			t.Errorf("%s %s %s: got %d %s, want %d with %s", step.method, step.path, step.body, status, text, step.status, step.want)
		}
	}

	c.Take(control.Call{Method: "events.list"})
	c.Take(control.Call{Method: "events.list"})
	c.Take(control.Call{Method: "push"})
	_, text := call("GET", "/_sim/calls", "")
	counts := map[string]int{}
	if err := json.Unmarshal([]byte(text), &counts); err != nil || counts["events.list"] != 2 || counts["push"] != 1 || len(counts) != 2 {
		t.Errorf("calls: got %s (%v)", text, err)
	}
	_, text = call("DELETE", "/_sim/calls", "")
	if text != "{}" {
		t.Errorf("after the reset: %s", text)
	}
}

// effects serves "done" and counts how often it took effect.
func effects(c *control.Control, n *atomic.Int32) http.Handler {
	refuse := func(w http.ResponseWriter, _ *http.Request, f control.Fault) {
		http.Error(w, f.Reason, f.Status)
	}
	return c.Wrap("events.insert", refuse, func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		io.WriteString(w, "done")
	})
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]func(*testing.T, http.Handler) (*http.Client, string){
		"over a socket": func(t *testing.T, h http.Handler) (*http.Client, string) {
			server := httptest.NewServer(h)
			t.Cleanup(server.Close)
			return server.Client(), server.URL
		},
		"in process": func(_ *testing.T, h http.Handler) (*http.Client, string) {
			return &http.Client{Transport: control.Transport(h)}, "http://sim"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, n := newControl(), new(atomic.Int32)
			client, url := client(t, effects(c, n))
			post := func() (int, string, error) {
				resp, err := client.Post(url, "text/plain", nil)
				if err != nil {
					return 0, "", err
				}
				defer resp.Body.Close()
				text, err := io.ReadAll(resp.Body)
				return resp.StatusCode, strings.TrimSpace(string(text)), err
			}

			plant(t, c, control.Rule{Match: "events.insert", Status: 503, Reason: "backendError", Times: 1})
			if status, text, err := post(); status != 503 || text != "backendError" || err != nil || n.Load() != 0 {
				t.Errorf("refused: got %d %q %v with %d effects", status, text, err, n.Load())
			}
			plant(t, c, control.Rule{Match: "events.insert", Body: []byte(`{"items":7}`), Times: 1},
				control.Rule{Match: "events.insert", Body: []byte(`[]`), Status: 502, Times: 1})
			if status, text, err := post(); status != 200 || text != `{"items":7}` || err != nil || n.Load() != 0 {
				t.Errorf("another body: got %d %q %v with %d effects", status, text, err, n.Load())
			}
			if status, text, err := post(); status != 502 || text != `[]` || err != nil || n.Load() != 0 {
				t.Errorf("another body with a status: got %d %q %v with %d effects", status, text, err, n.Load())
			}
			plant(t, c, control.Rule{Match: "events.insert", LostAnswer: true, Times: 1})
			if status, _, err := post(); err == nil || n.Load() != 1 {
				t.Errorf("lost answer: got %d, %v with %d effects, want an error and one effect", status, err, n.Load())
			}
			if status, text, err := post(); status != 200 || text != "done" || err != nil || n.Load() != 2 {
				t.Errorf("served: got %d %q %v with %d effects", status, text, err, n.Load())
			}
			if got := c.Calls()["events.insert"]; got != 5 {
				t.Errorf("%d calls counted, want all 5", got)
			}
		})
	}
}

func TestTransport_LostAnswer_IsAnUnexpectedEOF(t *testing.T) {
	t.Parallel()
	c, n := newControl(), new(atomic.Int32)
	plant(t, c, control.Rule{Match: "events.insert", LostAnswer: true})
	client := &http.Client{Transport: control.Transport(effects(c, n))}
	if _, err := client.Get("http://sim/"); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

func TestTransport_Handler_ReceivesAServersRequest(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.RequestURI != "/a%2Fb?c=d" || r.Host != "sim" {
			t.Errorf("body %v, uri %q, host %q", r.Body, r.RequestURI, r.Host)
		}
		w.WriteHeader(http.StatusNoContent)
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("Late", "unseen")
	})
	resp, err := (&http.Client{Transport: control.Transport(h)}).Get("http://sim/a%2Fb?c=d")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Status != "204 No Content" || resp.Header.Get("Late") != "" {
		t.Errorf("got %q, %v", resp.Status, resp.Header)
	}
}

func TestTransport_ContextEndsDuringADelay_ReturnsItsError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, n := newControl(), new(atomic.Int32)
		plant(t, c, control.Rule{Match: "events.insert", DelayMS: 60_000})
		client := &http.Client{Transport: control.Transport(effects(c, n))}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/", nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := client.Do(req); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if n.Load() != 0 || time.Since(began) != time.Second {
			t.Errorf("%d effects after %v", n.Load(), time.Since(began))
		}
	})
}
