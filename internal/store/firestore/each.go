package firestore

import (
	"context"
	"fmt"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"

	"questscheduler/internal/store"
)

// eachTimeout ends one request for all documents; the next goes on behind the last document.
const eachTimeout = 5 * time.Minute

// EachDocument calls do with every document of the database, those of other programs included,
// in the order of paths, while they arrive. They are of one state, of when the first request ended;
// Firestore keeps it for an hour, and refuses to go on after that. An error of do ends it and is
// returned unchanged.
func (s *Store) EachDocument(ctx context.Context, do func(store.Document) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	query := &pb.StructuredQuery{
		From:    []*pb.StructuredQuery_CollectionSelector{{AllDescendants: true}},
		OrderBy: []*pb.StructuredQuery_Order{{Field: field("__name__"), Direction: pb.StructuredQuery_ASCENDING}},
	}
	reads := &session{steady: true, timeout: eachTimeout}
	for {
		var last *pb.Document
		ended := false
		err := s.patiently(ctx, func(ctx context.Context) (err error) {
			last, err = s.eachBehind(ctx, reads, query, do)
			ended = err == nil
			if last != nil && again(err) {
				return nil // what it gave counts
			}
			return err
		})
		if err != nil || ended {
			return err
		}
		query.StartAt = &pb.Cursor{Values: []*pb.Value{s.reference(s.pathOf(last.GetName()))}}
	}
}

// eachBehind sends one request, and returns the last document that do took.
func (s *Store) eachBehind(
	ctx context.Context, reads *session, query *pb.StructuredQuery, do func(store.Document) error,
) (last *pb.Document, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var stopped error
	err = s.ask(ctx, reads, "", query, func(document *pb.Document) {
		if stopped != nil {
			return
		}
		stopped = do(s.decode(document))
		if stopped != nil {
			stop()
			return
		}
		last = document
	})
	switch {
	case stopped != nil:
		return last, &final{stopped}
	case err != nil:
		return last, fmt.Errorf("read all documents: %w", err)
	}
	return last, nil
}
