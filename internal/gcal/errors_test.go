package gcal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/rules"
)

// calls are one call of each operation.
var calls = map[string]func(ctx context.Context, c *gcal.Client) error{
	"insert": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.Insert(ctx, mine, session("abcde1"))
		return err
	},
	"get": func(ctx context.Context, c *gcal.Client) error { _, err := c.Get(ctx, mine, "abcde1"); return err },
	"list": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.List(ctx, mine, gcal.Times, "sync-secret", "page-secret")
		return err
	},
	"list all": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.List(ctx, mine, gcal.Times, "", "page-secret")
		return err
	},
	"list details": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.List(ctx, mine, gcal.WithDetails, "sync-secret", "page-secret")
		return err
	},
	"insert content": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.InsertContent(ctx, mine, "abcde1", evening(), nil)
		return err
	},
	"patch content": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.PatchContent(ctx, mine, "abcde1", `"1"`, evening())
		return err
	},
	"guest list": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.GuestList(ctx, mine, "abcde1")
		return err
	},
	"patch guests": func(ctx context.Context, c *gcal.Client) error {
		list := gcal.GuestList{Event: gcal.Event{ID: "abcde1", ETag: `"1"`, Details: &gcal.Details{}}}
		_, err := c.PatchGuests(ctx, mine, list, gcal.GuestChange{Add: []string{"ana@second.test"}}, "none")
		return err
	},
	"list guests": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.List(ctx, mine, gcal.WithGuests, "sync-secret", "page-secret")
		return err
	},
	"delete quietly": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.DeleteQuietly(ctx, mine, "abcde1", `"1"`)
		return err
	},
	"instance": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.Instance(ctx, mine, "abcde1", evening().Start)
		return err
	},
	"insert calendar": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.InsertCalendar(ctx, "gm", gcal.NewCalendar{Summary: "External Busy"})
		return err
	},
	"free busy": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.FreeBusy(ctx, "gm", []string{"primary"}, noon, noon.Add(time.Hour))
		return err
	},
	"access": func(ctx context.Context, c *gcal.Client) error { _, err := c.Access(ctx, mine); return err },
	"patch": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.PatchTimes(ctx, mine, "abcde1", `"1"`, rules.Timed(noon, noon.Add(time.Hour)), "UTC")
		return err
	},
	"delete": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.Delete(ctx, mine, "abcde1")
		return err
	},
	"watch": func(ctx context.Context, c *gcal.Client) error {
		_, err := c.Watch(ctx, mine, wanted("c1"))
		return err
	},
	"stop":      func(ctx context.Context, c *gcal.Client) error { return c.StopWatch(ctx, "gm", "c1", "r1") },
	"calendars": func(ctx context.Context, c *gcal.Client) error { _, err := c.Calendars(ctx, "gm"); return err },
}

