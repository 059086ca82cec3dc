package cost_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc"

	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
	"questscheduler/internal/test/cost"
	"questscheduler/internal/test/emulator"
	"questscheduler/internal/test/storetest"
)

// edge counts what Firestore bills by the requests that leave its client and the
// answers that come: each document that is answered, there or not; a query that
// gives none as one; each write and deletion of a commit that was taken.
type edge struct {
	mu    sync.Mutex
	total storetest.Cost
	// open is what the transactions that were not committed yet have read, and
	// runs are those that were.
	open map[string]storetest.Cost
	runs []storetest.Cost
	// unknown are the calls that it does not know the price of.
	unknown map[string]bool
}

func (e *edge) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.total, e.open, e.runs = storetest.Cost{}, map[string]storetest.Cost{}, nil
}

func (e *edge) dial() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(e.unary), grpc.WithChainStreamInterceptor(e.stream)}
}

// unary counts commits. A write carries its own precondition, so what is checked
// for it is not billed as a read.
func (e *edge) unary(
	ctx context.Context, method string, request, answer any, connection *grpc.ClientConn, call grpc.UnaryInvoker,
	options ...grpc.CallOption,
) error {
	err := call(ctx, method, request, answer, connection, options...)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch r := request.(type) {
	case *pb.CommitRequest:
		if err != nil {
			break
		}
		var written storetest.Cost
		for _, write := range r.GetWrites() {
			if write.GetDelete() != "" {
				written.Deletes++
			} else {
				written.Writes++
			}
		}
		e.total = e.total.Add(written)
		e.runs = append(e.runs, e.open[string(r.GetTransaction())].Add(written))
		delete(e.open, string(r.GetTransaction()))
	case *pb.RollbackRequest:
		delete(e.open, string(r.GetTransaction()))
	default:
		e.unknown[method] = true
	}
	return err
}

func (e *edge) stream(
	ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string, open grpc.Streamer,
	options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, description, connection, method, options...)
	if err != nil {
		return nil, err
	}
	return &counted{ClientStream: stream, edge: e, method: method}, nil
}

// counted is a read: of documents by their names, or of a query.
type counted struct {
	grpc.ClientStream
	edge        *edge
	method      string
	transaction []byte
	isQuery     bool
	read        int
}

// SendMsg implements grpc.ClientStream.
func (c *counted) SendMsg(message any) error {
	switch request := message.(type) {
	case *pb.BatchGetDocumentsRequest:
		c.transaction = request.GetTransaction()
	case *pb.RunQueryRequest:
		c.transaction, c.isQuery = request.GetTransaction(), true
	default:
		c.edge.note(c.method)
	}
	return c.ClientStream.SendMsg(message)
}

// RecvMsg implements grpc.ClientStream.
func (c *counted) RecvMsg(message any) error {
	err := c.ClientStream.RecvMsg(message)
	if err != nil {
		c.edge.add(c)
		return err
	}
	switch answer := message.(type) {
	case *pb.BatchGetDocumentsResponse:
		c.joins(answer.GetTransaction())
		if answer.GetResult() != nil {
			c.read++
		}
	case *pb.RunQueryResponse:
		c.joins(answer.GetTransaction())
		if answer.GetDocument() != nil {
			c.read++
		}
	}
	return nil
}

// joins notes the transaction that the first answer began.
func (c *counted) joins(transaction []byte) {
	if len(transaction) > 0 {
		c.transaction = transaction
	}
}

func (e *edge) note(method string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unknown[method] = true
}

// add counts a read that is over.
func (e *edge) add(c *counted) {
	cost := storetest.Cost{Reads: c.read}
	if c.isQuery {
		cost.Reads = max(1, c.read)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.total = e.total.Add(cost)
	if len(c.transaction) > 0 {
		e.open[string(c.transaction)] = e.open[string(c.transaction)].Add(cost)
	}
}

// onFirestore is a place on the emulator: what the program's client asks is
// counted, what the world reads by a client of its own is not.
func onFirestore(t *testing.T) (cost.Place, *edge) {
	t.Helper()
	host, project := emulator.Project(t)
	counter := &edge{unknown: map[string]bool{}}
	counter.begin()
	open := func(queries []*store.Query, dial ...grpc.DialOption) (*firestore.Store, error) {
		s, err := firestore.Open(t.Context(), firestore.Options{Project: project, Emulator: host, Queries: queries, Dial: dial})
		if err == nil {
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		return s, err
	}
	var declared []*store.Query
	return cost.Place{
		Open: func(queries []*store.Query) (store.Store, error) {
			declared = queries
			return open(queries)
		},
		Program: func(store.Store) store.Store {
			s, err := open(declared, counter.dial()...)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Begin: counter.begin,
	}, counter
}

// What Firestore bills for each flow is what the page of costs says, which has its
// numbers from the memory driver: as a whole, and transaction by transaction.
func TestFlows_CostOnFirestoreWhatTheyCostInMemory(t *testing.T) {
	t.Parallel()
	for _, f := range cost.Flows {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			want, err := f.Count(t, cost.Place{})
			if err != nil {
				t.Fatal(err)
			}
			place, billed := onFirestore(t)
			got, err := f.Count(t, place)
			if err != nil {
				t.Fatal(err)
			}
			if got.Total != want.Total || !slices.Equal(got.Runs, want.Runs) {
				t.Errorf("asked of the port: %+v, in memory %+v", got, want)
			}
			billed.mu.Lock()
			defer billed.mu.Unlock()
			if billed.total != want.Total || !slices.Equal(billed.runs, want.Runs) {
				t.Errorf("billed are %+v, of transactions %+v, want %+v", billed.total, billed.runs, want)
			}
			if transition, ok := f.Transition(billed.runs); f.Most != (storetest.Cost{}) && (!ok || !transition.Within(f.Most)) {
				t.Errorf("the transactions cost %+v, and the transition may cost %+v at most", billed.runs, f.Most)
			}
			if len(billed.unknown) > 0 {
				t.Errorf("calls whose price is not known: %v", slices.Sorted(maps.Keys(billed.unknown)))
			}
		})
	}
}
