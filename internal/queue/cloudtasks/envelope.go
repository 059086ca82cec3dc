package cloudtasks

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
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

// The headers in which a task says what it is beside its payload. They are ours,
// and believed since the request proves to be from our service account.
const (
	headerID        = "X-Questscheduler-Task"
	headerChain     = "X-Questscheduler-Chain"
	headerTurn      = "X-Questscheduler-Turn"
	headerName      = "X-Questscheduler-Name" // base64: names are any bytes
	headerAttempts  = "X-Questscheduler-Attempts"
	headerSince     = "X-Questscheduler-Since"
	headerNotBefore = "X-Questscheduler-Not-Before"

	// headerRetries is Cloud Tasks' own count of how often it tried this very task
	// before. It counts for waits and for giving up, and proves nothing.
	headerRetries = "X-Cloudtasks-Taskretrycount"
)

const (
	// maxTask is how large a task may be with its headers, in bytes.
	maxTask = 100_000
	// dispatchDeadline is how long Cloud Tasks waits for an answer: longer than a
	// handler may take, and than it may have to wait for its turn.
	dispatchDeadline = 2 * time.Minute
	// callPatience is how long a call of Cloud Tasks may take.
	callPatience = 10 * time.Second
	// skew is how far ahead of ours Cloud Tasks' clock may be where a task is to
	// lie as far ahead as it may at all.
	skew = time.Minute
)

// handed is a task as it is handed over to Cloud Tasks, and comes back.
type handed struct {
	queue.Task
	// id is the hash of kind and name, or what NewID gave a task without a name.
	id string
	// chain tells the tasks apart that had one name after another, and turn those
	// that follow each other in a chain; the first is 0.
	chain string
	turn  int
	// attempts is how many had failed before this one was handed over, and since
	// when the first was, or a person put it back to work.
	attempts int
	since    time.Time
}

// newHanded is a task that nobody handed over before.
func (q *Queue) newHanded(task queue.Task) handed {
	h := handed{Task: task, chain: q.with.NewID(), since: q.with.Now()}
	h.id = h.chain
	if task.Name != "" {
		hash := sha256.Sum256([]byte(task.Kind + "\x00" + task.Name))
		h.id = hex.EncodeToString(hash[:])
	}
	return h
}

// ref names it among all that there were: it is the id of its dead letter.
func (h handed) ref() string { return h.id + "-" + h.chain + "-" + strconv.Itoa(h.turn) }

// taskID is the last part of its name at Cloud Tasks. It begins with a hash, as
// Cloud Tasks asks for: names that lie close together are slow.
func (h handed) taskID() string {
	if h.turn == 0 {
		return h.id
	}
	return h.ref()
}

// next is the one that follows it, not before a time.
func (h handed) next(attempts int, notBefore time.Time) handed {
	h.turn, h.attempts, h.NotBefore = h.turn+1, attempts, notBefore
	return h
}

// Enqueue hands the task over; see queue.Enqueuer. It is acknowledged by Cloud
// Tasks before it returns.
func (q *Queue) Enqueue(ctx context.Context, task queue.Task) (bool, error) {
	if err := queue.Check(task, q.with.Kinds, q.with.Now()); err != nil {
		return false, err
	}
	return q.create(ctx, q.newHanded(task))
}

// create makes the task; created is false where one of its name was there, or
// ended a while ago.
func (q *Queue) create(ctx context.Context, h handed) (created bool, err error) {
	request := q.request(h)
	if proto.Size(request.GetTask()) > maxTask {
		return false, fault.Field("payload", "must fit with its headers into "+strconv.Itoa(maxTask)+" bytes")
	}
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	_, err = q.client.CreateTask(ctx, request)
	switch status.Code(err) {
	case codes.OK:
		return true, nil
	case codes.AlreadyExists:
		return false, nil
	case codes.NotFound, codes.FailedPrecondition:
		return false, unavailable(err, "there is no queue "+q.queueName(h.Kind)+"; make it")
	default:
		return false, unavailable(err, "hand a task over")
	}
}

func (q *Queue) request(h handed) *cloudtaskspb.CreateTaskRequest {
	name, now := q.queueName(h.Kind), q.with.Now()
	task := &cloudtaskspb.Task{
		Name: name + "/tasks/" + h.taskID(), DispatchDeadline: durationpb.New(dispatchDeadline),
		MessageType: &cloudtaskspb.Task_HttpRequest{HttpRequest: &cloudtaskspb.HttpRequest{
			Url: q.with.Target + "/tasks/" + h.Kind, HttpMethod: cloudtaskspb.HttpMethod_POST, Body: h.Payload, Headers: h.headers(),
			AuthorizationHeader: &cloudtaskspb.HttpRequest_OidcToken{OidcToken: &cloudtaskspb.OidcToken{
				ServiceAccountEmail: q.with.ServiceAccount, Audience: q.with.Audience,
			}},
		}},
	}
	if h.NotBefore.After(now) {
		task.ScheduleTime = timestamppb.New(earlier(h.NotBefore, now.Add(queue.MaxAhead-skew)))
	}
	return &cloudtaskspb.CreateTaskRequest{Parent: name, Task: task}
}

func (h handed) headers() map[string]string {
	headers := map[string]string{
		"Content-Type": "application/octet-stream", headerID: h.id, headerChain: h.chain, headerTurn: strconv.Itoa(h.turn),
		headerAttempts: strconv.Itoa(h.attempts), headerSince: h.since.UTC().Format(time.RFC3339Nano),
	}
	if h.Name != "" {
		headers[headerName] = base64.RawURLEncoding.EncodeToString([]byte(h.Name))
	}
	if !h.NotBefore.IsZero() {
		headers[headerNotBefore] = h.NotBefore.UTC().Format(time.RFC3339Nano)
	}
	return headers
}

// handedFrom reads a task as Cloud Tasks delivers it, and how often it did so
// before. What a header does not say, or not readably, is as for a new task: one
// that somebody made by hand runs too.
func (q *Queue) handedFrom(kind string, header http.Header, body []byte) (h handed, retries int) {
	h = q.newHanded(queue.Task{Kind: kind, Payload: body})
	if id, chain := header.Get(headerID), header.Get(headerChain); isRef(id) && isRef(chain) {
		h.id, h.chain = id, chain
	}
	if name, err := base64.RawURLEncoding.DecodeString(header.Get(headerName)); err == nil {
		h.Name = string(name)
	}
	h.turn, h.attempts = count(header.Get(headerTurn)), count(header.Get(headerAttempts))
	h.since = instant(header.Get(headerSince), h.since)
	h.NotBefore = instant(header.Get(headerNotBefore), time.Time{})
	return h, count(header.Get(headerRetries))
}

// isRef tells whether a text is one of those that taskID is made of.
func isRef(text string) bool {
	if text == "" || len(text) > 100 {
		return false
	}
	for _, r := range text {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return true
}

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

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
