package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"questscheduler/internal/config"
	"questscheduler/internal/outbox"
)

func TestServe_OnAnEmptyFolder_StopsAndGoesOn(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	environ := settings(dir)
	s := serve(t, environ)
	if status := s.status("/readyz"); status != http.StatusOK {
		t.Errorf("/readyz answers %d", status)
	}
	gm := s.asking(environ, "gm")
	made, err := gm.v1("gm", "POST", "/polls", map[string]any{"title": "Session one", "slots": []any{
		map[string]any{"start": "2030-01-11T18:00:00Z", "end": "2030-01-11T22:00:00Z"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if code := s.stop(); code != exitOK {
		t.Fatalf("it ended with %d", code)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*-wal")); err != nil || len(left) > 0 {
		t.Errorf("a write-ahead log is left: %v (%v)", left, err)
	}

	again := serve(t, environ)
	gm.ready.API = again.url // the token is still good
	if poll, err := gm.v1("gm", "GET", fmt.Sprint("/polls/", made["id"]), nil); err != nil || poll["title"] != "Session one" {
		t.Errorf("after the restart the poll is %v (%v)", poll, err)
	}
}

func TestServe_SaysInOneLineHowItRuns(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	s := serve(t, settings(dir, "QS_DISCORD_BOT_TOKEN="+secretOfBot, "QS_LOG_LEVEL=info"))
	log := s.log.String()
	for _, want := range []string{`msg="questscheduler serves"`, `version="dev`, "address=127.0.0.1:", "store=" + dir, `off="sync, admins"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %s:\n%s", want, log)
		}
	}
}

func TestServe_ASecondOneOnTheSameStore_EndsWithASentence(t *testing.T) {
	t.Parallel()
	environ := settings(dataDir(t))
	serve(t, environ)
	for _, args := range [][]string{{"serve"}, {"sweep", "drain"}} {
		second := run(t, environ, args...)
		second.want(t, exitFailed, "the data file is in use by another questscheduler process")
		if lines := strings.Count(second.errors, "\n"); lines != 1 {
			t.Errorf("%v prints %d lines, want one:\n%s", args, lines, second.errors)
		}
	}
}

// A request that does not end, such as a stream, is cut off after patience, and the stop
// succeeds.
func TestStop_CutsOffARequestThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	s := openTestServer(t)
	s.patience = 20 * time.Millisecond
	begun, release := make(chan struct{}), make(chan struct{})
	s.edge.GET("/endless", func(echo.Context) error {
		close(begun)
		<-release
		return nil
	})
	listener, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.start(t.Context(), listener); err != nil {
		t.Fatal(err)
	}
	cut := make(chan error, 1)
	go func() {
		response, err := http.Get("http://" + listener.Addr().String() + "/endless") //nolint:noctx // it is cut off
		if err == nil {
			err = response.Body.Close()
		}
		cut <- err
	}()
	<-begun
	if err := s.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := <-cut; err == nil {
		t.Error("the request was answered")
	}
	close(release)
}

// With Cloud Tasks a task is a request: the task is cancelled while there is time left
// to answer, so the request need not be cut off.
func TestStop_AnswersForATaskThatItCancels(t *testing.T) {
	t.Parallel()
	s := openCloudServer(t)
	s.patience = 8 * time.Second
	begun := make(chan struct{}, 1)
	s.outbox.Add(outbox.Kind{Name: "hanging", Unclaimed: true, Handle: func(ctx context.Context, _ outbox.Item) outbox.Result {
		begun <- struct{}{}
		<-ctx.Done()
		return outbox.Failed(ctx.Err())
	}})
	if err := s.startWork(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.edge.POST("/hanging", func(c echo.Context) error {
		status, _ := s.tasks.Deliver(c.Request().Context(), "hanging", c.Request().Header, []byte("a"))
		return c.NoContent(status)
	})
	listener, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	answered := make(chan error, 1)
	go func() {
		response, err := http.Post("http://"+listener.Addr().String()+"/hanging", "", http.NoBody) //nolint:noctx // it ends with the server
		if err == nil {
			err = response.Body.Close()
		}
		if err == nil && response.StatusCode != http.StatusServiceUnavailable { // Cloud Tasks cannot be reached, so no successor is handed over
			err = fmt.Errorf("it is answered %d", response.StatusCode)
		}
		answered <- err
	}()
	<-begun
	if err := s.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// A server that can no longer listen ends the command.
func TestServe_EndsWhenItCannotListenAnyMore(t *testing.T) {
	t.Parallel()
	s := openTestServer(t)
	listener, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.start(t.Context(), listener); err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.serveUntil(t.Context()); err == nil || !strings.Contains(err.Error(), "stopped answering") {
		t.Errorf("got %v", err)
	}
	if err := s.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// Go compares times by their monotonic reading if they have one, and that stands still
// while the machine sleeps.
func TestClock_GoesOnWhileTheMachineSleeps(t *testing.T) {
	t.Parallel()
	if now := wallClock(); now != now.Round(0) {
		t.Errorf("%v has a monotonic reading", now)
	}
}

// openTestServer is a wired server that is not started.
func openTestServer(t *testing.T, more ...string) *program {
	t.Helper()
	cfg, err := loadSettings(settings(t.TempDir(), more...), config.Default())
	if err != nil {
		t.Fatal(err)
	}
	s, err := openProgram(t.Context(), cfg, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openCloudServer is openTestServer with Cloud Tasks that cannot be reached, unless the
// settings name one.
func openCloudServer(t *testing.T, more ...string) *program {
	t.Helper()
	return openTestServer(t, append([]string{"QS_PUBLIC_URL=https://quests.example.org", "QS_QUEUE=cloudtasks",
		"QS_CLOUDTASKS_QUEUE=projects/p/locations/l/queues/q", "QS_CLOUDTASKS_ENDPOINT=127.0.0.1:1",
		"QS_TASKS_SERVICE_ACCOUNT=tasks@p.iam.gserviceaccount.com", "QS_MACHINE_ISSUER=http://127.0.0.1:1"}, more...)...)
}

func TestServe_Observing_IsReady(t *testing.T) {
	t.Parallel()
	s := serve(t, settings(t.TempDir(), "QS_SYNC=observe", "QS_PUBLIC_URL=https://quests.example.org"))
	if got := s.status("/readyz"); got != 200 {
		t.Errorf("/readyz answers %d", got)
	}
	if !strings.Contains(s.log.String(), "observe") {
		t.Error("it does not say that nothing is applied")
	}
}
