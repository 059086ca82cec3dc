package bodylimit_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/internal/bodylimit"
)

const patience = 10 * time.Second

// pipes is a listener of connections in memory, whose deadlines follow the clock
// of the test's bubble.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	connection, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return connection, nil
}

// Close is called once, by the server.
func (p pipes) Close() error {
	close(p)
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// served runs a test against a server with some routes, in a bubble.
func served(t *testing.T, do func(t *testing.T, dial func() net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := pipes(make(chan net.Conn))
		var connections sync.WaitGroup
		server := &http.Server{Handler: bodylimit.Handler(routes(), patience), IdleTimeout: time.Hour,
			ConnState: func(_ net.Conn, state http.ConnState) {
				switch state {
				case http.StateNew:
					connections.Add(1)
				case http.StateClosed:
					connections.Done()
				default:
				}
			}}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(listener) }()
		do(t, func() net.Conn {
			client, connection := net.Pipe()
			listener <- connection
			return client
		})
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		connections.Wait()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// routes has a handler for each way to treat a body.
func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/ignores", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/refuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	mux.HandleFunc("/reads", func(w http.ResponseWriter, r *http.Request) { echoBody(w, r, 0) })
	mux.HandleFunc("/reads-longer", func(w http.ResponseWriter, r *http.Request) { echoBody(w, r, 3*patience) })
	mux.HandleFunc("/signs-in-first", func(w http.ResponseWriter, r *http.Request) {
		<-time.After(patience + time.Second)
		echoBody(w, r, 0)
	})
	mux.HandleFunc("/answers-early", func(w http.ResponseWriter, r *http.Request) {
		if err := bodylimit.Extend(r, time.Now().Add(5*patience)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/streams", func(w http.ResponseWriter, r *http.Request) {
		for i := range 5 {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i) // its error shows as an event that never came
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(patience):
			}
		}
	})
	return mux
}

func echoBody(w http.ResponseWriter, r *http.Request, longer time.Duration) {
	if longer > 0 {
		if err := bodylimit.Extend(r, time.Now().Add(longer)); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	read, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "the body did not arrive", http.StatusBadRequest)
		return
	}
	_, _ = w.Write(read) // its error shows as an answer that never came
}

// Each row is a request whose body never arrives. Every connection of it is
// closed, and a health request is answered then.
func TestHandler_WithheldBodies_AreAllClosed(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/ignores", "/refuses", "/reads", "/reads-longer", "/streams", "/nothing"} {
		for name, header := range map[string]string{
			"with a length": "Content-Length: 100\r\n", "in chunks": "Transfer-Encoding: chunked\r\n",
			"after a go-ahead": "Content-Length: 100\r\nExpect: 100-continue\r\n", "begun": "Content-Length: 100\r\n\r\n{",
		} {
			t.Run(path+" "+name, func(t *testing.T) {
				t.Parallel()
				served(t, func(t *testing.T, dial func() net.Conn) {
					const each = 20
					began := time.Now()
					closed := make(chan error, each)
					for range each {
						connection := dial()
						go func() {
							if _, err := io.WriteString(connection, "POST "+path+" HTTP/1.1\r\nHost: x\r\n"+header+"\r\n"); err != nil {
								closed <- err
								return
							}
							_, err := io.ReadAll(connection)
							closed <- errors.Join(err, connection.Close())
						}()
					}
					for range each {
						if err := <-closed; err != nil {
							t.Error(err)
						}
					}
					if path != "/reads" && path != "/reads-longer" && path != "/streams" {
						if bound := patience / 5; time.Since(began) > bound { // by the clock of the bubble
							t.Errorf("they are open for more than %s", bound)
						}
					}
					if status, _ := ask(t, bufio.NewReader(nil), dial(), "GET /ignores HTTP/1.1\r\nHost: x\r\n\r\n"); status != http.StatusOK {
						t.Errorf("a health request is answered %d", status)
					}
				})
			})
		}
	}
}

// ask sends a request and reads the answer.
func ask(t *testing.T, from *bufio.Reader, connection net.Conn, parts ...string) (status int, body string) {
	t.Helper()
	sent := make(chan struct{})
	defer func() { <-sent }()
	go func() {
		defer close(sent)
		for i, part := range parts {
			if i > 0 {
				<-time.After(patience * 2 / 5)
			}
			if _, err := io.WriteString(connection, part); err != nil {
				return // the server closed it, which the answer shows
			}
		}
	}()
	from.Reset(connection)
	response, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatalf("there is no answer: %v", err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(read)
}

// Each row is how many parts of a body come, each after 40% of the patience.
func TestHandler_SlowBody_ArrivesWithinTheBound(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		path   string
		parts  int
		status int
	}{
		"within the patience": {"/reads", 3, http.StatusOK},
		"beyond it":           {"/reads", 4, http.StatusBadRequest},
		"within more":         {"/reads-longer", 8, http.StatusOK},
		"beyond that":         {"/reads-longer", 9, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			served(t, func(t *testing.T, dial func() net.Conn) {
				parts := []string{fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\na", row.path, row.parts)}
				for range row.parts - 1 {
					parts = append(parts, "a")
				}
				connection := dial()
				defer connection.Close()
				status, body := ask(t, bufio.NewReader(nil), connection, parts...)
				if status != row.status || status == http.StatusOK && len(body) != row.parts {
					t.Errorf("it is answered %d %q, want %d", status, body, row.status)
				}
			})
		})
	}
}

