package discord_test

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
)

// endpoint is a program that takes interactions: it verifies signatures, answers PINGs,
// and everything else as it is told.
type endpoint struct {
	key    ed25519.PublicKey
	answer func(body string) string // JSON

	mu       sync.Mutex
	received []string
	forged   int
}

func newEndpoint(t *testing.T, s *discord.Server, answer func(string) string) *endpoint {
	t.Helper()
	_, text := s.Application()
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		t.Fatalf("key %q: %v", text, err)
	}
	return &endpoint{key: key, answer: answer}
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	signature, _ := hex.DecodeString(r.Header.Get("X-Signature-Ed25519"))
	at := r.Header.Get("X-Signature-Timestamp")
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.key) > 0 && !ed25519.Verify(e.key, append([]byte(at), body...), signature) {
		e.forged++
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if strings.Contains(string(body), `"type":1,`) && !strings.Contains(string(body), `"data"`) {
		_, _ = io.WriteString(w, `{"type":1}`)
		return
	}
	e.received = append(e.received, string(body))
	_, _ = io.WriteString(w, e.answer(string(body)))
}

// answering gives the simulator an endpoint that answers everything with one JSON.
func (s sim) answering(answer string) *endpoint {
	s.t.Helper()
	return s.asking(func(string) string { return answer })
}

func (s sim) asking(answer func(string) string) *endpoint {
	s.t.Helper()
	e := newEndpoint(s.t, s.Server, answer)
	web := httptest.NewServer(e)
	s.t.Cleanup(web.Close)
	if a := s.call(http.MethodPut, "/_sim/application", map[string]string{"endpoint": web.URL}); a.status != http.StatusOK {
		s.t.Fatalf("endpoint: %d %s", a.status, a.body)
	}
	return e
}

// result is what POST /_sim/interactions answers.
type result struct {
	ID     string          `json:"id"`
	Token  string          `json:"token"`
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer"`
	Error  string          `json:"error"`
}

// act sends an interaction of the usual person in the usual channel.
func (s sim) act(kind int, data string, more ...string) (int, result) {
	s.t.Helper()
	a := s.call(http.MethodPost, "/_sim/interactions", actBody(kind, data, more...))
	var r result
	a.into(s.t, &r)
	return a.status, r
}

func actBody(kind int, data string, more ...string) string {
	return `{"user":{"id":"` + userID + `","username":"gm","global_name":"GM"},"guild_id":"` + guildID + `","channel_id":"` + channel +
		`","type":` + string(rune('0'+kind)) + `,"data":` + data + strings.Join(append([]string{""}, more...), ",") + `}`
}

func (s sim) ephemerals() []discord.Message {
	s.t.Helper()
	var list []discord.Message
	s.call(http.MethodGet, "/_sim/ephemerals/"+userID, nil).into(s.t, &list)
	return list
}

func TestApplication_Endpoint_IsProbed(t *testing.T) {
	t.Parallel()
	s := start(t)
	good := newEndpoint(t, s.Server, nil)
	for _, row := range []struct {
		name    string
		handler http.Handler
		failure string // "" is a good endpoint
	}{
		{"that verifies", good, ""},
		{"that verifies nothing", &endpoint{}, "bad signature: the endpoint answered 200 instead of 401"},
		{"that is down", http.NotFoundHandler(), "good signature: the endpoint answered 404 instead of 200"},
		{"that answers no PING", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"type":4}`)
		}), `answered {"type":4} instead of {"type":1}`},
		{"that answers text", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"type":1}`)
		}), "content type"},
	} {
		t.Run(row.name, func(t *testing.T) {
			web := httptest.NewServer(row.handler)
			defer web.Close()
			s.call(http.MethodPut, "/_sim/application", `{"endpoint":""}`)
			control := s.call(http.MethodPut, "/_sim/application", `{"endpoint":"`+web.URL+`"}`)
			patch := s.call(http.MethodPatch, "/api/v10/applications/@me", `{"interactions_endpoint_url":"`+web.URL+`"}`)
			var app struct {
				ID, URL string
				Key     string `json:"verify_key"`
				At      any    `json:"interactions_endpoint_url"`
			}
			s.call(http.MethodGet, "/api/v10/applications/@me", nil).into(t, &app)
			id, key := s.Application()
			if app.ID != id || app.Key != key {
				t.Errorf("application %+v; want %s, %s", app, id, key)
			}
			if row.failure == "" {
				if control.status != http.StatusOK || patch.status != http.StatusOK || app.At != web.URL {
					t.Errorf("answers %d %s, %d %s, then %+v", control.status, control.body, patch.status, patch.body, app)
				}
				return
			}
			var refused struct{ Error string }
			control.into(t, &refused)
			if control.status != http.StatusBadRequest || !strings.Contains(refused.Error, row.failure) || app.At != nil {
				t.Errorf("answer %d %s, then %+v", control.status, control.body, app)
			}
			wantRefusal(t, patch, http.StatusBadRequest, 50035, "Invalid Form Body")
		})
	}
	if good.forged == 0 {
		t.Error("no bad signature was sent")
	}
}

