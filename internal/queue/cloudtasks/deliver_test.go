package cloudtasks_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
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

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
	"questscheduler/internal/queue/cloudtasks"
	"questscheduler/internal/test/memorystore"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// script is a queue over a Cloud Tasks that accepts the calls it is scripted to accept and
// runs nothing.
type script struct {
	t *testing.T
	*cloudtasks.Queue
	store *memorystore.Store

	mu     sync.Mutex
	calls  int
	made   []*cloudtaskspb.Task
	taken  map[string]bool
	states map[string]cloudtaskspb.Queue_State // of queues that do not run
	fail   error                               // what every call is answered
	now    time.Time
}

// newScript returns a queue of the kind "look" whose handler returns the verdict.
func newScript(t *testing.T, verdict queue.Verdict) *script {
	t.Helper()
	s := &script{t: t, taken: map[string]bool{}, now: noon}
	var err error
	if s.store, err = memorystore.Open(cloudtasks.Queries); err != nil {
		t.Fatal(err)
	}
	s.Queue, err = cloudtasks.Open(t.Context(), cloudtasks.Options{
		Queue: "projects/p/locations/l/queues/q", Target: "https://api.party.example", ServiceAccount: account, Audience: "https://audience.example",
		Emulator: "127.0.0.1:1", Client: []option.ClientOption{option.WithGRPCDialOption(grpc.WithUnaryInterceptor(s.call))},
		Store: s.store, Kinds: []string{"look", "intent"}, NewID: rand.Text, Now: func() time.Time { return s.now }, DepthsKept: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	handle := func(context.Context, queue.Delivery) queue.Verdict { return verdict }
	if err := s.Start(t.Context(), queue.Config{Handlers: map[string]queue.Handler{"look": handle, "intent": handle}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// call answers in the place of Cloud Tasks.
func (s *script) call(_ context.Context, _ string, request, reply any, _ *grpc.ClientConn, _ grpc.UnaryInvoker, _ ...grpc.CallOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.fail != nil {
		return s.fail
	}
	switch asked := request.(type) {
	case *cloudtaskspb.CreateTaskRequest:
		if s.taken[asked.GetTask().GetName()] {
			return status.Error(codes.AlreadyExists, "Requested entity already exists")
		}
		s.taken[asked.GetTask().GetName()] = true
		s.made = append(s.made, proto.CloneOf(asked.GetTask()))
	case *cloudtaskspb.GetQueueRequest:
		found, _ := reply.(*cloudtaskspb.Queue)
		found.Name, found.State = asked.GetName(), cmp.Or(s.states[asked.GetName()], cloudtaskspb.Queue_RUNNING)
	case *cloudtaskspb.ListTasksRequest:
		listed, _ := reply.(*cloudtaskspb.ListTasksResponse)
		for _, task := range s.made {
			if strings.HasPrefix(task.GetName(), asked.GetParent()+"/") {
				listed.Tasks = append(listed.Tasks, task)
			}
		}
	}
	return nil
}

// hand hands a task over and gives it as Cloud Tasks has it.
func (s *script) hand(task queue.Task) *cloudtaskspb.Task {
	s.t.Helper()
	created, err := s.Enqueue(s.t.Context(), task)
	if err != nil || !created {
		s.t.Fatalf("enqueue: %v, %v", created, err)
	}
	return s.made[len(s.made)-1]
}

// deliver delivers a task that was tried so often before.
func (s *script) deliver(task *cloudtaskspb.Task, retries int) (int, time.Duration) {
	s.t.Helper()
	header := http.Header{}
	for name, value := range task.GetHttpRequest().GetHeaders() {
		header.Set(name, value)
	}
	header.Set("X-CloudTasks-TaskRetryCount", fmt.Sprint(retries))
	url := task.GetHttpRequest().GetUrl()
	return s.Deliver(s.t.Context(), url[strings.LastIndex(url, "/")+1:], header, task.GetHttpRequest().GetBody())
}

func (s *script) letters() []queue.DeadLetter {
	s.t.Helper()
	letters, err := s.DeadLetters(s.t.Context(), 10)
	if err != nil {
		s.t.Fatal(err)
	}
	return letters
}

func TestEnqueue_RequestCarriesOurIdentity(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{})
	task := s.hand(queue.Task{Kind: "look", Name: "gm's calendar/7", Payload: []byte("p"), NotBefore: noon.Add(time.Minute)})
	request := task.GetHttpRequest()
	id, ok := strings.CutPrefix(task.GetName(), "projects/p/locations/l/queues/q-look/tasks/")
	if !ok || len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
		t.Errorf("its name is %s, want a hash in the queue of its kind", task.GetName())
	}
	if request.GetUrl() != "https://api.party.example/tasks/look" || string(request.GetBody()) != "p" {
		t.Errorf("it goes to %s with %q", request.GetUrl(), request.GetBody())
	}
	if token := request.GetOidcToken(); token.GetServiceAccountEmail() != account || token.GetAudience() != "https://audience.example" {
		t.Errorf("it is delivered as %v", token)
	}
	if !task.GetScheduleTime().AsTime().Equal(noon.Add(time.Minute)) {
		t.Errorf("it is scheduled for %v", task.GetScheduleTime().AsTime())
	}
}

func TestEnqueue_StaysWithinCloudTasksLimits(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{})
	largest := s.hand(queue.Task{
		Kind: "intent", Name: strings.Repeat("\xff", queue.MaxName), Payload: make([]byte, queue.MaxPayload), NotBefore: noon.Add(queue.MaxAhead),
	})
	if size := proto.Size(largest); size > 100_000 {
		t.Errorf("the largest task has %d bytes, want 100,000 at most", size)
	}
	if ahead := largest.GetScheduleTime().AsTime().Sub(noon); ahead >= queue.MaxAhead {
		t.Errorf("the farthest task lies %v ahead, which another clock may find too far", ahead)
	}
	for what, task := range map[string]queue.Task{
		"a payload too large": {Kind: "look", Payload: make([]byte, queue.MaxPayload+1)},
		"a time too far":      {Kind: "look", NotBefore: noon.Add(queue.MaxAhead + time.Second)},
	} {
		if _, err := s.Enqueue(t.Context(), task); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestEnqueue_CloudTasksRefuses_IsUnavailable(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.NotFound, codes.PermissionDenied, codes.ResourceExhausted, codes.InvalidArgument} {
		s := newScript(t, queue.Verdict{})
		s.fail = status.Error(code, "no")
		if created, err := s.Enqueue(t.Context(), queue.Task{Kind: "look"}); created || !fault.Is(err, fault.Unavailable) {
			t.Errorf("%v: %v, %v", code, created, err)
		}
	}
}

// Each row is what a handler answers, and what becomes of the task.
func TestDeliver_AnswersByVerdict(t *testing.T) {
	t.Parallel()
	busy := errors.New("busy")
	for name, row := range map[string]struct {
		verdict   queue.Verdict
		retries   int
		status    int
		after     time.Duration // 0: any
		next      time.Duration // when its successor is due; 0: there is none
		attempts  string        // of the successor
		letters   int
		ageBefore time.Duration
	}{
		"done":                          {verdict: queue.Verdict{Outcome: queue.Done}, status: 200},
		"permanent":                     {verdict: queue.Verdict{Outcome: queue.Permanent, Err: busy}, status: 200, letters: 1},
		"later":                         {verdict: queue.Verdict{Outcome: queue.Later, After: time.Hour}, retries: 2, status: 200, next: time.Hour, attempts: "2"},
		"retry":                         {verdict: queue.Verdict{Err: busy}, status: 503},
		"retry after a while":           {verdict: queue.Verdict{Err: busy, After: 30 * time.Second}, status: 503, after: 30 * time.Second},
		"retry, asked to slow down":     {verdict: queue.Verdict{Err: fault.New(fault.RateLimited, "slow"), After: 30 * time.Second}, status: 429, after: 30 * time.Second},
		"retry after hours":             {verdict: queue.Verdict{Err: busy, After: time.Hour}, retries: 2, status: 200, next: time.Hour, attempts: "3"},
		"retry, for the 50th time":      {verdict: queue.Verdict{Err: busy}, retries: 49, status: 503},
		"retry, for a day":              {verdict: queue.Verdict{Err: busy}, retries: 3, ageBefore: 25 * time.Hour, status: 503},
		"retry, 50 times within a day ": {verdict: queue.Verdict{Err: busy}, retries: 49, ageBefore: 25 * time.Hour, status: 200, letters: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, row.verdict)
			task := s.hand(queue.Task{Kind: "look", Name: "n", Payload: []byte("p")})
			s.now = noon.Add(row.ageBefore)
			for range 2 { // delivered twice it comes to the same
				status, after := s.deliver(task, row.retries)
				if status != row.status || (row.after > 0 && after != row.after) || (status != 200) != (after > 0) {
					t.Errorf("answered %d after %v, want %d", status, after, row.status)
				}
			}
			if letters := s.letters(); len(letters) != row.letters {
				t.Errorf("%d dead letters, want %d", len(letters), row.letters)
			}
			if (len(s.made) == 2) != (row.next > 0) || len(s.made) > 2 {
				t.Fatalf("%d tasks were made", len(s.made))
			}
			if row.next == 0 {
				return
			}
			next := s.made[1]
			if due := next.GetScheduleTime().AsTime(); !due.Equal(s.now.Add(row.next)) {
				t.Errorf("its successor is due %v", due)
			}
			if got := next.GetHttpRequest().GetHeaders()["X-Questscheduler-Attempts"]; got != row.attempts {
				t.Errorf("its successor comes after %s attempts, want %s", got, row.attempts)
			}
		})
	}
}

func TestDeliver_TwoTasksOfOneName_HaveOwnSuccessors(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{Outcome: queue.Later, After: time.Hour})
	first := s.hand(queue.Task{Kind: "look", Name: "n"})
	s.deliver(first, 0)
	delete(s.taken, first.GetName()) // a day later the name is free
	s.deliver(s.hand(queue.Task{Kind: "look", Name: "n"}), 0)
	if len(s.made) != 4 {
		t.Errorf("%d tasks were made, want two and a successor of each", len(s.made))
	}
}

