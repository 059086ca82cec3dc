package firestore_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
)

func TestGetAll_ManyDocuments_AreOneState(t *testing.T) {
	t.Parallel()
	server := &scripted{}
	s := server.start(t, firestore.Options{})
	var paths []store.Path
	for i := range 1200 {
		paths = append(paths, store.Doc("books", fmt.Sprint(i)))
	}
	got, err := s.GetAll(t.Context(), append(paths, paths[0]))
	if err != nil || len(got) != 1201 || len(server.reads) != 3 {
		t.Fatalf("%d documents in %d requests: %v", len(got), len(server.reads), err)
	}
	if server.reads[0].GetNewTransaction().GetReadOnly() == nil {
		t.Error("the first request begins no reading transaction")
	}
	for _, read := range server.reads[1:] {
		if string(read.GetTransaction()) != string([]byte{1}) {
			t.Errorf("a request is of transaction %v", read.GetTransaction())
		}
	}
}

func TestGet_One_NeedsNoTransaction(t *testing.T) {
	t.Parallel()
	server := &scripted{}
	s := server.start(t, firestore.Options{})
	if _, err := s.Get(t.Context(), "books/one"); err != nil || server.reads[0].GetConsistencySelector() != nil {
		t.Fatalf("%v, %v", server.reads, err)
	}
}

func TestReads_TemporaryFailure_AreRetried(t *testing.T) {
	t.Parallel()
	every := &store.Query{Name: "every book", Collection: "books"}
	server := &scripted{}
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted, codes.Internal, codes.Aborted, codes.DeadlineExceeded} {
		server.fail("get", 1, code, "").fail("query", 1, code, "")
	}
	s := server.start(t, firestore.Options{Queries: []*store.Query{every}})
	if _, err := s.Get(t.Context(), "books/one"); err != nil {
		t.Error(err)
	}
	if _, err := s.Query(t.Context(), every.With()); err != nil {
		t.Error(err)
	}
}

func TestErrors_SayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		code    codes.Code
		message string
		kind    fault.Kind
		says    string
	}{
		{codes.NotFound, "The database (default) does not exist for project p", fault.Unavailable, "make it, or correct project"},
		{codes.PermissionDenied, "Missing or insufficient permissions.", fault.Unavailable, "roles/datastore.user"},
		{codes.Unauthenticated, "no", fault.Unavailable, "check the service account"},
		{codes.FailedPrecondition, "The query requires an index. You can create it here: https://…", fault.Unavailable, "firestore.indexes.json"},
		{codes.InvalidArgument, "Transaction too big. Decrease transaction size.", fault.TooLarge, "store less"},
		{codes.ResourceExhausted, "gRPC message exceeds maximum size 4194304: 8000902", fault.TooLarge, "store less"},
		{codes.InvalidArgument, "something new", fault.Internal, "not foreseen"},
		{codes.Unimplemented, "no such call", fault.Internal, "not foreseen"},
	} {
		s := (&scripted{}).fail("get", 1, row.code, row.message).start(t, firestore.Options{Patience: brief})
		_, err := s.Get(t.Context(), "books/one")
		if !fault.Is(err, row.kind) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s is reported as %v (%s)", row.message, err, fault.KindOf(err))
		}
	}
}