// refusal is Google's answer of an error.
func refusal(status int, reason string) string {
	text, err := json.Marshal(map[string]any{"error": map[string]any{
		"code": status, "message": "quotes leaked-secret",
		"errors": []map[string]string{{"domain": "global", "reason": reason, "message": "quotes leaked-secret"}},
	}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func refusing(t *testing.T, status int, reason string, header ...string) *gcal.Client {
	t.Helper()
	return scripted(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, refusal(status, reason))
	})
}

func TestErrors_EachAnswerHasItsKind(t *testing.T) {
	t.Parallel()
	all := slices.Sorted(maps.Keys(calls))
	but := func(names ...string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(names, name) })
	}
	for _, tc := range []struct {
		calls  []string
		status int
		reason string
		kind   fault.Kind
		code   string
	}{
		{all, 401, "authError", fault.Revoked, gcal.CodeTokenExpired},
		{[]string{"watch"}, 401, "push.webhookUrlUnauthorized", fault.Provider, gcal.CodeWebhookRefused},
		{[]string{"watch"}, 403, "push.webhookUrlUnauthorized", fault.Provider, gcal.CodeWebhookRefused},
		{but("calendars", "insert calendar", "free busy"), 403, "insufficientPermissions", fault.Revoked, gcal.CodeTokenExpired},
		{[]string{"calendars", "insert calendar", "free busy"}, 403, "insufficientPermissions", fault.Forbidden, gcal.CodeScopeMissing},
		{all, 403, "rateLimitExceeded", fault.RateLimited, ""},
		{all, 403, "userRateLimitExceeded", fault.RateLimited, ""},
		{all, 429, "rateLimitExceeded", fault.RateLimited, ""},
		{all, 429, "", fault.RateLimited, ""},
		{all, 403, "quotaExceeded", fault.Exhausted, gcal.CodeQuota},
		{all, 403, "forbiddenForNonOrganizer", fault.Provider, gcal.CodeNotOrganizer},
		{all, 403, "notACalendarUser", fault.Provider, "notACalendarUser"},
		{all, 403, "", fault.Provider, ""},
		{but("delete", "stop"), 404, "notFound", fault.NotFound, ""},
		{[]string{"list", "list details", "list guests"}, 410, "fullSyncRequired", fault.Conflict, gcal.CodeSyncTokenExpired},
		{[]string{"list", "list details", "list guests"}, 410, "updatedMinTooLongAgo", fault.Conflict, gcal.CodeSyncTokenExpired},
		{[]string{"get", "guest list", "patch", "patch content", "patch guests", "instance"}, 410, "deleted", fault.NotFound, gcal.CodeGone},
		{[]string{"insert", "insert content"}, 409, "duplicate", fault.Conflict, gcal.CodeDuplicate},
		{
			[]string{"patch", "delete", "patch content", "patch guests", "delete quietly", "insert calendar"}, 409, "conflict",
			fault.Unavailable, "",
		},
		{[]string{"patch", "patch content", "patch guests", "delete quietly"}, 412, "conditionNotMet", fault.Conflict, gcal.CodeStale},
		{but("list", "list details", "list guests"), 400, "timeRangeEmpty", fault.Provider, "timeRangeEmpty"},
		{but("list", "list details", "list guests"), 400, "a leaked-secret", fault.Provider, ""},
		{[]string{"list", "list details", "list guests"}, 400, "invalid", fault.Conflict, gcal.CodeSyncTokenExpired},
		{[]string{"list", "list details", "list guests"}, 400, "a leaked-secret", fault.Conflict, gcal.CodeSyncTokenExpired},
		{all, 408, "", fault.Unavailable, ""},
		{all, 500, "backendError", fault.Unavailable, ""},
		{all, 503, "rateLimitExceeded", fault.Unavailable, ""},
		{all, 302, "", fault.Provider, ""},
	} {
		client := refusing(t, tc.status, tc.reason)
		for _, name := range tc.calls {
			t.Run(fmt.Sprintf("%s %d %s", name, tc.status, tc.reason), func(t *testing.T) {
				t.Parallel()
				err := calls[name](t.Context(), client)
				wantKind(t, err, tc.kind, tc.code)
				wantNoSecret(t, err)
			})
		}
	}
}

// wantNoSecret fails if an error holds a planted secret in any form in which it is
// logged.
func wantNoSecret(t *testing.T, err error) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if text := fmt.Sprintf("%v %+v", e, e); strings.Contains(text, "secret") ||
			strings.Contains(text, "127.0.0.1") && strings.Contains(text, "http") {
			t.Errorf("the error holds a secret or an address: %s", text)
		}
	}
}

func TestErrors_ForGoneThingsDeletingAndStoppingAreDone(t *testing.T) {
	t.Parallel()
	for name, statuses := range map[string][]int{"delete": {410}, "delete quietly": {410}, "stop": {404}} {
		for _, status := range statuses {
			if err := calls[name](t.Context(), refusing(t, status, "notFound")); err != nil {
				t.Errorf("%s after %d: %v", name, status, err)
			}
		}
	}
}

func TestErrors_RetryAfterIsRead(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"30": 30 * time.Second, "": 0, "-5": 0, "soon": 0, "999999999": 24 * time.Hour,
		noon.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		noon.Add(-time.Hour).Format(http.TimeFormat):       0,
	} {
		for _, status := range []int{429, 503} {
			err := calls["list"](t.Context(), refusing(t, status, "rateLimitExceeded", "Retry-After", header))
			if got := fault.RetryAfter(err); got != want {
				t.Errorf("%d with %q: %v, want %v", status, header, got, want)
			}
		}
	}
}

func TestErrors_NoAnswerIsUnavailableAndHoldsNoAddress(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]*gcal.Client{
		"closed before an answer": scripted(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
		"half an answer": scripted(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"items":[`)
		}),
		"an answer that is none": scripted(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }),
		"nobody listens": gcal.New(gcal.Options{Endpoint: "http://127.0.0.1:1", Client: func(context.Context, string) (*http.Client, error) {
			return http.DefaultClient, nil
		}}),
	} {
		for _, call := range []string{"list", "insert", "watch", "guest list", "patch guests"} {
			t.Run(name+": "+call, func(t *testing.T) {
				t.Parallel()
				err := calls[call](t.Context(), client)
				wantKind(t, err, fault.Unavailable, "")
				wantNoSecret(t, err)
			})
		}
	}
}

func TestErrors_ACallEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done(); panic(http.ErrAbortHandler) })
		client := gcal.New(gcal.Options{Endpoint: "http://sim", Client: func(context.Context, string) (*http.Client, error) {
			return &http.Client{Transport: control.Transport(hung)}, nil
		}})
		began := time.Now()
		err := calls["get"](t.Context(), client)
		wantKind(t, err, fault.Unavailable, "")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != gcal.DefaultTimeout {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}
