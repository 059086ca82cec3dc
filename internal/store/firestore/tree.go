package firestore

import (
	"context"
	"fmt"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"questscheduler/internal/store"
)

// treeBatch is how many documents of a tree one request deletes.
const treeBatch = 300

// DeleteTree implements store.Store. The document itself is deleted with the last batch of
// those below it.
func (s *Store) DeleteTree(ctx context.Context, path store.Path) error {
	if err := s.enter(ctx, path); err != nil {
		return err
	}
	for {
		names, err := s.below(ctx, path)
		if err != nil {
			return err
		}
		last := len(names) < treeBatch
		if last {
			names = append(names, s.name(path))
		}
		writes := make([]*pb.Write, len(names))
		for i, name := range names {
			writes[i] = &pb.Write{Operation: &pb.Write_Delete{Delete: name}}
		}
		// Deletions are idempotent, so a lost answer is retried.
		err = s.patiently(ctx, func(ctx context.Context) error { return s.commit(ctx, nil, writes) })
		if err != nil || last {
			return err
		}
	}
}

// below returns the names of the next documents below a path, at any depth. A query
// without a collection also finds those below documents that do not exist.
func (s *Store) below(ctx context.Context, path store.Path) (names []string, err error) {
	query := &pb.StructuredQuery{
		Select:  &pb.StructuredQuery_Projection{Fields: []*pb.StructuredQuery_FieldReference{field("__name__")}},
		From:    []*pb.StructuredQuery_CollectionSelector{{AllDescendants: true}},
		OrderBy: []*pb.StructuredQuery_Order{{Field: field("__name__"), Direction: pb.StructuredQuery_ASCENDING}},
		Limit:   wrapperspb.Int32(treeBatch),
	}
	err = s.patiently(ctx, func(ctx context.Context) error {
		names = nil
		err := s.ask(ctx, &session{}, path, query, func(document *pb.Document) { names = append(names, document.GetName()) })
		if err != nil {
			return fmt.Errorf("list what lies below: %w", err)
		}
		return nil
	})
	return names, err
}
