package cloudtasks_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"questscheduler/fault"
)

func TestAnswers_IsOneCall(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		if err := b.tasks.Answers(b.Context()); err != nil || b.cloud.calls != 1 {
			b.Errorf("%d calls, %v", b.cloud.calls, err)
		}
		b.cloud.fail = status.Error(codes.NotFound, "no")
		if err := b.tasks.Answers(b.Context()); !fault.Is(err, fault.Unavailable) {
			b.Errorf("where there is no queue: %v", err)
		}
		b.cloud.fail, b.cloud.hangs = nil, true
		began := time.Now()
		if err := b.tasks.Answers(b.Context()); !fault.Is(err, fault.Unavailable) || time.Since(began) != 10*time.Second {
			b.Errorf("without an answer: %v after %v", err, time.Since(began))
		}
	})
}

func TestPaused_ListsKindsOfStoppedQueues(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		want := func(kinds ...string) {
			b.Helper()
			if paused, err := b.tasks.Paused(b.Context()); err != nil || !slices.Equal(paused, kinds) {
				b.Errorf("%v, %v, want %v", paused, err, kinds)
			}
		}
		want()
		b.cloud.states = map[string]cloudtaskspb.Queue_State{queues + "other": cloudtaskspb.Queue_PAUSED}
		want("other")
		b.cloud.states[queues+"job"] = cloudtaskspb.Queue_DISABLED
		want("job", "other")
		b.cloud.fail = status.Error(codes.PermissionDenied, "no")
		if _, err := b.tasks.Paused(b.Context()); !fault.Is(err, fault.Unavailable) {
			b.Errorf("while Cloud Tasks does not answer: %v", err)
		}
	})
}

func TestWaiting_CountsAThousandOfAKind(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		want := func(n int) {
			b.Helper()
			if waiting, err := b.tasks.Waiting(b.Context()); err != nil || waiting != n {
				b.Errorf("%d, %v, want %d", waiting, err, n)
			}
		}
		want(0)
		ended := b.wake("other", "a")
		for i := range 3 {
			b.wake("job", fmt.Sprint(i))
		}
		want(4)
		b.cloud.ended[ended.GetName()] = true
		want(3)
		for i := range 1000 {
			b.wake("job", fmt.Sprint(i))
		}
		b.wake("other", "b")
		want(1001)
		b.cloud.fail = status.Error(codes.PermissionDenied, "no")
		if _, err := b.tasks.Waiting(b.Context()); !fault.Is(err, fault.Unavailable) {
			b.Errorf("while Cloud Tasks does not answer: %v", err)
		}
	})
}
