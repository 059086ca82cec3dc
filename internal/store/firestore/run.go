package firestore

import (
	"context"
	"fmt"
	"maps"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// rollbackPatience is how long a transaction that failed may take to give its
// locks back; Firestore does it by itself a minute later.
const rollbackPatience = 5 * time.Second

// Run implements store.Store. fn runs again for as long as ctx waits (or
// Options.Patience, where it has no deadline) while others have its documents, and
// for Options.Silence while Firestore does not answer its reads; then Run is
// Unavailable, and nothing was written.
//
// A commit that writes is sent once. Where its answer is lost, Run is Unavailable
// and the effect may have taken place.
func (s *Store) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	inside, err := txn.Enter(ctx)
	if err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	var before []byte                // the attempt before this one, in whose place it comes
	touched := map[store.Path]bool{} // by attempts that were overtaken
	return s.patiently(ctx, func(ctx context.Context) error {
		defer s.turns.claim(ctx, touched)()
		reads := &view{
			store: s, session: session{begin: readWrite(before)}, seen: map[store.Path]map[string]any{}, first: len(touched) == 0,
		}
		written, err := s.attempt(ctx, inside, reads, fn)
		before = reads.session.id
		if status.Code(err) == codes.Aborted {
			touched = maps.Clone(touched) // the claim has the other
			for path := range reads.seen {
				touched[path] = true
			}
			for _, path := range reads.asked {
				touched[path] = true
			}
			for _, write := range written {
				touched[write.Path] = true
			}
		}
		return err
	})
}

// readWrite is a transaction that may write, in place of one that was thrown
// away.
func readWrite(before []byte) *pb.TransactionOptions {
	return &pb.TransactionOptions{Mode: &pb.TransactionOptions_ReadWrite_{
		ReadWrite: &pb.TransactionOptions_ReadWrite{RetryTransaction: before},
	}}
}

// attempt runs fn once and commits what it wrote, which it gives. Its error is
// of Firestore (and may mean: again), or final.
func (s *Store) attempt(ctx, inside context.Context, reads *view, fn func(context.Context, store.Tx) error) ([]txn.Write, error) {
	attempt := txn.Begin(reads)
	err := attempt.Do(inside, fn)
	if err == nil {
		err = attempt.Foresee(reads.seen)
	}
	switch {
	case reads.failed != nil && ctx.Err() == nil:
		// Whatever fn made of it: what it read is not to be relied on.
		err = reads.failed
	case err != nil:
		err = &final{err}
	default:
		err = s.commit(ctx, reads.session.id, s.writes(attempt.Writes()))
		if err != nil && len(attempt.Writes()) > 0 {
			err = &commitError{err}
		}
	}
	if err != nil {
		s.rollback(ctx, reads.session.id)
	}
	return attempt.Writes(), err
}

// commit carries writes out, all or none, if what the transaction read still
// holds. One that read and wrote nothing needs no request; one that only read
// is committed too, since that is what checks its reads.
func (s *Store) commit(ctx context.Context, transaction []byte, writes []*pb.Write) error {
	if len(writes) == 0 && transaction == nil {
		return nil
	}
	ctx, cancel := s.request(ctx)
	defer cancel()
	_, err := s.client.Commit(ctx, &pb.CommitRequest{Database: s.database, Transaction: transaction, Writes: writes})
	if err != nil {
		return fmt.Errorf("commit %d writes: %w", len(writes), err)
	}
	return nil
}

// rollback gives locks back. It is best effort: they end by themselves, and
// the error that led here is the one to tell.
func (s *Store) rollback(ctx context.Context, transaction []byte) {
	if transaction == nil {
		return
	}
	ctx, cancel := s.request(context.WithoutCancel(ctx))
	defer cancel()
	ctx, cancelSooner := context.WithTimeout(ctx, rollbackPatience)
	defer cancelSooner()
	_ = s.client.Rollback(ctx, &pb.RollbackRequest{Database: s.database, Transaction: transaction})
}

// view reads for one attempt of a transaction.
type view struct {
	store   *Store
	session session
	// seen are the fields of the documents that were read; nil: not there.
	seen map[store.Path]map[string]any
	// asked are the documents and collections that were asked for.
	asked []store.Path
	// first tells that the transaction was not overtaken yet: it gives way to
	// those that were.
	first bool
	// failed is the first error of Firestore at a read. It ends the attempt.
	failed error
}

// Get implements store.Reader.
func (v *view) Get(ctx context.Context, path store.Path) (store.Document, error) {
	documents, err := v.GetAll(ctx, []store.Path{path})
	if err != nil {
		return store.Document{}, err
	}
	return documents[0], nil
}

// GetAll implements store.Reader.
func (v *view) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	return v.read(ctx, paths, func() ([]store.Document, error) { return v.store.getAll(ctx, &v.session, paths) })
}

// Query implements store.Reader.
func (v *view) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	if err := v.store.queries.Check(query); err != nil {
		return nil, err
	}
	return v.read(ctx, []store.Path{collectionAsked(query)}, func() ([]store.Document, error) { return v.store.query(ctx, &v.session, query) })
}

// collectionAsked is the collection that a query reads. Of those of a group, which
// stand below many documents, it is the name.
func collectionAsked(query store.Bound) store.Path {
	collection := store.Path(query.Query.Collection)
	if query.Parent != "" {
		collection = query.Parent + "/" + collection
	}
	return collection
}

// giveWay waits for the turns of others before the first read. An attempt that
// has read already does not wait: it ends.
func (v *view) giveWay(ctx context.Context, paths []store.Path) error {
	began := len(v.asked) > 0
	v.asked = append(v.asked, paths...)
	switch {
	case !v.first:
	case !began:
		v.store.turns.await(ctx, paths)
	case v.store.turns.busy(paths...):
		return errOvertaken
	}
	return nil
}

// read notes what a read saw, or that it failed.
func (v *view) read(ctx context.Context, paths []store.Path, from func() ([]store.Document, error)) ([]store.Document, error) {
	if err := v.store.open(ctx); err != nil {
		return nil, err
	}
	if v.failed != nil {
		return nil, v.store.explain(ctx, v.failed)
	}
	err := v.giveWay(ctx, paths)
	var documents []store.Document
	if err == nil {
		documents, err = from()
	}
	if err != nil {
		v.failed = err
		return nil, v.store.explain(ctx, err)
	}
	for _, document := range documents {
		v.seen[document.Path] = txn.Copy(document.Data)
	}
	return documents, nil
}
