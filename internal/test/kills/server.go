package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// build builds the program into a folder.
func build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "questscheduler")
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "questscheduler/cmd/questscheduler").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, said)
	}
	return binary, nil
}

// server is the program as a process that is killed and started again.
type server struct {
	binary, dir, url string
	environ          []string
	http             *http.Client

	mu      sync.Mutex
	process *exec.Cmd
	ended   chan struct{} // closed once the process is gone
	started time.Time
	kills   int
	starts  []time.Duration // from the start to ready, of each
	log     string          // the file of its output
}

func newServer(binary, dir, addr string, environ []string) *server {
	return &server{
		binary: binary, dir: dir, url: "http://" + addr, environ: environ,
		http: &http.Client{Timeout: callTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
		log:  filepath.Join(dir, "output.log"),
	}
}

// freeAddress is one on which nobody listens.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// token is a bearer token of a person, from the program itself.
func (s *server) token(ctx context.Context, uid, email string) (string, error) {
	args := []string{"token", "--user", uid, "--ttl", "24h"}
	if email != "" {
		args = append(args, "--email", email)
	}
	command := exec.CommandContext(ctx, s.binary, args...)
	command.Env = s.environ
	said, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("token of %s: %w", uid, err)
	}
	return strings.TrimSpace(string(said)), nil
}

// spawn starts the process and does not wait for it.
func (s *server) spawn() error {
	output, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close() //nolint:errcheck // the process has it too
	command := exec.Command(s.binary, "serve")
	command.Env, command.Stdout, command.Stderr = s.environ, output, output
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = time.Now()
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _ = command.Wait(); close(ended) }() // its error is that it was killed
	s.process, s.ended = command, ended
	return nil
}

// start starts the process and waits until it is ready.
func (s *server) start(ctx context.Context) error {
	if err := s.spawn(); err != nil {
		return err
	}
	deadline := s.started.Add(startPatience)
	for {
		if s.isReady(ctx) {
			s.starts = append(s.starts, time.Since(s.started))
			return nil
		}
		select {
		case <-s.ended:
			return errors.New("the program ended at its start")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(readyPause):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the program was not ready %v after its start", startPatience)
		}
	}
}

const (
	callTimeout   = 15 * time.Second
	startPatience = 30 * time.Second
	readyPause    = 2 * time.Millisecond
)

func (s *server) isReady(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := s.http.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close() //nolint:errcheck // its status is all
	return response.StatusCode == http.StatusOK
}

// kill ends the process as kill -9 does, and waits until it is gone. Where it is gone
// already, nothing happens; several callers may kill at once.
func (s *server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // an error says that it had ended
	<-s.ended
	s.process = nil
	s.kills++
	s.http.CloseIdleConnections()
}

// died reports whether the process ended and nobody killed it.
func (s *server) died() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return false
	}
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// startTimes are the time that 99 of 100 starts took at most, and the longest.
func (s *server) startTimes() (p99, longest time.Duration) {
	sorted := slices.Sorted(slices.Values(s.starts))
	if len(sorted) == 0 {
		return 0, 0
	}
	return sorted[(len(sorted)-1)*99/100], sorted[len(sorted)-1]
}

// lastLines are the end of what the process wrote.
func (s *server) lastLines() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
