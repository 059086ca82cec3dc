package firestore

import (
	"context"
	"errors"
	"fmt"
	"io"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"questscheduler/internal/store"
)

// readBatch is how many documents one request asks for, so that requests of
// the longest names stay below Firestore's 10 MiB.
const readBatch = 500

// Get implements store.Reader.
func (s *Store) Get(ctx context.Context, path store.Path) (store.Document, error) {
	documents, err := s.GetAll(ctx, []store.Path{path})
	if err != nil {
		return store.Document{}, err
	}
	return documents[0], nil
}

// GetAll implements store.Reader. All documents are of one state, in however
// many requests they are read.
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

// session is what reads have in common: they see one state. It begins with the
// first of them.
type session struct {
	// begin is the kind of transaction that the first read begins; nil: none.
	begin *pb.TransactionOptions
	// id is the transaction's, once it has begun.
	id []byte
}

// readOnly is a transaction that takes no locks and needs no end.
var readOnly = &pb.TransactionOptions{Mode: &pb.TransactionOptions_ReadOnly_{ReadOnly: &pb.TransactionOptions_ReadOnly{}}}

// note keeps the id that a first answer gives.
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
	for start := 0; start < len(names); start += readBatch {
		batch := names[start:min(start+readBatch, len(names))]
		if err := s.getBatch(ctx, in, batch, found); err != nil {
			return nil, fmt.Errorf("read %d documents: %w", len(paths), err)
		}
	}
	out := make([]store.Document, len(paths))
	given := make(map[store.Path]bool, len(paths))
	for i, path := range paths {
		out[i] = found[path]
		if given[path] {
			out[i].Data = copied(found[path].Data)
		}
		given[path] = true
	}
	return out, nil
}

// decode is a document as the port gives it. Commits have times that grow, and a
// document has that of the one that made it.
func (s *Store) decode(document *pb.Document) store.Document {
	return store.Document{
		Path: s.pathOf(document.GetName()), Data: decodeMap(document.GetFields()),
		Made: document.GetCreateTime().AsTime().UnixMicro(), Written: document.GetUpdateTime().AsTime().UnixMicro(),
	}
}

// getBatch reads documents and notes those that are there.
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
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		in.note(response.GetTransaction())
		switch response.GetResult().(type) {
		case *pb.BatchGetDocumentsResponse_Found:
			document := s.decode(response.GetFound())
			found[document.Path] = document
			answered++
		case *pb.BatchGetDocumentsResponse_Missing:
			answered++
		}
	}
	if answered != len(names) {
		return errCutShort
	}
	return nil
}
