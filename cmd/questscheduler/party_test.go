package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"questscheduler/demo"
)

// outside is an external client. It knows only the line that `demo --json` prints, and
// speaks Calendar v3's REST API, Discord's, and /v1.
type outside struct {
	t     *testing.T
	ready demo.Ready
}

// patience is how long an asynchronous effect may take. It is long, for busy machines;
// only a failing test waits for it.
const patience = time.Minute

// A waiter polls soon at first and then less often, since polling loads the machine that
// it waits for.
const (
	shortPause = 10 * time.Millisecond
	longPause  = 100 * time.Millisecond
)

// eventually repeats check until it succeeds, and fails with its last error after
// patience.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	within(t, patience, what, check)
}

// within is eventually with its own patience.
func within(t *testing.T, patience time.Duration, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for pause := shortPause; ; pause = min(2*pause, longPause) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		<-time.After(pause)
	}
}

// unlinkSecond leaves the game master one account.
func (o *outside) unlinkSecond() {
	o.t.Helper()
	if _, err := o.v1("gm", "DELETE", "/accounts/"+o.ready.Users["gm"].Second.AccountID, nil); err != nil {
		o.t.Fatal(err)
	}
}

// answer is a response: its status and its JSON.
type answer struct {
	status int
	body   map[string]any
}

// try makes a call and returns its answer, or why there is none. Headers come in pairs.
// It also works in a clean-up, after the test's own context ended.
func (o *outside) try(method, url, bearer string, body any, headers ...string) (answer, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		content = bytes.NewReader(encoded)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.t.Context()), 3*patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, content)
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Authorization", bearer)
	for pair := range slices.Chunk(headers, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	got := answer{status: response.StatusCode}
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	o.holdToDocument(request, response.StatusCode, raw)
	var anything any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &anything); err != nil {
			return answer{}, fmt.Errorf("%s %s answers %d and no JSON: %s", method, url, response.StatusCode, raw)
		}
	}
	switch value := anything.(type) {
	case map[string]any:
		got.body = value
	case []any:
		got.body = map[string]any{"list": value}
	}
	return got, nil
}

// v1 calls our API as a member of the party and returns the data of the answer.
func (o *outside) v1(who, method, path string, body any) (map[string]any, error) {
	got, err := o.try(method, o.ready.API+"/v1"+path, "Bearer "+o.ready.Users[who].Token, body)
	if err != nil {
		return nil, err
	}
	if got.status >= 300 {
		return nil, fmt.Errorf("%s /v1%s answers %d: %v", method, path, got.status, got.body["error"])
	}
	data, ok := got.body["data"].(map[string]any)
	if !ok || got.body["ok"] != true {
		return nil, fmt.Errorf("%s /v1%s is not in the envelope: %v", method, path, got.body)
	}
	return data, nil
}

// poll reads a poll as the game master.
func (o *outside) poll(id string) (map[string]any, error) {
	return o.v1("gm", "GET", "/polls/"+id, nil)
}

// event calls Calendar v3 for an event in the game master's calendar.
func (o *outside) event(method, id string, body any) (answer, error) {
	return o.eventOf("gm", method, id, body)
}

// eventOf calls Calendar v3 for an event in a person's own calendar.
func (o *outside) eventOf(who, method, id string, body any) (answer, error) {
	user := o.ready.Users[who]
	return o.try(method, strings.TrimSuffix(o.ready.Google+"/calendar/v3/calendars/"+user.CalendarID+"/events/"+id, "/"),
		"Bearer "+user.GoogleToken, body)
}

// events lists the live events of the game master's calendar that have a title.
func (o *outside) events(title string) []map[string]any {
	o.t.Helper()
	got, err := o.event("GET", "", nil)
	if err != nil || got.status != http.StatusOK {
		o.t.Fatalf("list events: %v %v", got, err)
	}
	var found []map[string]any
	for _, item := range list(got.body["items"]) {
		if item["summary"] == title && item["status"] != "cancelled" {
			found = append(found, item)
		}
	}
	return found
}

// messages are all messages in the party's channel, newest first.
func (o *outside) messages() ([]map[string]any, error) {
	var all []map[string]any
	for before := ""; ; {
		got, err := o.try("GET", o.ready.Discord+"/api/v9/channels/"+o.ready.DiscordChannel+"/messages?limit=100"+before,
			"Bot "+o.ready.DiscordToken, nil)
		if err != nil || got.status != http.StatusOK {
			return nil, fmt.Errorf("list messages: %v %w", got, err)
		}
		page := list(got.body["list"])
		all = append(all, page...)
		if len(page) < 100 {
			return all, nil
		}
		before = fmt.Sprintf("&before=%v", page[len(page)-1]["id"])
	}
}

// said lists the messages in the party's channel about a poll that contain a word.
func (o *outside) said(title, word string) ([]map[string]any, error) {
	messages, err := o.messages()
	return slices.DeleteFunc(messages, func(message map[string]any) bool {
		content, _ := message["content"].(string)
		return !strings.Contains(content, title) || !strings.Contains(content, word)
	}), err
}

// notices counts a person's in-app notices of a type about a poll.
func (o *outside) notices(who, kind, pollID string) (int, error) {
	data, err := o.v1(who, "GET", "/notifications?limit=100", nil)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, notice := range list(data["notifications"]) {
		resource, _ := notice["resource"].(map[string]any)
		if notice["type"] == kind && resource["id"] == pollID {
			count++
		}
	}
	return count, nil
}

// announcedOnce checks that a transition was announced once: one message on Discord, one
// notice for each player, none for the game master, who caused it.
func (o *outside) announcedOnce(title, pollID, kind, word string) error {
	return o.announcedTimes("gm", title, pollID, kind, word, 1)
}

// announcedTimes checks how often a transition was announced; by is the user who caused
// it and gets no notice.
func (o *outside) announcedTimes(by, title, pollID, kind, word string, times int) error {
	messages, err := o.said(title, word)
	if err != nil {
		return err
	}
	var wrong []error
	if len(messages) != times {
		wrong = append(wrong, fmt.Errorf("%d messages on Discord say %q, want %d", len(messages), word, times))
	}
	for _, who := range demo.Members {
		want := times
		if who == by {
			want = 0
		}
		got, err := o.notices(who, kind, pollID)
		if err != nil {
			wrong = append(wrong, err)
		} else if got != want {
			wrong = append(wrong, fmt.Errorf("%s has %d notices %s, want %d", who, got, kind, want))
		}
	}
	return errors.Join(wrong...)
}

func list(value any) []map[string]any {
	items, _ := value.([]any)
	var all []map[string]any
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			all = append(all, object)
		}
	}
	return all
}

// at walks nested objects.
func at(value any, names ...string) any {
	for _, name := range names {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}
