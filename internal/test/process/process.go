// Package process runs the built program as a process of its own, for what looks at it from the
// outside.
package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Build builds the program into a folder, and returns its path.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "questscheduler")
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "questscheduler/cmd/questscheduler").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, said)
	}
	return binary, nil
}

// Server is the program as a process that is killed and started again.
type Server struct {
	URL     string
	HTTP    *http.Client // calls it
	Kills   int          // so far
	Started time.Time    // when it was started last

	binary  string
	environ []string
	mu      sync.Mutex
	process *exec.Cmd
	ended   chan struct{}   // closed once the process is gone
	starts  []time.Duration // from the start to ready, of each
	log     string          // the file of its output
}

// New has a built program run with these variables, which have it listen on addr. Its output goes to
// a file of the folder.
func New(binary, dir, addr string, environ []string) *Server {
	return &Server{
		binary: binary, URL: "http://" + addr, environ: environ,
		HTTP: &http.Client{Timeout: CallTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		log:  filepath.Join(dir, "output.log"),
	}
}

// FreeAddress is one of this machine on which nobody listens.
func FreeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// Token is a bearer token of a person, from the program itself.
func (s *Server) Token(ctx context.Context, uid, email string) (string, error) {
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

// Spawn starts the process and does not wait for it.
func (s *Server) Spawn() error {
	output, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()                       //nolint:errcheck // the process has it too
	command := exec.Command(s.binary, "serve") //nolint:noctx // stop ends it
	command.Env, command.Stdout, command.Stderr = s.environ, output, output
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Started = time.Now()
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _ = command.Wait(); close(ended) }() // its error is that it was killed
	s.process, s.ended = command, ended
	return nil
}

// Start starts the process and waits until it is ready.
func (s *Server) Start(ctx context.Context) error {
	if err := s.Spawn(); err != nil {
		return err
	}
	deadline := s.Started.Add(startPatience)
	for {
		if s.isReady(ctx) {
			s.starts = append(s.starts, time.Since(s.Started))
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
	// CallTimeout is how long one call may take.
	CallTimeout   = 15 * time.Second
	startPatience = 30 * time.Second
	readyPause    = 2 * time.Millisecond
)

func (s *Server) isReady(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := s.HTTP.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close() //nolint:errcheck // its status is all
	return response.StatusCode == http.StatusOK
}

// Kill ends the process as kill -9 does, and waits until it is gone. Where it is gone
// already, nothing happens; several callers may kill at once.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // an error says that it had ended
	<-s.ended
	s.process = nil
	s.Kills++
	s.HTTP.CloseIdleConnections()
}

// Stop ends the process as an operator does, and returns how long it took to end.
func (s *Server) Stop() (took time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := time.Now()
	if s.process == nil {
		return 0, errors.New("no process is there to be stopped")
	}
	if err := s.process.Process.Signal(os.Interrupt); err != nil {
		return 0, err
	}
	<-s.ended
	took = time.Since(began)
	if state := s.process.ProcessState; !state.Success() {
		err = fmt.Errorf("the program ended with %v", state)
	}
	s.process = nil
	s.HTTP.CloseIdleConnections()
	return took, err
}

// Metrics reads the program's metrics that have no labels, by name.
func (s *Server) Metrics(ctx context.Context) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := s.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("read the metrics: %s", response.Status)
	}
	read := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, said, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(said, 64); err == nil {
			read[name] = value
		}
	}
	return read, lines.Err()
}

// Died reports whether the process ended and nobody killed it.
func (s *Server) Died() bool {
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

// StartTimes are the time that 99 of 100 starts took at most, and the longest.
func (s *Server) StartTimes() (p99, longest time.Duration) {
	sorted := slices.Sorted(slices.Values(s.starts))
	if len(sorted) == 0 {
		return 0, 0
	}
	return sorted[(len(sorted)-1)*99/100], sorted[len(sorted)-1]
}

// LastLines are the end of what the process wrote.
func (s *Server) LastLines() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