func TestDeliver_SuccessorOrDeadLetterFails_IsRetried(t *testing.T) {
	t.Parallel()
	for name, verdict := range map[string]queue.Verdict{
		"later": {Outcome: queue.Later, After: time.Hour}, "permanent": {Outcome: queue.Permanent},
	} {
		s := newScript(t, verdict)
		task := s.hand(queue.Task{Kind: "look", Name: "n"})
		s.fail = status.Error(codes.Unavailable, "no")
		if err := s.store.Close(); err != nil {
			t.Fatal(err)
		}
		if status, after := s.deliver(task, 0); status != http.StatusServiceUnavailable || after <= 0 {
			t.Errorf("%s: answered %d after %v", name, status, after)
		}
	}
}

func TestDeliver_NotDueYet_IsPostponed(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{Outcome: queue.Permanent})
	task := s.hand(queue.Task{Kind: "look", NotBefore: noon.Add(queue.MaxAhead)})
	s.now = task.GetScheduleTime().AsTime()
	if status, _ := s.deliver(task, 0); status != 200 || len(s.letters()) != 0 {
		t.Errorf("answered %d, and it ran %d times", status, len(s.letters()))
	}
	if due := s.made[1].GetScheduleTime().AsTime(); !due.Equal(noon.Add(queue.MaxAhead)) {
		t.Errorf("it comes again at %v", due)
	}
	s.now = noon.Add(queue.MaxAhead)
	if status, _ := s.deliver(s.made[1], 0); status != 200 || len(s.letters()) != 1 {
		t.Errorf("when it is due it is answered %d, and ran %d times", status, len(s.letters()))
	}
}

