package discord_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
)

func lostAnswer(match string) control.Rule {
	return control.Rule{Match: match, LostAnswer: true, Times: 1}
}

func TestFaults_EveryMethod_IsMatchedByName(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, verb, path string
		status, code     int // what a fault of 404 and no reason says
	}{
		{"messages.create", http.MethodPost, messages, 404, 10003},
		{"messages.list", http.MethodGet, messages, 404, 10003},
		{"messages.get", http.MethodGet, messages + "/1", 404, 10008},
		{"messages.edit", http.MethodPatch, messages + "/1", 404, 10008},
		{"messages.delete", http.MethodDelete, messages + "/1", 404, 10008},
		{"channels.get", http.MethodGet, "/api/v9/channels/" + channel, 404, 10003},
		{"guilds.get", http.MethodGet, "/api/v9/guilds/" + guildID, 404, 10004},
		{"applications.get", http.MethodGet, "/api/v9/applications/@me", 404, 0},
		{"applications.patch", http.MethodPatch, "/api/v9/applications/@me", 404, 0},
		{"commands.list", http.MethodGet, commands, 404, 0},
		{"commands.upsert", http.MethodPost, commands, 404, 0},
		{"commands.put", http.MethodPut, commands, 404, 0},
		{"commands.delete", http.MethodDelete, commands + "/1", 404, 10063},
		{"webhooks.create", http.MethodPost, "/api/v9/webhooks/1/token", 404, 10015},
		{"webhooks.edit", http.MethodPatch, "/api/v9/webhooks/1/token/messages/@original", 404, 10015},
		{"users.get", http.MethodGet, "/api/v9/users/@me", 404, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.plant(control.Rule{Match: row.name, Status: 404, Times: 1})
			a := s.call(row.verb, row.path, nil)
			var r refusal
			a.into(t, &r)
			if a.status != row.status || r.Code != row.code {
				t.Errorf("answer %d %s", a.status, a.body)
			}
			var calls map[string]int
			s.call(http.MethodGet, "/_sim/calls", nil).into(t, &calls)
			if len(calls) != 1 || calls[row.name] != 1 {
				t.Errorf("counted %v", calls)
			}
		})
	}
	t.Run("a name that is none is refused", func(t *testing.T) {
		t.Parallel()
		s := start(t)
		if a := s.call(http.MethodPost, "/_sim/faults", `{"match":"events.list","status":503}`); a.status != http.StatusBadRequest {
			t.Errorf("answer %d %s", a.status, a.body)
		}
	})
}

func TestFaults_StatusAndReason(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		rule    control.Rule
		status  int
		code    int
		message string
	}{
		{"a server error", control.Rule{Status: 503}, 503, 0, "503: Service Unavailable"},
		{"forbidden", control.Rule{Status: 403}, 403, 50001, "Missing Access"},
		{"unauthorised", control.Rule{Status: 401}, 401, 0, "401: Unauthorized"},
		{"bad request", control.Rule{Status: 400}, 400, 50035, "Invalid Form Body"},
		{"a code that is known", control.Rule{Status: 403, Reason: "50013"}, 403, 50013, "Missing Permissions"},
		{"an archived thread", control.Rule{Status: 400, Reason: "50083"}, 400, 50083, "Thread is archived"},
		{"a code that is not known", control.Rule{Status: 400, Reason: "12345"}, 400, 12345, "12345"},
		{"a message", control.Rule{Status: 500, Reason: "out to lunch"}, 500, 0, "out to lunch"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			row.rule.Match, row.rule.Times = "messages.*", 2
			s.plant(row.rule)
			for range 2 {
				wantRefusal(t, s.call(http.MethodPost, messages, `{"content":"x"}`), row.status, row.code, row.message)
			}
			s.post(`{"content":"x"}`)
			if n := len(s.Messages(channel)); n != 1 {
				t.Errorf("%d messages: a call that was refused took effect", n)
			}
		})
	}
}

func TestFaults_Cleared_AreGone(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.plant(control.Rule{Match: "*", Status: 503})
	s.call(http.MethodDelete, "/_sim/faults", nil)
	s.post(`{"content":"x"}`)
}

