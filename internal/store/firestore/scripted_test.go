package firestore_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"questscheduler/internal/store/firestore"
)

// scripted is a server in Firestore's place that fails as a test says: every
// document is absent, every query empty, every commit taken.
type scripted struct {
	pb.UnimplementedFirestoreServer

	mu sync.Mutex
	// failures are taken one by one by the calls of their name; then all is well.
	failures map[string][]error
	// hang names the calls that never answer.
	hang map[string]bool
	// pages are the documents' names that each query finds, before it fails.
	pages [][]string
	// streams answers a Listen, from its first request on; nil: none is answered.
	streams func(asked *pb.Target, stream pb.Firestore_ListenServer) error

	reads     []*pb.BatchGetDocumentsRequest
	queries   []*pb.RunQueryRequest
	commits   []*pb.CommitRequest
	rollbacks []*pb.RollbackRequest
	targets   []*pb.Target
	begun     byte
}

// start runs the server and opens a store on it.
func (s *scripted) start(t *testing.T, options firestore.Options) *firestore.Store {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	options.Emulator = listener.Addr().String()
	return s.serve(t, options, listener)
}

// startInMemory is start for a bubble of synctest, which no socket may leave.
func (s *scripted) startInMemory(t *testing.T) *firestore.Store {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	dial := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })
	return s.serve(t, firestore.Options{Emulator: "memory:1", Dial: []grpc.DialOption{dial}}, listener)
}

func (s *scripted) serve(t *testing.T, options firestore.Options, listener net.Listener) *firestore.Store {
	t.Helper()
	server := grpc.NewServer()
	pb.RegisterFirestoreServer(server, s)
	go func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(server.Stop)
	options.Project = "demo-scripted"
	opened, err := firestore.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened
}

// fail says what the next calls of a name answer.
func (s *scripted) fail(call string, times int, code codes.Code, message string) *scripted {
	if s.failures == nil {
		s.failures = map[string][]error{}
	}
	for range times {
		s.failures[call] = append(s.failures[call], status.Error(code, message))
	}
	return s
}

// next is what a call answers; the lock is held.
func (s *scripted) next(call string) error {
	waiting := s.failures[call]
	if len(waiting) == 0 {
		return nil
	}
	s.failures[call] = waiting[1:]
	return waiting[0]
}

// begin gives a new transaction's id where one is asked for.
func (s *scripted) begin(wanted bool) []byte {
	if !wanted {
		return nil
	}
	s.begun++
	return []byte{s.begun}
}

func (s *scripted) BatchGetDocuments(request *pb.BatchGetDocumentsRequest, stream pb.Firestore_BatchGetDocumentsServer) error {
	s.mu.Lock()
	s.reads = append(s.reads, request)
	err := s.next("get")
	id := s.begin(request.GetNewTransaction() != nil)
	hang := s.hang["get"]
	s.mu.Unlock()
	if hang {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	if err != nil {
		return err
	}
	for i, name := range request.GetDocuments() {
		response := &pb.BatchGetDocumentsResponse{Result: &pb.BatchGetDocumentsResponse_Missing{Missing: name}}
		if i == 0 {
			response.Transaction = id
		}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
	return nil
}

func (s *scripted) RunQuery(request *pb.RunQueryRequest, stream pb.Firestore_RunQueryServer) error {
	s.mu.Lock()
	s.queries = append(s.queries, request)
	err := s.next("query")
	id := s.begin(request.GetNewTransaction() != nil)
	var page []string
	if len(s.pages) > 0 {
		page, s.pages = s.pages[0], s.pages[1:]
	}
	s.mu.Unlock()
	for i, name := range page { // the time may grow while documents arrive
		found := &pb.RunQueryResponse{Document: &pb.Document{Name: name}, ReadTime: &timestamppb.Timestamp{Seconds: int64(7 + i)}}
		if err := stream.Send(found); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return stream.Send(&pb.RunQueryResponse{Transaction: id})
}

func (s *scripted) Commit(ctx context.Context, request *pb.CommitRequest) (*pb.CommitResponse, error) {
	s.mu.Lock()
	s.commits = append(s.commits, request)
	err := s.next("commit")
	hang := s.hang["commit"]
	s.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &pb.CommitResponse{}, err
}

func (s *scripted) Rollback(_ context.Context, request *pb.RollbackRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rollbacks = append(s.rollbacks, request)
	return &emptypb.Empty{}, nil
}

func (s *scripted) Listen(stream pb.Firestore_ListenServer) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.targets = append(s.targets, request.GetAddTarget())
	s.mu.Unlock()
	return s.streams(request.GetAddTarget(), stream)
}

// counts are how often each was called.
func (s *scripted) counts() (reads, commits, rollbacks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.reads), len(s.commits), len(s.rollbacks)
}

// brief is a patience that tests can wait for.
const brief = 2 * time.Second