func TestDeliver_UnknownKind_IsADeadLetter(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{})
	if status, _ := s.Deliver(t.Context(), "mirror", http.Header{}, []byte("p")); status != 200 {
		t.Errorf("answered %d", status)
	}
	if letters := s.letters(); len(letters) != 1 || letters[0].Kind != "mirror" || string(letters[0].Payload) != "p" {
		t.Errorf("the dead letters are %+v", letters)
	}
}

func TestDeliver_QueueStopped_IsRefusedUntilLater(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{Outcome: queue.Done})
	task := s.hand(queue.Task{Kind: "look"})
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status, after := s.deliver(task, 0); status != http.StatusServiceUnavailable || after <= 0 {
		t.Errorf("answered %d after %v", status, after)
	}
}

// A task that is at its last attempt is not given up for a run that Stop cut off.
func TestDeliver_StopCancelsLastAttempt_AttemptIsRepeated(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{})
	task := s.hand(queue.Task{Kind: "look", Name: "n"})
	s.now = noon.Add(queue.GiveUpAge)
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	stopped := make(chan error, 1)
	handle := func(ctx context.Context, _ queue.Delivery) queue.Verdict {
		go func() { stopped <- s.Stop(impatient) }()
		<-ctx.Done()
		return queue.Verdict{Outcome: queue.Retry, Err: ctx.Err()}
	}
	if err := s.Start(t.Context(), queue.Config{Handlers: map[string]queue.Handler{"look": handle, "intent": handle}}); err != nil {
		t.Fatal(err)
	}
	status, _ := s.deliver(task, queue.GiveUpAttempts-1)
	if err := <-stopped; err != nil {
		t.Fatalf("stop: %v", err)
	}
	if letters := s.letters(); status != 200 || len(letters) != 0 || len(s.made) != 2 {
		t.Fatalf("answered %d, with the dead letters %+v and %d tasks; want none and a successor", status, letters, len(s.made))
	}
	if got := s.made[1].GetHttpRequest().GetHeaders()["X-Questscheduler-Attempts"]; got != fmt.Sprint(queue.GiveUpAttempts-1) {
		t.Errorf("its successor comes after %s attempts, want %d", got, queue.GiveUpAttempts-1)
	}
}

