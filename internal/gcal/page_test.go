package gcal

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/google"
	"questscheduler/fault"
)

// keeping keeps the bodies of what is answered through it.
type keeping struct {
	inner  http.RoundTripper
	bodies *[][]byte
}

// RoundTrip implements http.RoundTripper.
func (k keeping) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := k.inner.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	*k.bodies = append(*k.bodies, body)
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, answer.Body.Close()
}

// simulated is a client of a simulated calendar that holds one of everything,
// and the bodies of its answers.
func simulated(t *testing.T) (client *Client, bodies *[][]byte) {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	sim, err := google.New(google.Options{Now: now, Sequential: true})
	if err != nil {
		t.Fatal(err)
	}
	grant, err := sim.AddUser(google.User{Key: "gm", Sub: "1", Email: "gm@example.test", TimeZone: "Europe/Zurich"})
	if err != nil {
		t.Fatal(err)
	}
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: grant.AccessToken})
	transport := &oauth2.Transport{Source: source, Base: control.Transport(sim.Handler())}
	for _, event := range []string{
		`{"id":"timed1","summary":"Ж \" \\ é \u2028","start":{"dateTime":"2026-03-02T10:00:00+01:00"},"end":{"dateTime":"2026-03-02T11:00:00.5+01:00"}}`,
		`{"id":"local1","start":{"dateTime":"2026-03-02T10:00:00","timeZone":"Asia/Kathmandu"},"end":{"dateTime":"2026-03-02T11:00:00","timeZone":"UTC"}}`,
		`{"id":"entire","start":{"date":"2026-03-02"},"end":{"date":"2026-03-04"},"attendees":[{"email":"ana@example.test"}]}`,
		`{"id":"series","recurrence":["RRULE:FREQ=DAILY"],"start":{"dateTime":"2026-03-02T10:00:00Z","timeZone":"UTC"},"end":{"dateTime":"2026-03-02T11:00:00Z","timeZone":"UTC"}}`,
		`{"id":"marked","start":{"date":"2026-03-02"},"end":{"date":"2026-03-04"},"extendedProperties":{"private":{"a\"b":"1","é":"2"},"shared":{"c":"3"}}}`,
		`{"id":"gone12","start":{"date":"2026-03-02"},"end":{"date":"2026-03-04"}}`,
	} {
		send(t, transport, http.MethodPost, "", event)
	}
	bodies = &[][]byte{}
	client = New(Options{
		Endpoint: "http://google.test", Now: now, PageSize: 2,
		Client: func(context.Context, string) (*http.Client, error) {
			return &http.Client{Transport: keeping{transport, bodies}}, nil
		},
	})
	return client, bodies
}

// send is a call of the calendar's owner.
func send(t *testing.T, transport http.RoundTripper, method, below, body string) {
	t.Helper()
	address := "http://google.test/calendar/v3/calendars/gm@example.test/events" + below
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, body, answer.Status)
	}
}

// TestPages_AreReadAsGooglesClientReadsThem: what a listing gives is what the
// client library, with encoding/json, makes of the same pages.
func TestPages_AreReadAsGooglesClientReadsThem(t *testing.T) {
	t.Parallel()
	client, bodies := simulated(t)
	ref := Ref{Account: "gm", Calendar: "gm@example.test"}
	var pages []Page
	list := func(token string) (next string) {
		for page := ""; ; {
			got, err := client.List(t.Context(), ref, Times, token, page)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, got)
			page = got.NextPage
			if page == "" {
				return got.NextSync
			}
		}
	}
	token := list("")
	if _, err := client.Delete(t.Context(), ref, "gone12"); err != nil {
		t.Fatal(err)
	}
	*bodies = (*bodies)[:len(pages)] // without the deletion's
	list(token)
	events := 0
	for i, body := range *bodies {
		var theirs calendar.Events
		if err := json.Unmarshal(body, &theirs); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		want := Page{
			Events: make([]Event, 0, len(theirs.Items)), NextPage: theirs.NextPageToken, NextSync: theirs.NextSyncToken,
			Writable: writable(theirs.AccessRole), TimeZone: theirs.TimeZone,
		}
		for _, item := range theirs.Items {
			want.Events = append(want.Events, fromClient(item).event(theirs.TimeZone))
		}
		if !reflect.DeepEqual(pages[i], want) {
			t.Errorf("%s\nis read as %+v,\nand by Google's client as %+v", body, pages[i], want)
		}
		events += len(want.Events)
	}
	if events != 7 || len(*bodies) < 4 {
		t.Errorf("%d events on %d pages were compared", events, len(*bodies))
	}
}

