package firestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// readBatch keeps requests of the longest names below Firestore's 10 MiB.
const readBatch = 500

// Get implements store.Reader.
func (s *Store) Get(ctx context.Context, path store.Path) (store.Document, error) {
	return first(s.GetAll(ctx, []store.Path{path}))
}

func first(documents []store.Document, err error) (store.Document, error) {
	if err != nil {
		return store.Document{}, err
	}
	return documents[0], nil
}

// GetAll implements store.Reader. All documents are of one state, also where it takes
// several requests.
func (s *Store) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if err := s.enter(ctx, paths...); err != nil {
		return nil, err
	}
	var found []store.Document
	err := s.patiently(ctx, func(ctx context.Context) (err error) {
		consistent := &session{}
		if len(paths) > readBatch {
			consistent.begin = readOnly
		}
		found, err = s.getAll(ctx, consistent, paths)
		return err
	})
	return found, err
}

// Query implements store.Reader.
func (s *Store) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	if err := s.queries.Check(query); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	var found []store.Document
	err := s.patiently(ctx, func(ctx context.Context) (err error) {
		found, err = s.query(ctx, &session{}, query)
		return err
	})
	return found, err
}

// session is a series of reads of one state, beginning with the first read.
type session struct {
	begin *pb.TransactionOptions // what the first read begins; nil: no transaction
	id    []byte                 // of the transaction, once it has begun
	// steady: without a transaction, queries read the state that the first one read, which is
	// that of the last time it gave, at.
	steady bool
	at     *timestamppb.Timestamp
	// timeout ends one query; 0: that of the store.
	timeout time.Duration
}

// readOnly is a transaction without locks, which needs no commit.
var readOnly = &pb.TransactionOptions{Mode: &pb.TransactionOptions_ReadOnly_{ReadOnly: &pb.TransactionOptions_ReadOnly{}}}

// note keeps the id that the first response carries.
func (c *session) note(id []byte) {
	if len(id) > 0 {
		c.id = id
	}
}

func (s *Store) getAll(ctx context.Context, in *session, paths []store.Path) ([]store.Document, error) {
	found := make(map[store.Path]store.Document, len(paths))
	var names []string
	for _, path := range paths {
		if _, asked := found[path]; !asked { // Firestore answers each once
			found[path] = store.Document{Path: path}
			names = append(names, s.name(path))
		}
	}
	for batch := range slices.Chunk(names, readBatch) {
		if err := s.getBatch(ctx, in, batch, found); err != nil {
			return nil, fmt.Errorf("read %d documents: %w", len(paths), err)
		}
	}
	out := make([]store.Document, len(paths))
	given := make(map[store.Path]bool, len(paths))
	for i, path := range paths {
		out[i] = found[path]
		if given[path] {
			out[i].Data = txn.Copy(found[path].Data)
		}
		given[path] = true
	}
	return out, nil
}

// decode makes the port's document. Commit times grow, so they serve as its versions.
func (s *Store) decode(document *pb.Document) store.Document {
	return store.Document{
		Path: s.pathOf(document.GetName()), Data: decodeMap(document.GetFields()),
		MadeAt: document.GetCreateTime().AsTime(),
		Made:   document.GetCreateTime().AsTime().UnixMicro(), Written: document.GetUpdateTime().AsTime().UnixMicro(),
	}
}

// getBatch reads documents and adds those that exist to found.
func (s *Store) getBatch(ctx context.Context, in *session, names []string, found map[store.Path]store.Document) error {
	ctx, cancel := s.request(ctx)
	defer cancel()
	request := &pb.BatchGetDocumentsRequest{Database: s.database, Documents: names}
	switch {
	case in.id != nil:
		request.ConsistencySelector = &pb.BatchGetDocumentsRequest_Transaction{Transaction: in.id}
	case in.begin != nil:
		request.ConsistencySelector = &pb.BatchGetDocumentsRequest_NewTransaction{NewTransaction: in.begin}
	}
	stream, err := s.client.BatchGetDocuments(ctx, request)
	if err != nil {
		return err
	}
	answered := 0
	err = receive(stream, func(response *pb.BatchGetDocumentsResponse) {
		in.note(response.GetTransaction())
		switch response.GetResult().(type) {
		case *pb.BatchGetDocumentsResponse_Found:
			document := s.decode(response.GetFound())
			found[document.Path] = document
			answered++
		case *pb.BatchGetDocumentsResponse_Missing:
			answered++
		}
	})
	if err == nil && answered != len(names) {
		return errCutShort
	}
	return err
}

// receive calls take with each response of a stream.
func receive[R any](stream interface{ Recv() (R, error) }, take func(R)) error {
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		take(response)
	}
}
