package control_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
)

// FuzzFaults: a body is a rule that can strike and is kept as it was said, or
// it is refused and nothing changes; a rule strikes as often as it says.
func FuzzFaults(f *testing.F) {
	for _, seed := range []string{
		`{"match":"events.list","status":503,"reason":"backendError","times":3,"delay_ms":50}`, `{"match":"push","drop":true}`,
		`{"match":"*","duplicate":2}`, `{"match":"events.*|push","lost_answer":true,"times":1}`, `{"match":"no.such"}`,
		`{"match":"[","status":500}`,
		`{"match":"push","status":200}`, `{"match":"push","times":-1}`, `{"match":"push","delay_ms":99999999999999999999}`,
		`{"match":"push"}{}`, `{"match":"events.list","body":{"items":7},"times":2}`, `{"match":"push","token":false}`,
		`{"Match":"push","unknown":1}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	methods := []string{"events.list", "events.insert", "push"}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := control.New(control.NewClock(func() time.Time { return time.Unix(0, 0) }), methods...)
		if err := c.Plant(control.Rule{Match: "events.insert", Status: 500}); err != nil {
			t.Fatal(err)
		}
		before := c.Rules()
		mux := http.NewServeMux()
		c.Register(mux)
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/_sim/faults", strings.NewReader(string(body))))
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Code != http.StatusOK {
			if answer.Code != http.StatusBadRequest || !strings.HasPrefix(string(text), `{"error":"`) || !reflect.DeepEqual(c.Rules(), before) {
				t.Fatalf("%d %s, and then %v", answer.Code, text, c.Rules())
			}
			return
		}
		rules := c.Rules()
		if len(rules) != 2 {
			t.Fatalf("one rule was planted, and there are %v", rules)
		}
		strikes(t, c, rules[1], methods)
	})
}

// strikes calls every method until a rule's times are used up.
func strikes(t *testing.T, c *control.Control, rule control.Rule, methods []string) {
	t.Helper()
	c.Clear()
	if err := c.Plant(rule); err != nil {
		t.Fatalf("%+v was kept and cannot be planted: %v", rule, err)
	}
	if rule.Times > 50 {
		return
	}
	struck := 0
	for range max(rule.Times, 1) + 1 {
		for _, method := range methods {
			if fault := c.Take(control.Call{Method: method}); fault != (control.Fault{}) {
				struck++
			}
		}
	}
	idle := rule.Status == 0 && len(rule.Body) == 0 && rule.DelayMS == 0 && !rule.Drop && rule.Duplicate == 0 && !rule.LostAnswer
	if !idle && rule.Times > 0 && struck != rule.Times || idle && struck > 0 || !idle && struck == 0 {
		t.Fatalf("%+v struck %d times", rule, struck)
	}
}
