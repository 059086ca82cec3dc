package cloudtasks_test

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/api/option"
	"google.golang.org/grpc"

	"questscheduler/internal/queue"
	"questscheduler/internal/queue/cloudtasks"
	"questscheduler/internal/test/emulator"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/queuetest"
)

const account = "tasks@party.example"

// bench is a queue whose tasks the emulator delivers to a server of the test.
type bench struct {
	*cloudtasks.Queue
	queues emulator.Queues
	store  *memorystore.Store
	// answers, where set, answers in the queue's place.
	answers atomic.Pointer[func(r *http.Request) int]
}

// open opens a queue of the kinds. What is changed of its options is.
func open(t *testing.T, kinds []string, changed ...func(*cloudtasks.Options)) *bench {
	t.Helper()
	b := &bench{queues: emulator.CloudTasks(t, kinds...)}
	server := httptest.NewServer(b)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	var err error
	if b.store, err = memorystore.Open(cloudtasks.Queries); err != nil {
		t.Fatal(err)
	}
	options := cloudtasks.Options{
		Queue: b.queues.Prefix, Target: server.URL + "/", ServiceAccount: account, Audience: "https://api.party.example",
		Emulator: b.queues.Host, Client: oneByOne(), Store: b.store, Kinds: kinds,
		NewID: rand.Text,
	}
	for _, change := range changed {
		change(&options)
	}
	if b.Queue, err = cloudtasks.Open(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// ServeHTTP answers the emulator as the route of tasks does, who is calling
// apart: that is tried where the route is.
func (b *bench) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if answers := b.answers.Load(); answers != nil {
		w.WriteHeader((*answers)(r))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	status, _ := b.Deliver(r.Context(), path.Base(r.URL.Path), r.Header, body)
	w.WriteHeader(status)
}

// oneByOne makes one task after the other: of two of a name that are made at the
// same moment the emulator takes both, which Cloud Tasks does not.
func oneByOne() []option.ClientOption {
	var mu sync.Mutex
	return []option.ClientOption{option.WithGRPCDialOption(grpc.WithUnaryInterceptor(
		func(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
			if strings.HasSuffix(method, "/CreateTask") {
				mu.Lock()
				defer mu.Unlock()
			}
			return invoke(ctx, method, request, reply, connection, options...)
		}))}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	queuetest.RunPush(t, func(t *testing.T, kinds []string) queue.Queue { return open(t, kinds).Queue })
}
