package callables

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/bodylimit"
)

// logLine is what a line of the log says.
type logLine struct {
	Level, Msg, Callable string
}

// passing is a server that passes calls on to upstream, and what it logs. Each
// call that it has answered, or given up, sends the status to ended.
func passing(t *testing.T, upstream http.HandlerFunc) (address string, lines func() []logLine, ended <-chan int) {
	t.Helper()
	behind := httptest.NewServer(upstream)
	t.Cleanup(behind.Close)
	var text bytes.Buffer
	done := make(chan int, 1)
	e := echo.New()
	e.Pre(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			defer func() { done <- c.Response().Status }()
			return next(c)
		}
	})
	err := Register(e, Options{
		Upstream: behind.URL, Log: slog.New(slog.NewJSONHandler(&text, nil)),
		LimitAddress: func(echo.Context) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(bodylimit.Handler(e, time.Minute))
	t.Cleanup(front.Close)
	return front.URL, func() (all []logLine) {
		for line := range strings.Lines(text.String()) {
			var one logLine
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			all = append(all, one)
		}
		return all
	}, done
}

// Each row is when the client disconnects from a call that is passed on.
func TestPassOn_ClientDisconnects_IsNoFailure(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		upstream func(rw http.ResponseWriter, r *http.Request, leave func())
		body     func(leave func()) io.Reader
		status   int
	}{
		"before the answer": {
			upstream: func(_ http.ResponseWriter, r *http.Request, leave func()) {
				if _, err := io.ReadAll(r.Body); err == nil {
					leave()
				}
				<-r.Context().Done()
			},
			body:   func(func()) io.Reader { return strings.NewReader(`{"data":null}`) },
			status: disconnected.http,
		},
		"before its body was sent": {
			upstream: func(_ http.ResponseWriter, r *http.Request, _ func()) {
				_, _ = io.ReadAll(r.Body) // its error is that the body was broken off
			},
			body: func(leave func()) io.Reader {
				return io.MultiReader(strings.NewReader(`{"data":`), readerFunc(func([]byte) (int, error) {
					leave()
					return 0, context.Canceled
				}))
			},
			status: disconnected.http,
		},
		"during the answer": {
			upstream: func(rw http.ResponseWriter, r *http.Request, _ func()) {
				_, _ = io.WriteString(rw, "data: 1\n\n") // its error shows as an answer that never came
				_ = http.NewResponseController(rw).Flush()
				<-r.Context().Done()
			},
			body:   func(func()) io.Reader { return strings.NewReader(`{"data":null}`) },
			status: http.StatusOK,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, leave := context.WithCancel(t.Context())
			address, lines, ended := passing(t, func(rw http.ResponseWriter, r *http.Request) { row.upstream(rw, r, leave) })
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/slow", row.body(leave))
			if err != nil {
				t.Fatal(err)
			}
			if response, err := http.DefaultClient.Do(request); err == nil {
				_, first := io.ReadFull(response.Body, make([]byte, 1))
				leave()
				_, rest := io.ReadAll(response.Body)
				if err := response.Body.Close(); first != nil || rest == nil || err != nil {
					t.Fatalf("the answer begins with %v, goes on with %v and ends with %v", first, rest, err)
				}
			}
			if status := <-ended; status != row.status {
				t.Errorf("the call ends with %d, want %d", status, row.status)
			}
			got := lines()
			if len(got) != 1 || got[0].Level != "INFO" || got[0].Msg != "client disconnected" || got[0].Callable != "slow" {
				t.Errorf("the log says %+v", got)
			}
		})
	}
}

type readerFunc func(into []byte) (int, error)

func (f readerFunc) Read(into []byte) (int, error) { return f(into) }

// Each row is a failure of the app's own functions, which the client waits for.
func TestPassOn_UpstreamFails_IsAFailure(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		upstream http.HandlerFunc
		status   int
	}{
		"before the answer": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, http.StatusServiceUnavailable},
		"during the answer": {func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(rw, "data: 1\n\n") // its error shows as an answer that never came
			_ = http.NewResponseController(rw).Flush()
			panic(http.ErrAbortHandler)
		}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, lines, ended := passing(t, row.upstream)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/broken", strings.NewReader(`{"data":null}`))
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_, readErr := io.ReadAll(response.Body)
			if err := response.Body.Close(); err != nil {
				t.Fatal(err)
			}
			if status := <-ended; status != row.status || (readErr == nil) != (row.status != http.StatusOK) {
				t.Errorf("the call ends with %d, want %d; its body with %v", status, row.status, readErr)
			}
			if got := lines(); len(got) != 1 || got[0].Level != "WARN" || got[0].Msg != "a call could not be carried out" {
				t.Errorf("the log says %+v", got)
			}
		})
	}
}

// A notice is read before it is passed on, which must not take longer than the call
// may.
func TestPassOn_BodyOfANoticeStalls_TimesOut(t *testing.T) {
	t.Parallel()
	e := echo.New()
	err := Register(e, Options{
		Upstream: "http://127.0.0.1:1", UpstreamTimeout: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		LimitAddress: func(echo.Context) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(bodylimit.Handler(e, time.Minute))
	t.Cleanup(front.Close)
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, "POST /"+nameEmit+" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"data\":"); err != nil {
		t.Fatal(err)
	}
	if err := connection.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatalf("there is no answer: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode < http.StatusBadRequest {
		t.Errorf("answered %s", response.Status)
	}
}