// FuzzPage: whatever Google answers to a listing is read as encoding/json reads
// it, or refused as encoding/json refuses it, but for the fields of events: one that
// encoding/json refuses is unknown or makes the event malformed, and fails no page.
func FuzzPage(f *testing.F) {
	for _, body := range []string{
		`{"items":[{"id":"a","attendees":[null,{"self":true},{"self":"x","responseStatus":3}],"Attendees":null,"organizer":null,"organizer":{"self":1},"iCalUID":"u"}]}`,
		`{"accessRole":"owner","timeZone":"Europe/Zurich","nextSyncToken":"s","items":[{"id":"a","status":"cancelled"},` +
			`{"id":"b","etag":"\"1\"","recurrence":["RRULE:FREQ=DAILY"],"start":{"date":"2026-03-01"},"end":{"dateTime":"x","timeZone":"UTC"},` +
			`"extendedProperties":{"private":{"k":"v"}}}]}`,
		`null`, `{}`, `[]`, `{"items":[null,{}]}`, `{"items":{},"nextPageToken":7}`, `{"items":[]} x`, `{"items":[{"id":"a"`,
		`{"NEXTPAGETOKEN":"a","next_page_token":"b","items":[{"Id":"c","ID":"d"}]}`,
		`{"items":[{"id":"a"}],"items":[{"etag":"b"}],"items":null}`,
		`{"items":[{"id":"a","id":null,"start":{"date":"1"},"start":{"timeZone":"2"},"extendedProperties":{"private":{"a":"1"}},"extendedProperties":{"private":{"b":null}}}]}`,
		`{"items":[{"recurrence":["a","b"],"recurrence":[null]}]}`, `{"items":[{"id":"\ud800\u0000` + "\xff" + `"}]}`,
		`{"items":[{"id":1e999,"x":{"y":[1,2,{"z":-0.5e+7}]}}]}`, "\ufeff{}", `{"items":[{"id":"a"},]}`, `{"a":01}`,
		`{"items":[{"start":{"date":[{}]},"ID":"a"},7,[[]],{"recurrence":[1,"b"],"status":"cancelled","end":null,"id":"b"}]}`,
		`{"items":[{"extendedProperties":{"private":{"a":{"b":[]},"c":"d"}},"id":"a","id":8},"x",{"start":"x","id":"c"]}`,
		`{"items":[{"id":"a"},{"id":"b"},{"id":"c"}],"items":[null,7],"items":[{"etag":"d"},{"etag":"e"},{"etag":"f"}]}`,
		`{"items":[{"id":"a"}],"items":[],"Items":[{"etag":"d"},{"etag":"e"}]}`,
		`{"items":[{"start":{"date":"1","dateTime":"2","timeZone":null},"start":null,"Start":{"\u0064ate":"3","DATE":"4"},"id":"\u0061","id":null}]}`,
		`{"items":[{"visibility":"public","VISIBILITY":[],"transparency":"transparent","transparency":{},"eventType":"a","eventType":"b","summary":7}]}`,
		`{"items":[{"start":{"date":{"x":[7]},"dateTime":"2"},"end":{"date":"5"},"end":[{"date":"6"}],"\u017ftart":{"timeZone":"k"},"":7}]}`,
		`{"items":[{"start":{"\ud800":1,"timeZone":"\ud83d\ude00\ud800"},"attendees":[{"self":true}],"attendees":"x","guestsCanModify":0}]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var theirs *theirPage
		wantErr := json.Unmarshal(body, &theirs)
		got, err := readListed(bytes.NewReader(body))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, and encoding/json says %v", body, err, wantErr)
		}
		if want := theirs.page(got); err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is read as\n%+v, and by encoding/json as\n%+v", body, got, want)
		}
	})
}

// TestList_AnAnswerThatBreaks_QuotesNothingOfIt: what cannot be read is an
// outage, and no log gets to see what stood there.
func TestList_AnAnswerThatBreaks_QuotesNothingOfIt(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"within a string": `{"items":[{"extendedProperties":{"private":{"leaked-secret":"leaked`,
		"a wrong type":    `{"accessRole":{"leaked-secret":7}}`,
		"wrong syntax":    `{"items":[{"extendedProperties":{"private":{"leaked-secret":leaked}}}]}`,
		"more behind it":  `{} leaked`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
		t.Cleanup(server.Close)
		client := New(Options{
			Endpoint: server.URL, Client: func(context.Context, string) (*http.Client, error) { return server.Client(), nil },
		})
		_, err := client.List(t.Context(), Ref{Account: "a", Calendar: "c"}, Times, "", "")
		if !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "leaked") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