func TestFaults_RateLimit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, reason string
		retryAfter   float64
		header       string
		global       bool
		scope        string
	}{
		{"without a reason", "", 0.5, "1", false, "user"},
		{"with seconds", "2.25", 2.25, "3", false, "user"},
		{"global", "global", 0.5, "1", true, "global"},
		{"global with seconds", "global 61", 61, "61", true, "global"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.plant(control.Rule{Match: "messages.create", Status: 429, Reason: row.reason, Times: 1})
			a := s.call(http.MethodPost, messages, `{"content":"x"}`)
			r := wantRefusal(t, a, http.StatusTooManyRequests, 0, "You are being rate limited.")
			if r.RetryAfter != row.retryAfter || r.Global == nil || *r.Global != row.global {
				t.Errorf("body %s", a.body)
			}
			if a.header.Get("Retry-After") != row.header || a.header.Get("X-RateLimit-Scope") != row.scope ||
				(a.header.Get("X-RateLimit-Global") == "true") != row.global {
				t.Errorf("headers %v", a.header)
			}
			if n := len(s.Messages(channel)); n != 0 {
				t.Errorf("%d messages: a call that was refused took effect", n)
			}
		})
	}
}

func TestFaults_RateLimit_ThroughTheClient(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.plant(control.Rule{Match: "messages.create", Status: 429, Reason: "1.5", Times: 1})
	_, err := s.session().ChannelMessageSend(channel, "x")
	var limited *discordgo.RateLimitError
	if !errors.As(err, &limited) || limited.RetryAfter != 1500*time.Millisecond {
		t.Errorf("error %v", err)
	}
}

func TestFaults_LostAnswer_TheEffectTakesPlace(t *testing.T) {
	t.Parallel()
	s := start(t)
	m := s.post(`{"content":"x"}`)
	for _, row := range []struct {
		name, verb, path string
		body             any
	}{
		{"messages.create", http.MethodPost, messages, `{"content":"y"}`},
		{"messages.edit", http.MethodPatch, messages + "/" + m.ID, `{"content":"z"}`},
	} {
		s.plant(lostAnswer(row.name))
		if a, err := s.try(row.verb, row.path, row.body); err == nil {
			t.Errorf("%s was answered %d %s", row.name, a.status, a.body)
		}
	}
	got := s.Messages(channel)
	if len(got) != 2 || got[0].Content != "z" || got[1].Content != "y" {
		t.Errorf("messages %+v", got)
	}
	s.plant(lostAnswer("messages.delete"))
	if _, err := s.try(http.MethodDelete, messages+"/"+m.ID, nil); err == nil {
		t.Error("the delete was answered")
	}
	if n := len(s.Messages(channel)); n != 1 {
		t.Errorf("%d messages after the delete", n)
	}
}

func TestRateLimit_HeadersCountDown_AndAboveTheLimitIs429(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *discord.Options) { o.RouteLimit = 2 })
	for _, want := range []string{"1", "0"} {
		a := s.call(http.MethodPost, messages, `{"content":"x"}`)
		h := a.header
		if a.status != http.StatusOK || h.Get("X-RateLimit-Limit") != "2" || h.Get("X-RateLimit-Remaining") != want ||
			h.Get("X-RateLimit-Reset-After") != "1.000" || h.Get("X-RateLimit-Reset") != "1795262401.000" || h.Get("X-RateLimit-Bucket") == "" {
			t.Errorf("answer %d, headers %v", a.status, h)
		}
	}
	s.clock.add(250 * time.Millisecond)
	a := s.call(http.MethodPost, messages, `{"content":"x"}`)
	r := wantRefusal(t, a, http.StatusTooManyRequests, 0, "You are being rate limited.")
	if r.RetryAfter != 0.75 || *r.Global || a.header.Get("Retry-After") != "1" || a.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("body %s, headers %v", a.body, a.header)
	}
	if a := s.call(http.MethodGet, messages, nil); a.status != http.StatusOK {
		t.Errorf("another route is answered %d", a.status)
	}
	s.clock.add(750 * time.Millisecond)
	s.post(`{"content":"x"}`)
}
