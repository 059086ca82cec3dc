package main

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// queuesInState are the queues of a Cloud Tasks without tasks. All of them are in one
// state, or do not exist.
type queuesInState struct {
	cloudtaskspb.UnimplementedCloudTasksServer
	mu    sync.Mutex
	state cloudtaskspb.Queue_State
	gone  bool
	asked int
}

// serveQueues stands in for Cloud Tasks until the test ends.
func serveQueues(t *testing.T, queues *queuesInState) (host string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	cloudtaskspb.RegisterCloudTasksServer(server, queues)
	go func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

// calls counts the calls since it was last called.
func (q *queuesInState) calls() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	asked := q.asked
	q.asked = 0
	return asked
}

// set removes the queues or brings them back.
func (q *queuesInState) set(gone bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gone = gone
}

// GetQueue implements cloudtaskspb.CloudTasksServer.
func (q *queuesInState) GetQueue(_ context.Context, asked *cloudtaskspb.GetQueueRequest) (*cloudtaskspb.Queue, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked++
	if q.gone {
		return nil, status.Error(codes.NotFound, "there is none")
	}
	return &cloudtaskspb.Queue{Name: asked.GetName(), State: q.state}, nil
}

// ListTasks implements cloudtaskspb.CloudTasksServer.
func (q *queuesInState) ListTasks(context.Context, *cloudtaskspb.ListTasksRequest) (*cloudtaskspb.ListTasksResponse, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked++
	return &cloudtaskspb.ListTasksResponse{}, nil
}

// TestReady_WithCloudTasks_IsOneCallForManyWhoAsk: the route is public, so an answer
// must not list all waiting tasks.
func TestReady_WithCloudTasks_IsOneCallForManyWhoAsk(t *testing.T) {
	t.Parallel()
	queues := &queuesInState{}
	s := openCloudServer(t, "QS_CLOUDTASKS_ENDPOINT="+serveQueues(t, queues))
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return now }
	want := func(ready bool, calls int) {
		t.Helper()
		for range 20 {
			if err := s.isReady(t.Context()); (err == nil) != ready {
				t.Errorf("it says %v", err)
			}
		}
		if got := queues.calls(); got != calls {
			t.Errorf("Cloud Tasks was asked %d times, want %d", got, calls)
		}
	}
	want(true, 1)
	queues.set(true)
	want(true, 0)
	now = now.Add(readyKept)
	want(false, 1)
	queues.set(false)
	now = now.Add(readyKept)
	want(true, 1)
	now = now.Add(-time.Hour) // the clock is set back
	want(true, 1)
	left, leave := context.WithCancel(t.Context())
	leave()
	now = now.Add(readyKept)
	if err := s.isReady(left); err == nil {
		t.Error("it is ready for a request that has ended")
	}
	want(true, 1)
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestDoctor_NamesQueuesThatArePaused(t *testing.T) {
	t.Parallel()
	queues := &queuesInState{state: cloudtaskspb.Queue_PAUSED}
	environ := settings(t.TempDir(), "QS_PUBLIC_URL=https://quests.example.org", "QS_QUEUE=cloudtasks",
		"QS_CLOUDTASKS_QUEUE=projects/p/locations/l/queues/q", "QS_CLOUDTASKS_ENDPOINT="+serveQueues(t, queues),
		"QS_TASKS_SERVICE_ACCOUNT=tasks@p.iam.gserviceaccount.com", "QS_MACHINE_ISSUER=http://127.0.0.1:1")
	run(t, environ, "doctor").want(t, exitFailed,
		"wrong    queue           nothing is done of the kinds whose queues are paused or disabled: "+
			"sync, sweep, watch, link, intent, announce, document, timer, group, mirror-plan, mirror-event, mirror; gcloud tasks "+
			"queues resume q-sync")
}
