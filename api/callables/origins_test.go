package callables

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// Each row is the allowed origins, and the headers of a call and its preflight.
func TestOrigins_Credentials_AreForNamedOnesOnly(t *testing.T) {
	t.Parallel()
	const page = "https://app.example"
	for name, row := range map[string]struct {
		origins              []string
		allowed, credentials string
	}{
		"named":             {[]string{"https://other.example", page}, page, "true"},
		"any":               {[]string{"*"}, page, ""},
		"any beside a name": {[]string{page, "*"}, page, ""},
		"another":           {[]string{"https://other.example"}, "", ""},
		"none":              {nil, "", ""},
	} {
		e := echo.New()
		err := Register(e, Options{
			Origins: row.origins, Log: slog.New(slog.DiscardHandler), SignIn: hungPolls{},
			LimitAddress: func(echo.Context) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{http.MethodOptions, http.MethodPost} {
			request := httptest.NewRequestWithContext(t.Context(), method, "/"+nameFinalise, strings.NewReader(`{"data":null}`))
			request.Header.Set("Origin", page)
			request.Header.Set("Access-Control-Request-Method", http.MethodPost)
			recorder := httptest.NewRecorder()
			e.ServeHTTP(recorder, request)
			header := recorder.Header()
			if got := header.Get("Access-Control-Allow-Origin"); got != row.allowed {
				t.Errorf("%s: %s is allowed for %q, want %q", name, method, got, row.allowed)
			}
			if got := header.Get("Access-Control-Allow-Credentials"); got != row.credentials {
				t.Errorf("%s: Access-Control-Allow-Credentials for %s is %q, want %q", name, method, got, row.credentials)
			}
		}
	}
}
