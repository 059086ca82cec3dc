package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"questscheduler/demo"
)

// ran is the result of a command.
type ran struct {
	code        int
	out, errors string
}

// run runs a command to its end in this process. It also works in a clean-up, after the
// test's own context ended.
func run(t *testing.T, environ []string, args ...string) ran {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*patience)
	defer cancel()
	code := Main(ctx, Process{Args: args, Environ: environ, Stdout: &out, Stderr: &errs})
	return ran{code, out.String(), errs.String()}
}

// want fails if the command has another exit code, or did not print a text.
func (r ran) want(t *testing.T, code int, says ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d", r.code, code)
	}
	for _, text := range says {
		if !strings.Contains(r.out+r.errors, text) {
			t.Errorf("it does not say %q", text)
		}
	}
	if t.Failed() {
		t.Logf("it printed:\n%s\nand on stderr:\n%s", r.out, r.errors)
	}
}

// settings are enough for a server with its store in dir that follows no calendar.
// Further settings override them.
func settings(dir string, more ...string) []string {
	return append([]string{
		"QS_SQLITE_PATH=" + filepath.Join(dir, "questscheduler.db"), "QS_ADDR=127.0.0.1:0", "QS_SYNC=off",
		"QS_GOOGLE_CLIENT_ID=client-id", "QS_GOOGLE_CLIENT_SECRET=" + secretOfClient,
		"QS_ENC_KEYS=k1:" + base64.StdEncoding.EncodeToString([]byte(secretKey)),
	}, more...)
}

// Secrets of the tests, which no output may contain.
const (
	secretOfClient = "client-secret-of-the-test"
	secretKey      = "0123456789abcdef0123456789ABCDEF"
	secretOfBot    = "bot-token-of-the-test"
	// secretOfFigures is the token for the metrics of a server that is reached from
	// outside.
	secretOfFigures = "token-of-the-figures-of-the-test"
)

// serving is a server that runs in this process.
type serving struct {
	t    *testing.T
	url  string
	log  *logLines
	stop func() int
}

// serve runs the server until the test ends or stop is called, which returns the exit
// code.
func serve(t *testing.T, environ []string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	lines := &logLines{t: t, at: make(chan string, 1)}
	done := make(chan int, 1)
	go func() {
		done <- Main(ctx, Process{Args: []string{"serve"}, Environ: environ, Stdout: lines, Stderr: lines})
	}()
	s := &serving{t: t, log: lines}
	s.stop = sync.OnceValue(func() int { cancel(); return <-done })
	t.Cleanup(func() {
		if code := s.stop(); code != exitOK {
			t.Errorf("the server ended with %d", code)
		}
	})
	select {
	case address := <-lines.at:
		s.url = "http://" + address
	case code := <-done:
		done <- code
		t.Fatalf("the server ended with %d before it was ready:\n%s", code, lines)
	}
	return s
}

// logLines keeps the server's log, and finds its address there.
type logLines struct {
	t    *testing.T
	at   chan string
	mu   sync.Mutex
	text strings.Builder
}

var listens = regexp.MustCompile(`msg="questscheduler serves".* address=(\S+)`)

func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(line)
	if match := listens.FindSubmatch(line); match != nil {
		l.at <- string(match[1])
	}
	return len(line), nil
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// asking is a client that calls the server for a user.
func (s *serving) asking(environ []string, person string) *outside {
	s.t.Helper()
	issued := run(s.t, environ, "token", "--user", person, "--email", person+"@party.example")
	issued.want(s.t, exitOK)
	return &outside{s.t, demo.Ready{API: s.url, Party: demo.Party{Users: map[string]demo.User{
		person: {ID: person, Token: strings.TrimSpace(issued.out)},
	}}}}
}

// status is the status code of a GET.
func (s *serving) status(path string) int {
	s.t.Helper()
	response, err := http.Get(s.url + path) //nolint:noctx // the server ends with the test
	if err != nil {
		s.t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		s.t.Error(err)
	}
	return response.StatusCode
}
