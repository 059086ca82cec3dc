package callables

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/fault"
	"questscheduler/internal/signin"
	"questscheduler/scheduler"
)

// asked is the context of a request, and what it is answered.
func asked(t *testing.T) (echo.Context, *httptest.ResponseRecorder) {
	t.Helper()
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/"+nameFinalise, strings.NewReader(`{"data":null}`))
	request.Header.Set("Authorization", "Bearer any")
	return echo.New().NewContext(request, recorder), recorder
}

// Each row is an error, its answer and the level of its log line.
func TestFail_EachKind_IsAnsweredAndLogged(t *testing.T) {
	t.Parallel()
	const own = "Ask the creator."
	for name, row := range map[string]struct {
		err          error
		status       int
		tells        string
		after, level string
	}{
		"of nobody's doing":  {errors.New(own), 500, statuses[fault.Internal].message, "", "ERROR"},
		"internal":           {fault.New(fault.Internal, own), 500, statuses[fault.Internal].message, "", "ERROR"},
		"a token":            {fault.New(fault.Unauthenticated, own), 401, statuses[fault.Unauthenticated].message, "", "INFO"},
		"refused":            {fault.New(fault.Forbidden, own), 403, own, "", "INFO"},
		"refused, no reason": {fault.New(fault.Forbidden, ""), 403, statuses[fault.Forbidden].message, "", "INFO"},
		"broken off":         {context.Canceled, 503, statuses[fault.Unavailable].message, "", "WARN"},
		"too late":           {context.DeadlineExceeded, 503, statuses[fault.Unavailable].message, "", "WARN"},
		"too much":           {&fault.Error{Kind: fault.RateLimited, Message: own, RetryAfter: 1100 * time.Millisecond}, 429, own, "2", "INFO"},
	} {
		var log bytes.Buffer
		c, recorder := asked(t)
		lines := slog.New(slog.NewTextHandler(&log, nil))
		s := &server{Options: Options{Log: lines, Refused: lines}}
		if err := s.fail(c, row.err); err != nil {
			t.Fatal(err)
		}
		after := recorder.Header().Get("Retry-After")
		if recorder.Code != row.status || !strings.Contains(recorder.Body.String(), row.tells) || after != row.after {
			t.Errorf("%s: answered %d, Retry-After %q, %s", name, recorder.Code, after, recorder.Body)
		}
		if !strings.Contains(log.String(), "level="+row.level+" ") {
			t.Errorf("%s: logged as %s, want %s", name, log.String(), row.level)
		}
	}
}

func TestArguments_AtTheirLimits_AreTaken(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		read func(in *arguments)
		ok   bool
	}{
		"a text":                {func(in *arguments) { in.text("text", 3) }, true},
		"a text that is longer": {func(in *arguments) { in.text("text", 2) }, false},
		"a list":                {func(in *arguments) { in.texts("list", 2, 1) }, true},
		"a list that is longer": {func(in *arguments) { in.texts("list", 1, 1) }, false},
	} {
		in := &arguments{fields: fields{"text": "äöü", "list": []any{"a", "b"}}}
		row.read(in)
		if row.ok != (in.err == nil) || !row.ok && !fault.Is(in.err, fault.Invalid) {
			t.Errorf("%s: %v", name, in.err)
		}
	}
}

func TestProxiedBody_AtItsLimit_IsReadWhole(t *testing.T) {
	t.Parallel()
	for left, want := range map[int64]error{3: nil, 2: errTooLong} {
		answer := &proxiedBody{ReadCloser: io.NopCloser(strings.NewReader("abc")), left: left}
		if _, err := io.ReadAll(answer); !errors.Is(err, want) {
			t.Errorf("with %d left: %v, want %v", left, err, want)
		}
	}
}

// known is a signed-in person, and records who reported announcements.
type known struct {
	Polls
	signin.Person
	noted []scheduler.Person
}

// Verify implements signin.Verifier.
func (k *known) Verify(context.Context, string) (signin.Person, error) { return k.Person, nil }

// AnnouncedByApp implements Polls.
func (k *known) AnnouncedByApp(_ context.Context, person scheduler.Person, _ string, _ scheduler.Cause) error {
	k.noted = append(k.noted, person)
	return nil
}

// An invitation is to an address, which the person has to own.
func TestCaller_Address_CountsOnlyIfVerified(t *testing.T) {
	t.Parallel()
	for verified, want := range map[bool]string{false: "", true: "ana@example.com"} {
		var limited []string
		who := &known{Person: signin.Person{UID: "ana", Email: "ana@example.com", EmailVerified: verified}}
		s := &server{Options: Options{SignIn: who, LimitPerson: func(_ echo.Context, uid string) error {
			limited = append(limited, uid)
			return nil
		}}}
		c, _ := asked(t)
		in, err := s.caller(c)
		if err != nil || in.person.Email != want || in.person.ID != "ana" || !slices.Equal(limited, []string{"ana"}) {
			t.Errorf("verified %t: %+v, limited as %v, %v", verified, in.person, limited, err)
		}
	}
}

func TestNoteAnnounced_ByStatus_RecordsSuccessesOnly(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{199: 0, 200: 1, 299: 1, 300: 0, 500: 0} {
		who := &known{Person: signin.Person{UID: "gm"}}
		s := &server{Options: Options{SignIn: who, Polls: who, Log: slog.New(slog.DiscardHandler)}}
		c, _ := asked(t)
		c.Response().Status = status
		s.noteAnnounced(c, "p", "trace")
		if len(who.noted) != want {
			t.Errorf("%d: noted %d times, want %d", status, len(who.noted), want)
		}
	}
}

// What the upstream says of origins stands alone; where it says nothing, ours does.
func TestPassOn_Origins_AreTheUpstreamsOrOurs(t *testing.T) {
	t.Parallel()
	const page = "https://app.example"
	for says, want := range map[string]string{"https://its.example": "", "": "true"} {
		behind := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			if says != "" {
				rw.Header().Set("Access-Control-Allow-Origin", says)
			}
		}))
		t.Cleanup(behind.Close)
		e := echo.New()
		if err := Register(e, Options{Upstream: behind.URL, Origins: []string{page}, Log: slog.New(slog.DiscardHandler)}); err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/others", strings.NewReader(`{"data":null}`))
		request.Header.Set("Origin", page)
		recorder := httptest.NewRecorder()
		e.ServeHTTP(recorder, request)
		header := recorder.Header()
		origins := header.Values("Access-Control-Allow-Origin")
		if allowed := map[bool]string{true: says, false: page}[says != ""]; !slices.Equal(origins, []string{allowed}) ||
			header.Get("Access-Control-Allow-Credentials") != want {
			t.Errorf("the upstream says %q, and the client receives %v", says, header)
		}
	}
}
