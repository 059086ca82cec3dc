package cloudtasks_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"questscheduler/internal/outbox/cloudtasks"
)

// service is Cloud Tasks in memory, in the place of the client's connection. It delivers tasks
// when they are due (serve), or leaves that to the test (bench.deliver). No name is free again.
type service struct {
	mu     sync.Mutex
	calls  int
	made   []*cloudtaskspb.Task
	ended  map[string]bool // tasks by name, all that were made; true: answered 200
	states map[string]cloudtaskspb.Queue_State
	fail   error                         // what every call is answered
	hangs  bool                          // no call is answered
	serves func(task *cloudtaskspb.Task) // called for each task that is made; nil: nobody
}

// queues is what the names of the queues begin with.
const queues = "projects/p/locations/l/queues/q-"

// open opens a waker whose calls the service answers.
func (s *service) open(t *testing.T, b *bench) *cloudtasks.Waker {
	t.Helper()
	waker, err := cloudtasks.Open(t.Context(), b.Outbox, cloudtasks.Options{
		Queue: "projects/p/locations/l/queues/q", Target: "https://api.party.example/", ServiceAccount: account,
		Audience: "https://audience.example",
		Emulator: "127.0.0.1:1", Client: []option.ClientOption{option.WithGRPCDialOption(grpc.WithUnaryInterceptor(s.call))}, Kinds: kinds,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := waker.Close(); err != nil {
			t.Error(err)
		}
	})
	return waker
}

// call answers in the place of Cloud Tasks.
func (s *service) call(
	ctx context.Context, _ string, request, reply any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption,
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.hangs {
		<-ctx.Done()
	}
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	if s.fail != nil {
		return s.fail
	}
	switch asked := request.(type) {
	case *cloudtaskspb.CreateTaskRequest:
		if !slices.Contains(kinds, strings.TrimPrefix(asked.GetParent(), queues)) {
			return status.Error(codes.NotFound, "Queue does not exist.")
		}
		return s.create(asked.GetParent(), proto.CloneOf(asked.GetTask()))
	case *cloudtaskspb.GetQueueRequest:
		found := reply.(*cloudtaskspb.Queue)
		found.Name, found.State = asked.GetName(), cmp.Or(s.states[asked.GetName()], cloudtaskspb.Queue_RUNNING)
	case *cloudtaskspb.ListTasksRequest:
		listed := reply.(*cloudtaskspb.ListTasksResponse)
		for _, task := range s.made {
			if strings.HasPrefix(task.GetName(), asked.GetParent()+"/") && !s.ended[task.GetName()] {
				listed.Tasks = append(listed.Tasks, task)
			}
		}
	}
	return nil
}

func (s *service) create(queue string, task *cloudtaskspb.Task) error {
	if task.GetName() == "" {
		task.Name = queue + "/tasks/" + rand.Text()
	}
	if _, taken := s.ended[task.GetName()]; taken {
		return status.Error(codes.AlreadyExists, "Requested entity already exists")
	}
	if s.ended == nil {
		s.ended = map[string]bool{}
	}
	s.ended[task.GetName()] = false
	s.made = append(s.made, task)
	if s.serves != nil {
		s.serves(task)
	}
	return nil
}

// tasks are those made so far.
func (s *service) tasks() []*cloudtaskspb.Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.made)
}

// deliver is Waker.Deliver.
type deliver func(ctx context.Context, kind string, header http.Header, body []byte) (status int, retryAfter time.Duration)

// serve delivers every task that is made from now on: not before its time, each attempt so many
// times at once, and again until it is answered 200. It ends, with what it delivers, at stop.
func (s *service) serve(to deliver, copies int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	s.serves = func(task *cloudtaskspb.Task) {
		serving.Go(func() {
			wait := time.Until(task.GetScheduleTime().AsTime())
			for retries := 0; ; retries++ {
				select {
				case <-ctx.Done():
					return
				case <-time.After(wait):
				}
				wait = attempt(ctx, to, task, retries, copies)
				if wait == 0 {
					break
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ended[task.GetName()] = true
		})
	}
	return func() {
		cancel()
		serving.Wait()
	}
}

// attempt delivers a task so many times at once, and returns the longest wait that was asked
// for: 0 where each was answered 200.
func attempt(ctx context.Context, to deliver, task *cloudtaskspb.Task, retries, copies int) (wait time.Duration) {
	var mu sync.Mutex
	var delivering sync.WaitGroup
	for range copies {
		delivering.Go(func() {
			status, after := hand(ctx, to, task, retries)
			mu.Lock()
			defer mu.Unlock()
			if status != http.StatusOK {
				wait = max(wait, after)
			}
		})
	}
	delivering.Wait()
	return wait
}

// hand delivers a task that was tried so often before, once, as Cloud Tasks does.
func hand(ctx context.Context, to deliver, task *cloudtaskspb.Task, retries int) (status int, retryAfter time.Duration) {
	header := http.Header{}
	for name, value := range task.GetHttpRequest().GetHeaders() {
		header.Set(name, value)
	}
	header.Set("X-CloudTasks-TaskName", path.Base(task.GetName()))
	header.Set("X-CloudTasks-TaskRetryCount", strconv.Itoa(retries))
	return to(ctx, path.Base(task.GetHttpRequest().GetUrl()), header, task.GetHttpRequest().GetBody())
}
