package revocation_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/api/option"

	"questscheduler/fault"
	"questscheduler/internal/signin"
	"questscheduler/internal/signin/revocation"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// records stands in for Firebase's records of people.
type records struct {
	users  map[string]string // what is said of each, by uid
	status int
	asked  atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (r *records) RoundTrip(request *http.Request) (*http.Response, error) {
	r.asked.Add(1)
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	answer := `{}`
	for uid, says := range r.users {
		if strings.Contains(string(body), strconv.Quote(uid)) {
			answer = fmt.Sprintf(`{"users": [{"localId": %q, %s}]}`, uid, says)
		}
	}
	status := r.status
	if !strings.HasSuffix(request.URL.Path, "/projects/quest-party/accounts:lookup") {
		status = http.StatusNotFound
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(answer)),
	}, nil
}

func newChecker(t *testing.T, r *records, now func() time.Time) *revocation.Checker {
	t.Helper()
	checker, err := revocation.New(t.Context(), "quest-party", now, option.WithHTTPClient(&http.Client{Transport: r}))
	if err != nil {
		t.Fatal(err)
	}
	return checker
}

func TestRevoked_SignedOutDisabledOrDeleted_IsTrue(t *testing.T) {
	t.Parallel()
	since := func(at time.Time) string { return fmt.Sprintf(`"validSince": "%d"`, at.Unix()) }
	r := &records{status: http.StatusOK, users: map[string]string{
		"as ever": since(noon.Add(-time.Hour)), "signed out": since(noon.Add(time.Second)), "signed out and in": since(noon),
		"disabled": since(noon.Add(-time.Hour)) + `, "disabled": true`,
	}}
	checker := newChecker(t, r, func() time.Time { return noon })
	for uid, want := range map[string]bool{"as ever": false, "signed out": true, "signed out and in": false, "disabled": true, "gone": true} {
		got, err := checker.Revoked(t.Context(), uid, noon)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", uid, got, err, want)
		}
	}
}

func TestRevoked_IsAskedOnceAMinute(t *testing.T) {
	t.Parallel()
	now := noon
	r := &records{status: http.StatusOK, users: map[string]string{"ana": `"validSince": "1"`}}
	checker := newChecker(t, r, func() time.Time { return now })
	for _, row := range []struct {
		after time.Duration
		asked int64
		out   bool
	}{{0, 1, false}, {59 * time.Second, 1, false}, {time.Minute, 2, true}, {-time.Hour, 3, true}} { // at last the clock is set back
		now = noon.Add(row.after)
		for range 3 {
			out, err := checker.Revoked(t.Context(), "ana", noon)
			if err != nil || out != row.out || r.asked.Load() != row.asked {
				t.Errorf("after %v: %v, %v, asked %d times, want %v and %d", row.after, out, err, r.asked.Load(), row.out, row.asked)
			}
		}
		r.users["ana"] = `"validSince": "1", "disabled": true`
	}
}

func TestRevoked_FirebaseDown_IsUnavailable(t *testing.T) {
	t.Parallel()
	checker := newChecker(t, &records{status: http.StatusForbidden}, func() time.Time { return noon })
	if _, err := checker.Revoked(t.Context(), "ana", noon); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}

func TestNew_FollowsNoVariableToAnEmulator(t *testing.T) {
	t.Setenv(signin.EmulatorVariable, "127.0.0.1:9099")
	if _, err := revocation.New(t.Context(), "quest-party", time.Now); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v", err)
	}
}

// An address counts where Firebase verified it, and the person is neither disabled nor deleted.
func TestVerifiedEmail_IsTheOneThatFirebaseVerified(t *testing.T) {
	t.Parallel()
	r := &records{status: http.StatusOK, users: map[string]string{
		"verified": `"email": "Ana@Example.com", "emailVerified": true`, "only entered": `"email": "ana@example.com"`,
		"disabled": `"email": "ana@example.com", "emailVerified": true, "disabled": true`, "without one": `"emailVerified": true`,
	}}
	checker := newChecker(t, r, func() time.Time { return noon })
	for uid, want := range map[string]string{"verified": "ana@example.com", "only entered": "", "disabled": "", "without one": "", "gone": ""} {
		if got, err := checker.VerifiedEmail(t.Context(), uid); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", uid, got, err, want)
		}
	}
	r.status = http.StatusForbidden
	if _, err := checker.VerifiedEmail(t.Context(), "another"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}
