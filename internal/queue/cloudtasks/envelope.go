package cloudtasks

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"cloud.google.com/go/cloudtasks/apiv2/cloudtaskspb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
)

// The headers that carry what a task is beside its payload. They are trusted: the
// request is authenticated as our service account's.
const (
	headerID        = "X-Questscheduler-Task"
	headerChain     = "X-Questscheduler-Chain"
	headerTurn      = "X-Questscheduler-Turn"
	headerName      = "X-Questscheduler-Name" // base64: names are any bytes
	headerAttempts  = "X-Questscheduler-Attempts"
	headerSince     = "X-Questscheduler-Since"
	headerNotBefore = "X-Questscheduler-Not-Before"

	// headerRetries is Cloud Tasks' own count of earlier attempts of this task.
	headerRetries = "X-Cloudtasks-Taskretrycount"
)

const (
	// maxTask is how large a task may be with its headers, in bytes.
	maxTask = 100_000
	// dispatchDeadline is how long Cloud Tasks waits for an answer: longer than
	// workerPatience and queue.RunTimeout together.
	dispatchDeadline = 2 * time.Minute
	// callTimeout ends a call to Cloud Tasks.
	callTimeout = 10 * time.Second
	// skew keeps schedule times below Cloud Tasks' limit by its own clock.
	skew = time.Minute
)

// envelope is a task as it travels through Cloud Tasks.
type envelope struct {
	queue.Task
	// id is the hash of kind and name, or an id of its own for a task without name.
	id string
	// chain differs between tasks of one name. turn counts a task's successors in
	// its chain, from 0.
	chain string
	turn  int
	// attempts counts the failures of earlier turns; since is when the first turn was
	// enqueued, or a person retried the dead letter.
	attempts int
	since    time.Time
}

// seal makes the first envelope of a task.
func (q *Queue) seal(task queue.Task) envelope {
	e := envelope{Task: task, chain: q.with.NewID(), since: q.with.Now()}
	e.id = e.chain
	if task.Name != "" {
		hash := sha256.Sum256([]byte(task.Kind + "\x00" + task.Name))
		e.id = hex.EncodeToString(hash[:])
	}
	return e
}

// ref is unique among all envelopes; a dead letter has it as its id.
func (e envelope) ref() string { return e.id + "-" + e.chain + "-" + strconv.Itoa(e.turn) }

// taskID is the last part of its name at Cloud Tasks. It begins with a hash since
// sequential names slow Cloud Tasks down.
func (e envelope) taskID() string {
	if e.turn == 0 {
		return e.id
	}
	return e.ref()
}

func (e envelope) successor(attempts int, notBefore time.Time) envelope {
	e.turn, e.attempts, e.NotBefore = e.turn+1, attempts, notBefore
	return e
}

// Enqueue implements queue.Enqueuer; Cloud Tasks acknowledges before it returns.
func (q *Queue) Enqueue(ctx context.Context, task queue.Task) (bool, error) {
	if err := queue.Check(task, q.with.Kinds, q.with.Now()); err != nil {
		return false, err
	}
	return q.create(ctx, q.seal(task))
}

// create enqueues; created is false where the name is taken, or was until lately.
func (q *Queue) create(ctx context.Context, e envelope) (created bool, err error) {
	request := q.request(e)
	if proto.Size(request.GetTask()) > maxTask {
		return false, fault.Field("payload", "must fit with its headers into "+strconv.Itoa(maxTask)+" bytes")
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = q.client.CreateTask(ctx, request)
	switch status.Code(err) {
	case codes.OK:
		return true, nil
	case codes.AlreadyExists:
		return false, nil
	case codes.NotFound, codes.FailedPrecondition:
		return false, unavailable(err, "there is no queue "+q.queueName(e.Kind)+"; make it")
	default:
		return false, unavailable(err, "create a task")
	}
}

func (q *Queue) request(e envelope) *cloudtaskspb.CreateTaskRequest {
	name, now := q.queueName(e.Kind), q.with.Now()
	task := &cloudtaskspb.Task{
		Name: name + "/tasks/" + e.taskID(), DispatchDeadline: durationpb.New(dispatchDeadline),
		MessageType: &cloudtaskspb.Task_HttpRequest{HttpRequest: &cloudtaskspb.HttpRequest{
			Url: q.with.Target + "/tasks/" + e.Kind, HttpMethod: cloudtaskspb.HttpMethod_POST, Body: e.Payload, Headers: e.headers(),
			AuthorizationHeader: &cloudtaskspb.HttpRequest_OidcToken{OidcToken: &cloudtaskspb.OidcToken{
				ServiceAccountEmail: q.with.ServiceAccount, Audience: q.with.Audience,
			}},
		}},
	}
	if e.NotBefore.After(now) {
		task.ScheduleTime = timestamppb.New(slices.MinFunc([]time.Time{e.NotBefore, now.Add(queue.MaxAhead - skew)}, time.Time.Compare))
	}
	return &cloudtaskspb.CreateTaskRequest{Parent: name, Task: task}
}

func (e envelope) headers() map[string]string {
	headers := map[string]string{
		"Content-Type": "application/octet-stream", headerID: e.id, headerChain: e.chain, headerTurn: strconv.Itoa(e.turn),
		headerAttempts: strconv.Itoa(e.attempts), headerSince: e.since.UTC().Format(time.RFC3339Nano),
	}
	if e.Name != "" {
		headers[headerName] = base64.RawURLEncoding.EncodeToString([]byte(e.Name))
	}
	if !e.NotBefore.IsZero() {
		headers[headerNotBefore] = e.NotBefore.UTC().Format(time.RFC3339Nano)
	}
	return headers
}

// receive reads a task and its earlier attempts from a delivery. A missing
// header has the value of a new task, so tasks that were made by hand run too.
func (q *Queue) receive(kind string, header http.Header, body []byte) (e envelope, retries int) {
	e = q.seal(queue.Task{Kind: kind, Payload: body})
	if id, chain := header.Get(headerID), header.Get(headerChain); idForm.MatchString(id) && idForm.MatchString(chain) {
		e.id, e.chain = id, chain
	}
	if name, err := base64.RawURLEncoding.DecodeString(header.Get(headerName)); err == nil {
		e.Name = string(name)
	}
	e.turn, e.attempts = count(header.Get(headerTurn)), count(header.Get(headerAttempts))
	e.since = instant(header.Get(headerSince), e.since)
	e.NotBefore = instant(header.Get(headerNotBefore), time.Time{})
	return e, count(header.Get(headerRetries))
}

// idForm is the form of the parts of a taskID.
var idForm = regexp.MustCompile(`^[0-9a-zA-Z]{1,100}$`)

func count(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

func instant(text string, otherwise time.Time) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return otherwise
	}
	return at
}
