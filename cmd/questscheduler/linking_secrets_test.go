package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"questscheduler/api"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
)

// Prefixes of what the simulator issues: codes, refresh tokens and access tokens.
var secretsOfGoogle = []string{"4/0A-sim-", "1//sim-", "ya29.sim-"}

// secretWorld is a server over a Google simulator, with all of its output.
type secretWorld struct {
	*outside
	served *serving
	google *google.Server
	said   strings.Builder
}

const publicURL = "https://quests.example"

func newSecretWorld(t *testing.T, dir string) *secretWorld {
	t.Helper()
	sim, err := google.New(google.Options{ClientID: "client-id", ClientSecret: secretOfClient})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.AddUser(google.User{Key: "gm", Sub: "sub-gm", Email: "gm@party.example"}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(server.Close)
	environ := settings(dir, "QS_SYNC=on", "QS_PUBLIC_URL="+publicURL, "QS_GOOGLE_ENDPOINT="+server.URL,
		"QS_DISCORD_BOT_TOKEN="+secretOfBot, "QS_DISCORD_ENDPOINT="+server.URL, "QS_METRICS_TOKEN="+secretOfFigures, "QS_LOG_LEVEL=debug")
	w := &secretWorld{served: serve(t, environ), google: sim}
	w.outside = w.served.asking(environ, "gm")
	return w
}

// get requests an address as a client of gm, follows no redirect, and keeps the answer.
func (w *secretWorld) get(address string) (location string) {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, strings.Replace(address, publicURL, w.ready.API, 1), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.ready.Users["gm"].Token)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.said.Write(text)
	return response.Header.Get("Location")
}

// call calls a route of /v1 and keeps the answer, errors too.
func (w *secretWorld) call(method, path string, body any) map[string]any {
	w.t.Helper()
	got, err := w.try(method, w.ready.API+"/v1"+path, "Bearer "+w.ready.Users["gm"].Token, body)
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := json.Marshal(got.body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.said.Write(text)
	data, _ := got.body["data"].(map[string]any)
	return data
}

// consent follows the consent flow to the callback, with a fault of the token endpoint.
func (w *secretWorld) consent(fault control.Rule) {
	w.t.Helper()
	start, _ := w.call("POST", "/accounts/link", map[string]any{})["url"].(string)
	back, err := w.google.Consent(w.t.Context(), w.get(start), google.Consent{User: "gm"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.under(fault, func() { w.said.WriteString(w.get(back)) })
}

func (w *secretWorld) under(fault control.Rule, do func()) {
	w.t.Helper()
	if fault.Match != "" {
		if err := w.google.Control().Plant(fault); err != nil {
			w.t.Fatal(err)
		}
	}
	do()
	w.google.Control().Clear()
}

// Every part that uses a token runs through its failures. No file, log line or
// answer may hold a token.
func TestSecrets_AppearNowhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newSecretWorld(t, dir)
	for _, fault := range []control.Rule{
		{Match: "oauth.token", Status: 503}, {Match: "oauth.token", Status: 400}, {Match: "oauth.token", Status: 401},
		{Match: "oauth.token", LostAnswer: true}, {},
	} {
		w.consent(fault)
	}
	id, _ := list(w.call("GET", "/accounts", nil)["accounts"])[0]["id"].(string)
	poll := w.call("POST", "/polls", map[string]any{
		"title": "Session", "slots": []map[string]string{{"start": "2027-03-01T18:00:00Z", "end": "2027-03-01T20:00:00Z"}},
	})
	pollID, slotID := poll["id"], list(poll["slots"])[0]["id"]
	finalize := func() {
		w.call("POST", fmt.Sprintf("/polls/%s/finalize", pollID), map[string]any{"slot_id": slotID})
		w.call("POST", fmt.Sprintf("/polls/%s/sync", pollID), nil)
	}
	for _, status := range []int{401, 403, 500} {
		w.under(control.Rule{Match: "events.*", Status: status, Reason: "authError"}, finalize)
	}
	w.consent(control.Rule{})
	finalize()
	w.call("GET", "/accounts/"+id+"/calendars", nil)
	w.under(control.Rule{Match: "oauth.revoke", Status: 503}, func() { w.call("DELETE", "/accounts/"+id, nil) })
	w.consent(control.Rule{})
	if err := w.google.Revoke("gm"); err != nil {
		t.Fatal(err)
	}
	finalize()
	w.call("GET", "/accounts/"+id, nil)
	w.call("GET", fmt.Sprintf("/polls/%s/journal", pollID), nil)
	if calls := w.google.Control().Calls(); calls["oauth.token"] < 8 || calls["events.insert"] == 0 || calls["oauth.revoke"] == 0 {
		t.Fatalf("too few calls: %v", calls)
	}

	holding := map[string]string{
		"an answer": w.said.String(), "the log": w.served.log.String(),
		"the figures": w.served.text(api.PathMetrics, secretOfFigures),
	}
	readAll(t, dir, holding) // the files of a server that runs, its WAL among them
	w.served.stop()
	holding["the log at the end"] = w.served.log.String()
	readAll(t, dir, holding)
	sealed := false
	for where, text := range holding {
		sealed = sealed || strings.Contains(text, "v1.k1.")
		for _, secret := range append([]string{secretOfClient, secretOfBot, secretOfFigures, secretKey}, secretsOfGoogle...) {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s holds a secret: %.80q", where, text[max(0, at-40):])
			}
		}
	}
	if !sealed {
		t.Error("no file holds a sealed token: the store was not read")
	}
}

// readAll reads every file below a folder.
func readAll(t *testing.T, dir string, into map[string]string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && len(bytes.TrimSpace(content)) > 0 {
			into[fmt.Sprintf("%s, read %d", filepath.Base(path), len(into))] = string(content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