// Deliver checks only the form of headers: the caller has proved to be our own service
// account.
func FuzzDeliver_WhateverTheHeadersSay_TheTaskEnds(f *testing.F) {
	f.Add("id", "chain", "1", "bmFtZQ", "2", "2026-03-01T12:00:00Z", "2026-03-01T11:00:00Z", "3")
	f.Add("../x", "a/b", "-1", "%%%", "99999999999", "now", "0001-01-01T00:00:00Z", "-7")
	f.Fuzz(func(t *testing.T, id, chain, turn, name, attempts, since, notBefore, retries string) {
		s := newScript(t, queue.Verdict{Outcome: queue.Permanent, Err: errors.New("no")})
		header := http.Header{}
		for key, value := range map[string]string{
			"X-Questscheduler-Task": id, "X-Questscheduler-Chain": chain, "X-Questscheduler-Turn": turn, "X-Questscheduler-Name": name,
			"X-Questscheduler-Attempts": attempts, "X-Questscheduler-Since": since, "X-Questscheduler-Not-Before": notBefore, "X-CloudTasks-TaskRetryCount": retries,
		} {
			header.Set(key, value)
		}
		status, _ := s.Deliver(t.Context(), "look", header, []byte("p"))
		if status != 200 || len(s.letters())+len(s.made) != 1 {
			t.Fatalf("answered %d, with %d dead letters and %d successors", status, len(s.letters()), len(s.made))
		}
	})
}

func TestDepths_CountListedTasksAndDeadLetters(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{Outcome: queue.Permanent})
	task := s.hand(queue.Task{Kind: "look", NotBefore: noon.Add(time.Second)})
	s.hand(queue.Task{Kind: "look", NotBefore: noon.Add(time.Hour)})
	want := func(waiting, dead int, oldest time.Time) {
		t.Helper()
		depths, err := s.Depths(t.Context())
		if err != nil || len(depths) != 2 || depths[0] != (queue.Depth{Kind: "intent"}) {
			t.Fatalf("depths %+v, %v", depths, err)
		}
		if depths[1] != (queue.Depth{Kind: "look", Waiting: waiting, Dead: dead, Oldest: oldest}) {
			t.Errorf("the depth is %+v", depths[1])
		}
	}
	want(2, 0, time.Time{})
	s.now = noon.Add(time.Minute - 1)
	want(2, 0, time.Time{}) // the answer is kept
	s.now = noon.Add(time.Minute)
	want(2, 0, noon.Add(time.Second))
	s.now = noon // the clock is set back
	want(2, 0, time.Time{})
	s.now = noon.Add(time.Minute)
	want(2, 0, noon.Add(time.Second))
	s.deliver(task, 0)
	want(2, 1, noon.Add(time.Second)) // a dead letter shows at once
	if err := s.Retry(t.Context(), s.letters()[0].ID); err != nil {
		t.Fatal(err)
	}
	s.fail = status.Error(codes.PermissionDenied, "no")
	if _, err := s.Depths(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("while Cloud Tasks does not answer: %v", err)
	}
}

func TestRetry_InterruptedBeforeDeletion_IsRepeated(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{Outcome: queue.Permanent})
	s.deliver(s.hand(queue.Task{Kind: "look", Name: "n"}), 0)
	id := s.letters()[0].ID
	s.taken["projects/p/locations/l/queues/q-look/tasks/"+id[:len(id)-1]+"1"] = true // it was handed over, and then
	if err := s.Retry(t.Context(), id); err != nil || len(s.letters()) != 0 || len(s.made) != 1 {
		t.Errorf("%v; %d dead letters, %d tasks", err, len(s.letters()), len(s.made))
	}
	for _, none := range []string{id, "", "a/b", "..", id + "/x"} {
		if err := s.Retry(t.Context(), none); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: %v", none, err)
		}
	}
}