func TestRestart_Application_KeepsKeyEndpointAndTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, in(dir))
	s.answering(`{"type":5,"data":{"flags":64}}`)
	_, r := s.act(2, `{"name":"quest"}`)
	s.call(http.MethodPost, commands, `{"name":"quest","description":"Plan"}`)
	s.call(http.MethodPut, "/_sim/members/"+userID, `{"permissions":"16"}`)
	id, key := s.Application()

	again := open(t, in(dir))
	if newID, newKey := again.Application(); newID != id || newKey != key {
		t.Errorf("application %s %s became %s %s", id, key, newID, newKey)
	}
	if a := again.call(http.MethodPatch, original(r.Token), `{"content":"done"}`); a.status != http.StatusOK {
		t.Errorf("edit: %d %s", a.status, a.body)
	}
	if list := again.ephemerals(); len(list) != 1 || list[0].Content != "done" || list[0].Flags != 64 {
		t.Errorf("ephemerals %+v", list)
	}
	if status, r := again.act(2, `{"name":"quest"}`); status != http.StatusOK {
		t.Errorf("the endpoint was forgotten: %d %+v", status, r)
	}
	if list := again.call(http.MethodGet, commands, nil); !strings.Contains(string(list.body), `"quest"`) {
		t.Errorf("commands %s", list.body)
	}
}

func TestInteraction_LateAnswer_IsRefusedAfterThreeSeconds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		takes  time.Duration
		status int
	}{{2900 * time.Millisecond, http.StatusOK}, {3100 * time.Millisecond, http.StatusBadGateway}} {
		t.Run(row.takes.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { lateAnswer(t, row.takes, row.status) })
		})
	}
}

func lateAnswer(t *testing.T, takes time.Duration, status int) {
	t.Helper()
	var e *endpoint
	s, err := discord.New(discord.Options{Token: token, EndpointClient: &http.Client{
		Transport: control.Transport(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { e.ServeHTTP(w, r) })),
	}})
	if err != nil {
		t.Fatal(err)
	}
	e = newEndpoint(t, s, func(string) string { time.Sleep(takes); return `{"type":4,"data":{"content":"x"}}` })
	client := &http.Client{Transport: control.Transport(s.Handler())}
	call := func(verb, path, body string) answer {
		req, err := http.NewRequest(verb, "http://discord.test"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		return answer{res.StatusCode, res.Header, text}
	}
	call(http.MethodPut, "/_sim/application", `{"endpoint":"http://program.test/"}`)
	a := call(http.MethodPost, "/_sim/interactions", `{"user":{"id":"5"},"channel_id":"6","type":2,"data":{"name":"quest"}}`)
	var r result
	a.into(t, &r)
	if a.status != status || (status != http.StatusOK) != strings.Contains(r.Error, "within 3s") {
		t.Errorf("answer %d %s", a.status, a.body)
	}
	edit := call(http.MethodPatch, original(r.Token), `{"content":"y"}`)
	if status == http.StatusOK {
		if edit.status != http.StatusOK {
			t.Errorf("edit: %d %s", edit.status, edit.body)
		}
		return
	}
	wantRefusal(t, edit, http.StatusNotFound, 10062, "Unknown interaction")
}
