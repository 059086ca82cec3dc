package webhooks_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	webhooks "questscheduler/web-hooks"
)

// taken keeps the pushes that got through.
type taken struct{ pushes []calendarsync.Push }

// Push implements webhooks.Pushes.
func (k *taken) Push(_ context.Context, push calendarsync.Push) error {
	k.pushes = append(k.pushes, push)
	return nil
}

// FuzzPushHeaders: a push gets through only whole, each header once and of a
// length that Google sends, and as it was sent; nothing else gets further than
// the route.
func FuzzPushHeaders(f *testing.F) {
	f.Add("channel", "token", "resource", "exists", "")
	f.Add("", "token", "resource", "exists", "")
	f.Add("channel", "token", "resource", "exists", "another token")
	f.Add(strings.Repeat("c", 65), "token", "resource", "exists", "")
	f.Add("channel", strings.Repeat("t", 257), "resource", "exists", "")
	f.Add("a/b", "\x00", "\xff", " ", "")
	var handled error
	e := echo.New()
	e.HTTPErrorHandler = func(err error, c echo.Context) { handled = err; _ = c.NoContent(http.StatusTeapot) } // a recorder takes it
	accepted := &taken{}
	webhooks.Register(e, accepted, webhooks.Guard{
		Admit: func(echo.Context, string, bool) error { return nil }, Log: slog.New(slog.DiscardHandler),
	})
	f.Fuzz(func(t *testing.T, channel, token, resource, state, second string) {
		accepted.pushes, handled = nil, nil
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, webhooks.PushPaths[0], strings.NewReader(second))
		given := []string{channel, token, resource, state}
		for i, name := range []string{"X-Goog-Channel-Id", "X-Goog-Channel-Token", "X-Goog-Resource-Id", "X-Goog-Resource-State"} {
			request.Header.Add(name, given[i])
		}
		if second != "" {
			request.Header.Add("X-Goog-Channel-Token", second)
		}
		answer := httptest.NewRecorder()
		e.ServeHTTP(answer, request)
		whole := second == ""
		for i, most := range []int{64, 256, 256, 32} {
			whole = whole && given[i] != "" && len(given[i]) <= most
		}
		if whole != (len(accepted.pushes) == 1) || whole != (answer.Code == http.StatusOK) {
			t.Fatalf("%q: answered %d, and %d were accepted", given, answer.Code, len(accepted.pushes))
		}
		if !whole {
			if !fault.Is(handled, fault.Unauthenticated) || len(token) > 8 && strings.Contains(handled.Error(), token) {
				t.Fatalf("refused with %v", handled)
			}
			return
		}
		if got := accepted.pushes[0]; got.ChannelID != channel || got.Token != token || got.ResourceID != resource || got.State != state {
			t.Fatalf("%q was accepted as %+v", given, got)
		}
	})
}
