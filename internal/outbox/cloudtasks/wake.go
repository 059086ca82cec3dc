package cloudtasks

import (
	"context"
	"net/http"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"questscheduler/internal/ids"
)

// callTimeout ends a call to Cloud Tasks.
const callTimeout = 10 * time.Second

// dispatchDeadline is how long Cloud Tasks waits for an answer: longer than workerPatience and a
// run of the kind together.
func (w *Waker) dispatchDeadline(kind string) time.Duration {
	return w.work.Timeout(kind) + time.Minute
}

// Wake implements outbox.Waker by creating a task. A name that is taken, or was until lately,
// is no error: a run follows, or followed.
func (w *Waker) Wake(ctx context.Context, kind, id, name string, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := w.client.CreateTask(ctx, w.request(kind, id, name, at))
	switch status.Code(err) {
	case codes.OK, codes.AlreadyExists:
		return nil
	case codes.NotFound, codes.FailedPrecondition:
		return unavailable(err, "there is no queue "+w.queueName(kind)+"; make it")
	default:
		return unavailable(err, "create a task")
	}
}

func (w *Waker) request(kind, id, name string, at time.Time) *cloudtaskspb.CreateTaskRequest {
	task := &cloudtaskspb.Task{
		DispatchDeadline: durationpb.New(w.dispatchDeadline(kind)),
		MessageType: &cloudtaskspb.Task_HttpRequest{HttpRequest: &cloudtaskspb.HttpRequest{
			Url: w.with.Target + "/tasks/" + kind, HttpMethod: cloudtaskspb.HttpMethod_POST, Body: []byte(id),
			Headers: map[string]string{"Content-Type": "text/plain; charset=utf-8"},
			AuthorizationHeader: &cloudtaskspb.HttpRequest_OidcToken{OidcToken: &cloudtaskspb.OidcToken{
				ServiceAccountEmail: w.with.ServiceAccount, Audience: w.with.Audience,
			}},
		}},
	}
	if name != "" { // otherwise Cloud Tasks draws one; hashed, since sequential names slow it down
		task.Name = w.queueName(kind) + "/tasks/" + ids.Of(name).Hex(32)
	}
	if at.After(w.work.Now()) {
		task.ScheduleTime = timestamppb.New(at)
	}
	return &cloudtaskspb.CreateTaskRequest{Parent: w.queueName(kind), Task: task}
}

// The headers that Cloud Tasks adds. They are trusted: the request is authenticated as our
// service account's.
const (
	headerName    = "X-Cloudtasks-Taskname"
	headerRetries = "X-Cloudtasks-Taskretrycount" // earlier attempts of this task
)

// succeed creates the successor of a delivered task.
func (w *Waker) succeed(ctx context.Context, kind, id string, header http.Header, at time.Time) error {
	name := header.Get(headerName)
	if name != "" { // a task that somebody made by hand has none, and is delivered by hand too
		name = "after/" + name
	}
	return w.Wake(context.WithoutCancel(ctx), kind, id, name, at)
}
