package callables

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

func TestNameOf_Path_IsAFunctionOrARoute(t *testing.T) {
	t.Parallel()
	e := echo.New()
	for _, path := range []string{"/healthz", "/v1/polls/:id", "/oauth/google/start"} {
		e.GET(path, func(echo.Context) error { return nil })
	}
	s := &server{taken: func() []string { return paths(e) }}
	for path, want := range map[string]string{
		"/googleCalendarStartAuth":                          "googleCalendarStartAuth",
		"/anything-else_1":                                  "anything-else_1",
		"/demo-project/us-central1/googleCalendarStartAuth": "googleCalendarStartAuth",
		"/p-1/northamerica-northeast1/x":                    "x",
		"/demo-project/us-central1/healthz":                 "healthz",
		"/":                                                 "",
		"/healthz":                                          "",
		"/v1":                                               "",
		"/oauth":                                            "",
		"/v1/polls/x":                                       "",
		"/oauth/google/start":                               "",
		"/demo-project/us-central1":                         "",
		"/demo-project/us-central1/a/b":                     "",
		"/demo-project/central/x":                           "",
		"/9lives":                                           "",
		"/a.html":                                           "",
		"//x":                                               "",
		"/" + strings.Repeat("x", 64):                       "",
		"/" + strings.Repeat("p", 70) + "/us-central1/healthz": "",
	} {
		name, is := s.nameOf(httptest.NewRequest(http.MethodPost, "http://host"+path, nil))
		name = map[bool]string{true: name}[is]
		if name != want {
			t.Errorf("%s names %q, want %q", path, name, want)
		}
	}
}

// read reads a call's data as it came.
func read(body, contentType string) (fields, error) {
	request := httptest.NewRequest(http.MethodPost, "/f", strings.NewReader(body))
	request.Header.Set("Content-Type", contentType)
	return readData(echo.New().NewContext(request, httptest.NewRecorder()))
}