// The time for a body begins when the route reads it: a sign-in before that may
// take as long.
func TestHandler_BodyReadAfterSlowSignIn_Arrives(t *testing.T) {
	t.Parallel()
	served(t, func(t *testing.T, dial func() net.Conn) {
		connection := dial()
		defer connection.Close()
		header := "POST /signs-in-first HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
		if status, body := ask(t, bufio.NewReader(nil), connection, header, "body"); status != http.StatusOK || body != "body" {
			t.Errorf("it is answered %d %q", status, body)
		}
	})
}

// A client that sends a byte of an unread body every half a second delays the
// answer by a second at most, also where the body was given more time.
func TestHandler_DrippedRest_DelaysTheAnswerByASecond(t *testing.T) {
	t.Parallel()
	served(t, func(t *testing.T, dial func() net.Conn) {
		connection := dial()
		defer connection.Close()
		var answered atomic.Bool
		dripped := make(chan int)
		go func() {
			count := 0
			_, err := io.WriteString(connection, "POST /answers-early HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
			for err == nil && !answered.Load() {
				_, err = io.WriteString(connection, "a")
				if err == nil {
					count++
				}
				<-time.After(time.Second / 2)
			}
			dripped <- count
		}()
		response, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil {
			t.Fatal(err)
		}
		answered.Store(true)
		if err := connection.Close(); err != nil {
			t.Error(err)
		}
		if count := <-dripped; count > 3 || response.StatusCode != http.StatusOK || !response.Close {
			t.Errorf("it is answered %d after %d bytes, closed: %v", response.StatusCode, count, response.Close)
		}
	})
}

// recorded is a connection that keeps its last deadline.
type recorded struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (r *recorded) SetReadDeadline(at time.Time) error {
	r.deadline = at
	return nil
}

// part is a body whose first part arrives on a signal.
type part struct{ asked, arrives chan struct{} }

func (p part) Read(into []byte) (int, error) {
	close(p.asked)
	<-p.arrives
	return copy(into, "a"), nil
}

func (part) Close() error { return nil }

// A proxy may still read the body when the refusal is answered.
func TestHandler_ReadThatEndsAfterTheAnswer_MovesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		connection := &recorded{ResponseRecorder: httptest.NewRecorder()}
		sent := part{make(chan struct{}), make(chan struct{})}
		bodylimit.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := bodylimit.Extend(r, time.Now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
			ended := make(chan error)
			go func() {
				_, err := r.Body.Read(make([]byte, 1))
				ended <- err
			}()
			<-sent.asked
			w.WriteHeader(http.StatusUnauthorized)
			close(sent.arrives)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if err := bodylimit.Extend(r, time.Now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
		}), patience).ServeHTTP(connection, httptest.NewRequest(http.MethodPost, "/", sent))
		if left := time.Until(connection.deadline); left > 0 {
			t.Errorf("the connection has %s more", left)
		}
	})
}

// The deadline ends with the body: a stream goes on for five times as long, and
// the connection takes another request later.
func TestHandler_StreamAndKeptConnection_OutliveTheDeadline(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"Content-Length: 4\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "\r\n"} {
		served(t, func(t *testing.T, dial func() net.Conn) {
			connection := dial()
			defer connection.Close()
			from := bufio.NewReader(nil)
			for range 2 {
				_, events := ask(t, from, connection, "POST /streams HTTP/1.1\r\nHost: x\r\n"+body)
				if got := strings.Count(events, "data:"); got != 5 {
					t.Errorf("%q: %d events came", body, got)
				}
				<-time.After(3 * patience)
				if status, _ := ask(t, from, connection, "POST /reads HTTP/1.1\r\nHost: x\r\n"+body); status != http.StatusOK {
					t.Errorf("%q: the next request is answered %d", body, status)
				}
			}
		})
	}
}

// A client that sends its whole body before it reads gets the refusal.
func TestHandler_RefusedUpload_IsAnsweredAndClosed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(bodylimit.Handler(routes(), time.Minute))
	t.Cleanup(server.Close)
	for _, size := range []int{10, 100 << 10} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/refuses",
			strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if response.StatusCode != http.StatusUnauthorized || !response.Close {
			t.Errorf("%d bytes are answered %d, closed: %v", size, response.StatusCode, response.Close)
		}
	}
}

// Without a connection, as in a recorder, there is nothing to bound.
func TestHandler_WithoutConnection_AnswersUnbounded(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	bodylimit.Handler(routes(), patience).ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/reads-longer", strings.NewReader("body")))
	if recorder.Code != http.StatusOK || recorder.Body.String() != "body" {
		t.Errorf("it is answered %d %q", recorder.Code, recorder.Body)
	}
}
