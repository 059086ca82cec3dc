package cloudtasks_test

import (
	"context"
	"path"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

func TestWake_Request_IsKindAndIDWithOurIdentity(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		b.must(b.tasks.Wake(b.Context(), "job", "gm's é/7", "a name", time.Now().Add(10*time.Second)))
		task := b.cloud.tasks()[0]
		id, ok := strings.CutPrefix(task.GetName(), queues+"job/tasks/")
		if !ok || len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
			b.Errorf("its name is %s, want a hash in the queue of its kind", task.GetName())
		}
		request := task.GetHttpRequest()
		if request.GetUrl() != "https://api.party.example/tasks/job" || request.GetHttpMethod() != cloudtaskspb.HttpMethod_POST ||
			string(request.GetBody()) != "gm's é/7" {
			b.Errorf("it goes to %s %s with %q", request.GetHttpMethod(), request.GetUrl(), request.GetBody())
		}
		if token := request.GetOidcToken(); token.GetServiceAccountEmail() != account || token.GetAudience() != "https://audience.example" {
			b.Errorf("it is delivered as %v", token)
		}
		if due := task.GetScheduleTime().AsTime(); !due.Equal(time.Now().Add(10 * time.Second)) {
			b.Errorf("it is scheduled for %v", due)
		}
		if wait := task.GetDispatchDeadline().AsDuration(); wait != 2*time.Minute {
			b.Errorf("an answer may take %v", wait)
		}
	})
}

func TestWake_AtOnce_HasNoScheduleTime(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		for _, at := range []time.Time{{}, time.Now(), time.Now().Add(-time.Hour)} {
			b.must(b.tasks.Wake(b.Context(), "job", "a", "", at))
		}
		for _, task := range b.cloud.tasks() {
			if task.GetScheduleTime() != nil {
				b.Errorf("it is scheduled for %v", task.GetScheduleTime().AsTime())
			}
		}
	})
}

// A name that is taken is no error: a run follows, or followed.
func TestWake_OfATakenName_MakesNoTask(t *testing.T) {
	t.Parallel()
	for what, row := range map[string]struct {
		kinds [2]string
		names [2]string
		tasks int
	}{
		"one name":             {kinds: [2]string{"job", "job"}, names: [2]string{"n", "n"}, tasks: 1},
		"two names":            {kinds: [2]string{"job", "job"}, names: [2]string{"n", "m"}, tasks: 2},
		"names that are bytes": {kinds: [2]string{"job", "job"}, names: [2]string{"\xff", "\xfe\x00\n"}, tasks: 2},
		"long names": {
			kinds: [2]string{"job", "job"}, names: [2]string{strings.Repeat("n", 2000), strings.Repeat("n", 2001)}, tasks: 2,
		},
		"one name of two kinds": {kinds: [2]string{"job", "other"}, names: [2]string{"n", "n"}, tasks: 2},
		"no name":               {kinds: [2]string{"job", "job"}, tasks: 2},
	} {
		onBench(t, nil, func(b *bench) {
			for i, kind := range row.kinds {
				b.must(b.tasks.Wake(b.Context(), kind, "a", row.names[i], time.Time{}))
			}
			tasks := b.cloud.tasks()
			if len(tasks) != row.tasks {
				b.Errorf("%s: %d tasks", what, len(tasks))
			}
			for _, task := range tasks {
				if id := path.Base(task.GetName()); row.names[0] != "" && len(id) != 64 {
					b.Errorf("%s: a task is named %s", what, id)
				}
			}
		})
	}
}

// longestID is the length of the longest id of a document.
const longestID = 1500

func TestWake_OfTheLongestID_FitsIntoATask(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		longest := strings.Repeat("i", longestID)
		b.must(store.Doc("job", longest).Valid())
		if store.Doc("job", longest+"i").Valid() == nil {
			b.Error("a document may have a longer id")
		}
		b.must(b.tasks.Wake(b.Context(), "job", longest, "n", time.Time{}))
		if task := b.cloud.tasks()[0]; string(task.GetHttpRequest().GetBody()) != longest || proto.Size(task) > 100_000 {
			b.Errorf("the task has %d bytes", proto.Size(task))
		}
	})
}

func TestWake_Refused_IsUnavailable(t *testing.T) {
	t.Parallel()
	for code, says := range map[codes.Code]string{
		codes.NotFound: "there is no queue " + queues + "job; make it", codes.FailedPrecondition: "there is no queue " + queues + "job; make it",
		codes.Unavailable: "create a task", codes.DeadlineExceeded: "create a task", codes.PermissionDenied: "create a task",
		codes.ResourceExhausted: "create a task", codes.InvalidArgument: "create a task",
	} {
		onBench(t, nil, func(b *bench) {
			b.cloud.fail = status.Error(code, "no")
			err := b.tasks.Wake(b.Context(), "job", "a", "n", time.Time{})
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), says) {
				b.Errorf("%v: %v", code, err)
			}
		})
	}
}

func TestWake_WithoutAnAnswer_EndsInTime(t *testing.T) {
	t.Parallel()
	onBench(t, nil, func(b *bench) {
		b.cloud.hangs = true
		began := time.Now()
		err := b.tasks.Wake(b.Context(), "job", "a", "n", time.Time{})
		if took := time.Since(began); !fault.Is(err, fault.Unavailable) || took != 10*time.Second {
			b.Errorf("%v after %v", err, took)
		}
		ended, cancel := context.WithCancel(b.Context())
		cancel()
		if err := b.tasks.Wake(ended, "job", "a", "n", time.Time{}); !fault.Is(err, fault.Unavailable) {
			b.Errorf("for a caller who is gone: %v", err)
		}
	})
}
