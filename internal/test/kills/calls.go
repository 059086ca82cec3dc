package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// object is a JSON object.
type object = map[string]any

// answer is what a call was answered.
type answer struct {
	status int
	data   object // of our API what stands in its envelope's data
	raw    []byte
}

func (a answer) good() bool { return a.status >= 200 && a.status < 300 }

// answered reports whether a call has its answer for good: no failure of the program, and no
// request to try again.
func (a answer) answered() bool {
	return a.status != 0 && a.status < 500 && a.status != http.StatusTooManyRequests && a.status != http.StatusRequestTimeout
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.raw) }

// send makes a call over HTTP. Without an answer its status is 0.
func send(ctx context.Context, by *http.Client, method, address, bearer string, body any, key string) answer {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			panic(err) // the bodies are this program's own
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		panic(err) // so are the addresses
	}
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, err := by.Do(request)
	if err != nil {
		return answer{raw: []byte(err.Error())}
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{raw: []byte(err.Error())}
	}
	var data object
	_ = json.Unmarshal(raw, &data) // a feed is no JSON
	return answer{status: response.StatusCode, data: data, raw: raw}
}

// v1 calls our API as somebody.
func (w *world) v1(ctx context.Context, who, method, path string, body any, key string) answer {
	a := send(ctx, w.server.HTTP, method, w.server.URL+path, w.tokens[who], body, key)
	if data, is := a.data["data"].(object); is {
		a.data = data
	}
	return a
}

// calendar calls Google Calendar as an account, which always answers: it outlives the program.
func (w *world) calendar(ctx context.Context, as account, method, path string, body any) answer {
	return send(ctx, w.outside, method, w.sims.googleURL+"/calendar/v3/"+path, as.token, body, "")
}

// account is somebody's Google account.
type account struct{ id, email, token string }

func (a account) events() string { return "calendars/" + url.PathEscape(a.email) + "/events" }

func (a account) event(id string) string { return a.events() + "/" + url.PathEscape(id) }

// shown are the live events of a calendar that begin in the time of all events here.
func (w *world) shown(ctx context.Context, as account, calendar string) ([]object, error) {
	query := url.Values{
		"maxResults": {"2500"}, "timeMin": {w.times.first.Add(-apart).Format(time.RFC3339)},
		"timeMax": {w.times.first.Add((timesDays + 1) * 24 * time.Hour).Format(time.RFC3339)},
	}
	var all []object
	for {
		got := w.calendar(ctx, as, http.MethodGet, "calendars/"+url.PathEscape(calendar)+"/events?"+query.Encode(), nil)
		if !got.good() {
			return nil, fmt.Errorf("list %s: %v", calendar, got)
		}
		for _, event := range list(got.data["items"]) {
			if event["status"] != "cancelled" {
				all = append(all, event)
			}
		}
		next := text(got.data, "nextPageToken")
		if next == "" {
			return all, nil
		}
		query.Set("pageToken", next)
	}
}

// pages reads a list of our API to its end.
func (w *world) pages(ctx context.Context, who, path, name string) ([]object, error) {
	var all []object
	for cursor := ""; ; {
		got := send(ctx, w.server.HTTP, http.MethodGet, w.server.URL+path+cursor, w.tokens[who], nil, "")
		if !got.good() {
			return nil, fmt.Errorf("GET %s: %v", path, got)
		}
		data, _ := got.data["data"].(object)
		all = append(all, list(data[name])...)
		next := text(got.data, "meta", "next_cursor")
		if next == "" {
			return all, nil
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
}

// list are the objects of a list.
func list(value any) (all []object) {
	items, _ := value.([]any)
	for _, item := range items {
		if one, is := item.(object); is {
			all = append(all, one)
		}
	}
	return all
}

// text is a text within objects; "": none.
func text(from object, names ...string) string {
	var at any = from
	for _, name := range names {
		below, _ := at.(object)
		at = below[name]
	}
	found, _ := at.(string)
	return found
}

// span is a time as events and slots are compared: both instants in UTC.
type span struct{ start, end string }

func instants(start, end time.Time) span {
	return span{start.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339)}
}

func parsed(start, end string) span {
	from, err := time.Parse(time.RFC3339, start)
	to, err2 := time.Parse(time.RFC3339, end)
	if err != nil || err2 != nil {
		return span{start, end}
	}
	return instants(from, to)
}

// eventSpan is when an event of Google's is.
func eventSpan(event object) span {
	return parsed(text(event, "start", "dateTime"), text(event, "end", "dateTime"))
}

// timed is the time of an event as Google takes it.
func timed(start, end time.Time) object {
	at := func(t time.Time) object { return object{"dateTime": t.UTC().Format(time.RFC3339), "timeZone": "UTC"} }
	return object{"start": at(start), "end": at(end)}
}
