package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/emptypb"
)

// locks is a proxy between a killed program and the emulator of Firestore, which keeps
// the locks of a dead client's transactions for a minute, as Firestore does. It tracks
// the open transactions and ends them sooner, so that tests need not wait.
type locks struct {
	pb.UnimplementedFirestoreServer
	emulator pb.FirestoreClient
	database string

	calls sync.RWMutex // held for reading by each call
	mu    sync.Mutex   // guards begun
	begun map[string]bool
}

// newLocks listens for programs that use a project's documents, and returns its
// address.
func newLocks(t *testing.T, host, project string) (l *locks, address string) {
	t.Helper()
	connection, err := grpc.NewClient(host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l = &locks{emulator: pb.NewFirestoreClient(connection), database: "projects/" + project + "/databases/(default)", begun: map[string]bool{}}
	server := grpc.NewServer()
	pb.RegisterFirestoreServer(server, l)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := errors.Join(<-served, connection.Close()); err != nil {
			t.Error(err)
		}
	})
	return l, listener.Addr().String()
}

// release ends the transactions of dead programs, after their calls in progress.
func (l *locks) release(ctx context.Context) {
	l.calls.Lock()
	defer l.calls.Unlock()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer owner")
	for transaction := range l.begun {
		// Its error says that the transaction is over.
		_, _ = l.emulator.Rollback(ctx, &pb.RollbackRequest{Database: l.database, Transaction: []byte(transaction)})
	}
	clear(l.begun)
}

// note records a transaction as open or ended.
func (l *locks) note(transaction []byte, underWay bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(transaction) == 0:
	case underWay:
		l.begun[string(transaction)] = true
	default:
		delete(l.begun, string(transaction))
	}
}

// onwards is the context of a call with the program's metadata. It outlives the
// program, so a transaction that the call begins is recorded.
func onwards(ctx context.Context) context.Context {
	said, _ := metadata.FromIncomingContext(ctx)
	out := metadata.MD{}
	for _, name := range []string{"authorization", "google-cloud-resource-prefix"} {
		out.Append(name, said.Get(name)...)
	}
	return metadata.NewOutgoingContext(context.WithoutCancel(ctx), out)
}

// beginning is the response of a call that may begin a transaction.
type beginning interface{ GetTransaction() []byte }

// relay passes responses on and records their transactions.
func relay[Answer beginning](l *locks, receive func() (Answer, error), send func(Answer) error) error {
	for {
		answer, err := receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		l.note(answer.GetTransaction(), true)
		if err := send(answer); err != nil {
			return err
		}
	}
}

// BatchGetDocuments passes the call on.
func (l *locks) BatchGetDocuments(request *pb.BatchGetDocumentsRequest, program pb.Firestore_BatchGetDocumentsServer) error {
	l.calls.RLock()
	defer l.calls.RUnlock()
	answers, err := l.emulator.BatchGetDocuments(onwards(program.Context()), request)
	if err != nil {
		return err
	}
	return relay(l, answers.Recv, program.Send)
}

// RunQuery passes the call on.
func (l *locks) RunQuery(request *pb.RunQueryRequest, program pb.Firestore_RunQueryServer) error {
	l.calls.RLock()
	defer l.calls.RUnlock()
	answers, err := l.emulator.RunQuery(onwards(program.Context()), request)
	if err != nil {
		return err
	}
	return relay(l, answers.Recv, program.Send)
}

// Commit passes the call on; if the program is dead, the response is lost.
func (l *locks) Commit(ctx context.Context, request *pb.CommitRequest) (*pb.CommitResponse, error) {
	l.calls.RLock()
	defer l.calls.RUnlock()
	answer, err := l.emulator.Commit(onwards(ctx), request)
	if err == nil {
		l.note(request.GetTransaction(), false)
	}
	return answer, err
}

// Rollback passes the call on.
func (l *locks) Rollback(ctx context.Context, request *pb.RollbackRequest) (*emptypb.Empty, error) {
	l.calls.RLock()
	defer l.calls.RUnlock()
	answer, err := l.emulator.Rollback(onwards(ctx), request)
	l.note(request.GetTransaction(), false)
	return answer, err
}
