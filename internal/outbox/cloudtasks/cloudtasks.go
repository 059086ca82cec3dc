// Package cloudtasks wakes an outbox by Cloud Tasks, which calls POST /tasks/{kind} for each
// wake (Deliver).
//
// Each kind has a queue, named {Options.Queue}-{kind}. A task is an HTTP request whose body is
// the id of the entry; all else is in the entry's document. How a delivery is answered:
//
//	nothing is left, or the drain finds it          200
//	the entry is due again within a minute          200, after a successor was created
//	the store did not answer, or this process ends  503 with Retry-After: it comes again
//	no worker is free                               429 with Retry-After: it comes again
//
// Cloud Tasks slows a whole queue down for each answer that is not 2xx, so an entry that is not
// due yet gets a successor. Its name has that of the task that made it, so that a task that is
// delivered twice makes one successor.
package cloudtasks

import (
	"context"
	"slices"
	"strings"
	"sync"

	tasks "cloud.google.com/go/cloudtasks/apiv2"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
)

// Options are what a waker is made with.
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
	// Kinds have a queue each: those of the outbox. Answers, Paused and Waiting ask for them.
	Kinds []string
}

// Waker is an outbox.Waker. It is safe for concurrent use, and any number of processes may
// share its queues.
type Waker struct {
	with   Options
	work   *outbox.Outbox
	client *tasks.Client

	mu      sync.Mutex
	session *session // nil while stopped
}

var _ outbox.Waker = (*Waker)(nil)

// Open makes the waker of an outbox, and calls nothing yet. It is Unavailable where there are
// no credentials.
func Open(ctx context.Context, work *outbox.Outbox, options Options) (*Waker, error) {
	w := &Waker{with: options, work: work}
	w.with.Target = strings.TrimRight(options.Target, "/")
	client := slices.Clone(options.Client)
	if options.Emulator != "" {
		client = append(client, option.WithEndpoint(options.Emulator), option.WithoutAuthentication(),
			option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	}
	var err error
	w.client, err = tasks.NewClient(ctx, client...)
	if err != nil {
		return nil, unavailable(err, "make its client")
	}
	work.Waker = w
	return w, nil
}

// Close ends the client, after Stop. Later calls are Unavailable.
func (w *Waker) Close() error { return w.client.Close() }

func (w *Waker) queueName(kind string) string { return w.with.Queue + "-" + kind }

// unavailable wraps an error of Cloud Tasks; the call may have taken effect.
func unavailable(err error, doing string) error {
	return fault.Wrap(fault.Unavailable, err, "Cloud Tasks: "+doing)
}
