package cloudtasks_test

import (
	"slices"
	"testing"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

func TestAnswers_IsOneCall(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{})
	if err := s.Answers(t.Context()); err != nil || s.calls != 1 {
		t.Errorf("%d calls, %v", s.calls, err)
	}
	s.fail = status.Error(codes.NotFound, "no")
	if err := s.Answers(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("where there is no queue: %v", err)
	}
}

func TestPaused_ListsKindsOfStoppedQueues(t *testing.T) {
	t.Parallel()
	s := newScript(t, queue.Verdict{})
	want := func(kinds ...string) {
		t.Helper()
		if paused, err := s.Paused(t.Context()); err != nil || !slices.Equal(paused, kinds) {
			t.Errorf("%v, %v, want %v", paused, err, kinds)
		}
	}
	want()
	s.states = map[string]cloudtaskspb.Queue_State{"projects/p/locations/l/queues/q-look": cloudtaskspb.Queue_PAUSED}
	want("look")
	s.states["projects/p/locations/l/queues/q-intent"] = cloudtaskspb.Queue_DISABLED
	want("intent", "look")
	s.fail = status.Error(codes.PermissionDenied, "no")
	if _, err := s.Paused(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("while Cloud Tasks does not answer: %v", err)
	}
}
