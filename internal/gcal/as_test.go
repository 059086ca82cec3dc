package gcal

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"questscheduler/fault"
)

// The calls of a client by other grants, such as those of accounts that are being unlinked,
// have no share of their own beside that of the client.
func TestAs_ByOtherGrants_TakesTurnsOfTheSameShare(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(server.Close)
	budget, c := newTestBudget(1)
	budget.options.Wait = func(context.Context, time.Duration) error { return nil }
	refused, asked := 0, 0
	client := New(Options{
		Endpoint: server.URL, Budget: budget, Now: c.now,
		Client:  func(context.Context, string) (*http.Client, error) { return nil, errors.New("the grants of c") },
		Refused: func(context.Context, string, *http.Client) error { refused++; return nil },
	})
	half := client.Within(0.5)
	leaving := half.As(func(context.Context, string) (*http.Client, error) { asked++; return server.Client(), nil })
	if _, err := leaving.Get(t.Context(), Ref{"a", "primary"}, "event"); !fault.Is(err, fault.Revoked) || asked == 0 || refused > 0 {
		t.Errorf("a refused call: %v, with %d grants and %d marks", err, asked, refused)
	}
	var err error
	for range 1000 {
		err = half.options.Budget.take(t.Context(), "a")
		if err != nil {
			break
		}
	}
	if _, gone := leaving.Get(t.Context(), Ref{"a", "primary"}, "event"); err == nil || !fault.Is(gone, fault.RateLimited) {
		t.Errorf("after the share ended in %v it answers %v", err, gone)
	}
}
