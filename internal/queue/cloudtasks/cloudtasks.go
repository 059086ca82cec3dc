// Package cloudtasks is the queue driver of production: Cloud Tasks, which calls
// POST /tasks/{kind} for each task (Deliver).
//
// Each kind has a queue, named {Options.Queue}-{kind}. A task is an HTTP request: the
// payload is its body, the rest is in headers. How the port's states map onto it:
//
//	waiting      a task of the queue
//	running      a request that is not answered yet
//	done         answered 200; the name stays reserved for a day at most
//	retry        answered 503 or 429 with Retry-After; the same task comes again
//	later        a successor is enqueued and the task answered 200
//	dead letter  a document in the store (deadTasks), and the task answered 200
//
// Cloud Tasks slows a whole queue down for each answer that is not 2xx. A task that is
// not due yet, or waits longer than BackoffMax, is therefore answered 200 and replaced
// by a successor. The successor's name has the task's chain and turn appended: a task
// that is delivered twice makes one successor, and two tasks that used one name after
// another make one each.
//
// Limits: a delivery to a stopped queue is refused and counts as an attempt; Depths
// counts at most MaxListed tasks of a kind.
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
	// Queue is the prefix of the queues' full names: projects/P/locations/L/queues/Q
	// for the kinds' queues, such as Q-intent. The deployment creates them.
	Queue string
	// Target is the address that tasks are delivered to, without the path.
	Target string
	// ServiceAccount authenticates deliveries, by an OIDC token for Audience.
	ServiceAccount, Audience string
	// Emulator is the host:port of an emulator; "" is Cloud Tasks, with the machine's
	// credentials.
	Emulator string
	// Client are further options of the client, for tests.
	Client []option.ClientOption
	// Store keeps dead letters and answers Queries. Waiting, Answers and Paused do
	// without it.
	Store store.Store
	Kinds []string
	// NewID returns a unique id of letters and digits.
	NewID func() string
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Rand draws an integer from 0 to n-1 for backoffs; nil: math/rand.
	Rand func(n int) int
	// DepthsKept is how long Depths caches its answer.
	DepthsKept time.Duration
	// Log receives failures; nil: none.
	Log *slog.Logger
}

// Queue is a queue in Cloud Tasks. It is safe for concurrent use, and any number of
// processes may share its tasks.
type Queue struct {
	with   Options
	client *tasks.Client

	mu      sync.Mutex
	session *session // nil while stopped
	depths  keptDepths
}

var _ queue.Queue = (*Queue)(nil)

// Open makes the client and calls nothing yet. Errors: Invalid (the kinds),
// Unavailable (no credentials).
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

// Close ends the client, after Stop. Later calls are Unavailable.
func (q *Queue) Close() error { return q.client.Close() }

func (q *Queue) queueName(kind string) string { return q.with.Queue + "-" + kind }

// unavailable wraps an error of Cloud Tasks; the call may have taken effect.
func unavailable(err error, doing string) error {
	return fault.Wrap(fault.Unavailable, err, "Cloud Tasks: "+doing)
}