func TestReadData_AllowedForms_AreAccepted(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		body, contentType string
		ok                bool
	}{
		"an object":            {`{"data":{"a":1}}`, "application/json", true},
		"null":                 {`{"data":null}`, "application/json", true},
		"with a charset":       {`{"data":{}}`, "application/json; charset=utf-8", true},
		"nothing":              {``, "application/json", false},
		"no data":              {`{}`, "application/json", false},
		"more than data":       {`{"data":{},"more":1}`, "application/json", false},
		"a list":               {`[{"data":{}}]`, "application/json", false},
		"data of a list":       {`{"data":[1]}`, "application/json", false},
		"data of a text":       {`{"data":"x"}`, "application/json", false},
		"a form":               {`{"data":{}}`, "application/x-www-form-urlencoded", false},
		"no kind":              {`{"data":{}}`, "", false},
		"no UTF-8":             {"{\"data\":{\"a\":\"\xff\"}}", "application/json", false},
		"cut short":            {`{"data":{"a":`, "application/json", false},
		"more than 1 MiB":      {`{"data":{"a":"` + strings.Repeat("x", maxBody) + `"}}`, "application/json", false},
		"data and a half more": {`{"data":{}}{`, "application/json", false},
	} {
		if _, err := read(row.body, row.contentType); (err == nil) != row.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadFinalise_Arguments_AreRead(t *testing.T) {
	t.Parallel()
	data, err := read(`{"data":{"schedulerId":"p","slotId":"s","calendarId":null,"title":null,"description":"","durationMinutes":
		{"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"45"},"attendees":[" A@x.example ","a@x.example",null,"b@x.example"],
		"createCalendarEvent":null,"deleteOldEvent":false}}`, "application/json")
	if err != nil {
		t.Fatal(err)
	}
	pollID, ask, err := readFinalise(data)
	if err != nil || pollID != "p" || ask.SlotID != "s" || ask.CalendarID != "" || ask.Title != "" || ask.Description == nil ||
		ask.Duration != 45*time.Minute || strings.Join(ask.Attendees, " ") != "A@x.example b@x.example" || !ask.CreateEvent || !ask.KeepOldEvent {
		t.Errorf("%+v, %v", ask, err)
	}
}

func TestReadDuration_FractionalMinutes_AreAccepted(t *testing.T) {
	t.Parallel()
	for minutes, want := range map[string]time.Duration{
		"90": 90 * time.Minute, "90.5": 90*time.Minute + 30*time.Second, "45.333333333": 45*time.Minute + 20*time.Second, "0.02": time.Second,
		"44640": 31 * 24 * time.Hour, "1e3": 1000 * time.Minute,
	} {
		in := arguments{fields: fields{"minutes": json.Number(minutes)}}
		if got := in.duration("minutes"); in.err != nil || got != want {
			t.Errorf("%s minutes are %s, %v", minutes, got, in.err)
		}
	}
	for _, wrong := range []any{
		json.Number("0"), json.Number("-5"), json.Number("-1000000000000"), json.Number("44641"), json.Number("1e400"), "90", true,
		map[string]any{"value": "x"},
	} {
		in := arguments{fields: fields{"minutes": wrong}}
		if got := in.duration("minutes"); in.err == nil {
			t.Errorf("%v is read as %s", wrong, got)
		}
	}
}

// Every argument of a call is part of its request id.
func TestRequestID_DifferentArguments_DifferentIDs(t *testing.T) {
	t.Parallel()
	base := `"schedulerId":"p","slotId":"s"`
	callOf := map[string]string{}
	for _, more := range []string{
		``, `,"slotId":"t"`, `,"title":"x"`, `,"description":"x"`, `,"description":""`, `,"durationMinutes":1`, `,"attendees":["a@b.c"]`,
		`,"deleteOldEvent":false`, `,"createCalendarEvent":false`, `,"calendarId":"c"`,
	} {
		data, err := read(`{"data":{`+base+more+`}}`, "application/json")
		if err != nil {
			t.Fatal(err)
		}
		pollID, ask, err := readFinalise(data)
		if err != nil {
			t.Fatal(err)
		}
		id := requestID("gm", pollID, ask)
		if other, taken := callOf[id]; taken || id != requestID("gm", pollID, ask) || id == requestID("ana", pollID, ask) {
			t.Errorf("%q and %q have the same id", more, other)
		}
		callOf[id] = more
	}
}

// Each row is an error, and how it leaves where the client waits and where it
// disconnected.
func TestStatusOf_ClientDisconnected_IsNoFailure(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	late, end := context.WithTimeout(t.Context(), 0)
	defer end()
	for name, row := range map[string]struct {
		err           error
		waiting, left string
	}{
		"the store was not waited for": {fault.Wrap(fault.Unavailable, context.Canceled, ""), "UNAVAILABLE", "CANCELLED"},
		"an error without a kind":      {context.Canceled, "UNAVAILABLE", "CANCELLED"},
		"nobody foresaw it":            {errors.New("a mistake of ours"), "INTERNAL", "INTERNAL"},
		"Google refused":               {fault.New(fault.Provider, ""), "FAILED_PRECONDITION", "FAILED_PRECONDITION"},
		"the body was broken off":      {fault.Wrap(fault.Unavailable, errDisconnected, ""), "CANCELLED", "CANCELLED"},
	} {
		for _, ctx := range []context.Context{t.Context(), late} {
			if got := statusOf(ctx, row.err).name; got != row.waiting {
				t.Errorf("%s: a client that waits gets %s, want %s", name, got, row.waiting)
			}
		}
		if got := statusOf(gone, row.err).name; got != row.left {
			t.Errorf("%s: a client that disconnected gets %s, want %s", name, got, row.left)
		}
	}
}

// hungPolls are polls whose store never comes to an end.
type hungPolls struct{ Polls }

func (hungPolls) Finalise(
	ctx context.Context, _ scheduler.Person, _ string, _ scheduler.Finalise, _ scheduler.Cause,
) (scheduler.View, error) {
	<-ctx.Done()
	return scheduler.View{}, ctx.Err()
}

func (hungPolls) Repeats(context.Context, scheduler.Person, string, scheduler.Finalise, error) bool {
	return false
}

func (hungPolls) Verify(context.Context, string) (signin.Person, error) {
	return signin.Person{UID: "gm"}, nil
}

// Firebase's clients give up after 70 s; people get the reason before that.
func TestFinalise_TakesLong_IsAnsweredBeforeClientsGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := echo.New()
		err := Register(e, Options{
			Polls: hungPolls{}, SignIn: hungPolls{}, Log: slog.New(slog.DiscardHandler),
			LimitPerson: func(echo.Context, string) error { return nil },
			Count:       func(string, string) (func(), error) { return func() {}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/"+nameFinalise,
			strings.NewReader(`{"data":{"schedulerId":"p","slotId":"s"}}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer any")
		recorder, began := httptest.NewRecorder(), time.Now()
		e.ServeHTTP(recorder, request)
		if took := time.Since(began); recorder.Code != http.StatusServiceUnavailable || took >= 70*time.Second {
			t.Errorf("after %s it answers %d %s", took, recorder.Code, recorder.Body)
		}
	})
}
