package cloudtasks_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"questscheduler/internal/outbox"
	"questscheduler/internal/outbox/cloudtasks"
	"questscheduler/internal/test/emulator"
)

// openOnEmulator opens a waker on the emulator, which speaks the protocol, and a server for what
// it delivers, whose answers are those of answer.
func openOnEmulator(t *testing.T, answer func(r *http.Request, body []byte) (status int)) *bench {
	t.Helper()
	b, queues := newBench(t, nil), emulator.CloudTasks(t, kinds...)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
			b.Errorf("a delivery with the headers %v: %v", r.Header, err)
		}
		w.WriteHeader(answer(r, body))
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	var err error
	b.tasks, err = cloudtasks.Open(t.Context(), b.Outbox, cloudtasks.Options{
		Queue: queues.Prefix, Target: server.URL + "/", ServiceAccount: account, Audience: "https://api.party.example",
		Emulator: queues.Host, Kinds: kinds,
	})
	b.must(err)
	t.Cleanup(func() {
		if err := b.tasks.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// A task comes again while the store does not answer, and then makes one successor, for its time,
// though it is delivered twice.
func TestWaker_OnTheEmulator_RunsAnEntryToItsEnd(t *testing.T) {
	t.Parallel()
	var b *bench
	answered := make(chan int, 10)
	b = openOnEmulator(t, func(r *http.Request, body []byte) int {
		status, _ := b.tasks.Deliver(r.Context(), path.Base(r.URL.Path), r.Header, body)
		if status == http.StatusOK {
			status, _ = b.tasks.Deliver(r.Context(), path.Base(r.URL.Path), r.Header, body)
		}
		b.breaks(false)
		answered <- status
		return status
	})
	var began []time.Time
	b.answer = func(context.Context, outbox.Item) outbox.Result {
		began = append(began, time.Now())
		if len(began) == 1 {
			return outbox.Again(time.Now().Add(time.Second))
		}
		return outbox.Done()
	}
	b.must(b.tasks.Start(t.Context()))
	b.record("job", "a", 0)
	b.breaks(true)
	b.must(b.tasks.Wake(t.Context(), "job", "a", "a name", time.Time{}))
	b.must(b.tasks.Wake(t.Context(), "job", "a", "a name", time.Time{}))
	for i, want := range []int{http.StatusServiceUnavailable, http.StatusOK, http.StatusOK} {
		select {
		case status := <-answered:
			if status != want {
				t.Errorf("delivery %d was answered %d, want %d", i, status, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("there is no delivery %d", i)
		}
	}
	for waiting := 1; waiting > 0; { // the last one may not have ended yet
		var err error
		waiting, err = b.tasks.Waiting(t.Context())
		// The emulator may change a task while it encodes it, and what it then sends cannot be read.
		if status.Code(err) == codes.Internal {
			waiting, err = 1, nil
		}
		b.must(err)
	}
	if len(answered) > 0 || len(began) != 2 || began[1].Sub(began[0]) < time.Second {
		t.Errorf("%d more were delivered; it ran at %v", len(answered), began)
	}
	if _, due := b.state("job", "a"); due {
		t.Error("it is not done")
	}
	b.must(b.tasks.Stop(t.Context()))
}
