// Package cloudtasks is the queue driver of production: Cloud Tasks, which calls
// POST /tasks/{kind} for each task (Deliver).
//
// A kind is a queue of its own, named {Options.Queue}-{kind}. A task is an HTTP
// request whose body is the payload; what else it is stands in headers of ours.
// How the port's states map onto it:
//
//	waiting      a task of the queue
//	running      a request that is not answered yet
//	done         answered 200; the name stays taken for a day at most
//	retry        answered 503 or 429 with Retry-After; the same task comes again
//	later        a successor is handed over and the task answered 200
//	dead letter  a document in the store (deadTasks), and the task answered 200
//
// Cloud Tasks takes every answer but 2xx for a failure of all who are behind the
// queue, and slows the whole of it down. So a task that merely is not due yet,
// or is to wait for longer than BackoffMax, is answered 200, and its successor
// is scheduled for its time. A successor's name is that of the task with the
// task's chain and turn behind it: a task that is delivered twice makes one
// successor, and two tasks that had one name after another make one each.
//
// What Cloud Tasks cannot show: a task that comes while the queue is stopped is
// refused, and has been tried once more when it comes again. Depths count no
// more than MaxListed tasks a kind.
//
// No task lies further ahead than MaxAhead: what is due later stands in a
// document of its own until then, as everything does that must not be lost, and
// the drain hands it over when it is due.
package cloudtasks

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	tasks "cloud.google.com/go/cloudtasks/apiv2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
)

// Options are what a queue is opened with.
type Options struct {
	// Queue is what the queues' full names begin with:
	// projects/P/locations/L/queues/Q for the queues Q-look, Q-intent and so on.
	// They are made by the deployment.
	Queue string
	// Target is the address that tasks are delivered to, without the path.
	Target string
	// ServiceAccount is whom tasks are delivered as, by an OIDC token for
	// Audience.
	ServiceAccount, Audience string
	// Emulator is one in the place of Cloud Tasks, as host:port; "" is Cloud Tasks,
	// by the credentials of the machine.
	Emulator string
	// Client are further options of the client, for tests.
	Client []option.ClientOption
	// Store keeps dead letters; it answers Queries.
	Store store.Store
	// Kinds are the kinds that it takes.
	Kinds []string
	// NewID gives a text that no other task has, of letters and digits.
	NewID func() string
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Rand gives an integer from 0 to n-1, for the waits before another attempt;
	// nil: math/rand.
	Rand func(n int) int
	// DepthsKept is how long an answer of Depths is given again, since each asks
	// Cloud Tasks to list its tasks.
	DepthsKept time.Duration
	// Log gets what fails; nil: nothing.
	Log *slog.Logger
}

// Queue is a queue in Cloud Tasks. It may be used by several goroutines, and any
// number of processes may share what it stands for.
type Queue struct {
	with   Options
	client *tasks.Client

	mu     sync.Mutex
	shift  *shift // nil while it is stopped
	depths keptDepths
}

var _ queue.Queue = (*Queue)(nil)

// Open makes the client; Cloud Tasks is not asked before the first task. Errors:
// Invalid (the kinds), Unavailable (no credentials).
func Open(ctx context.Context, options Options) (*Queue, error) {
	if err := queue.CheckKinds(options.Kinds); err != nil {
		return nil, err
	}
	q := &Queue{with: options}
	q.with.Kinds = slices.Sorted(slices.Values(options.Kinds))
	q.with.Target = strings.TrimRight(options.Target, "/")
	if q.with.Now == nil {
		q.with.Now = time.Now
	}
	if q.with.Rand == nil {
		q.with.Rand = rand.IntN
	}
	if q.with.Log == nil {
		q.with.Log = slog.New(slog.DiscardHandler)
	}
	client := slices.Clone(options.Client)
	if options.Emulator != "" {
		client = append(client, option.WithEndpoint(options.Emulator), option.WithoutAuthentication(),
			option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	}
	var err error
	if q.client, err = tasks.NewClient(ctx, client...); err != nil {
		return nil, unavailable(err, "make its client")
	}
	return q, nil
}

// Close ends the client. It comes after Stop; calls after it are Unavailable.
func (q *Queue) Close() error { return q.client.Close() }

// queueName is the full name of a kind's queue.
func (q *Queue) queueName(kind string) string { return q.with.Queue + "-" + kind }

// unavailable gives an error of Cloud Tasks its kind: whatever it refuses, the
// caller can only come back later. What was asked for may have happened.
func unavailable(err error, doing string) error {
	return fault.Wrap(fault.Unavailable, err, "Cloud Tasks: "+doing)
}
