package firestore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	pb "cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// rollbackPatience is how long a rollback may take; Firestore releases the locks of an
// abandoned transaction after a minute.
const rollbackPatience = 5 * time.Second

// Run implements store.Store. It runs fn again until ctx's deadline (or for
// Options.Patience) on contention, and for Options.Silence while Firestore does not answer
// reads; then it is Unavailable, and nothing was written. A commit that writes is sent
// once: where its answer is lost, Run is Unavailable and it may have taken effect.
func (s *Store) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	inside, err := txn.Enter(ctx)
	if err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	var before []byte        // the previous attempt's transaction
	var touched []store.Path // by attempts that were aborted
	return s.patiently(ctx, func(ctx context.Context) error {
		defer s.turns.claim(ctx, touched)()
		reads := &view{
			store: s, session: session{begin: readWrite(before)}, known: map[store.Path]map[string]any{}, first: len(touched) == 0,
		}
		written, err := s.attempt(ctx, inside, reads, fn)
		before = reads.session.id
		if status.Code(err) == codes.Aborted {
			touched = slices.Concat(touched, reads.asked, slices.Collect(maps.Keys(reads.known)))
			for _, write := range written {
				touched = append(touched, write.Path)
			}
			slices.Sort(touched)
			touched = slices.Compact(touched)
		}
		return err
	})
}

// readWrite begins a transaction that may write, as a retry of another (nil: of none).
func readWrite(before []byte) *pb.TransactionOptions {
	return &pb.TransactionOptions{Mode: &pb.TransactionOptions_ReadWrite_{
		ReadWrite: &pb.TransactionOptions_ReadWrite{RetryTransaction: before},
	}}
}

// attempt runs fn once, commits what it wrote and returns that. Its error is Firestore's,
// which may be retried, or final.
func (s *Store) attempt(ctx, inside context.Context, reads *view, fn func(context.Context, store.Tx) error) (store.Writes, error) {
	attempt := txn.Begin(reads)
	err := attempt.Do(inside, fn)
	if err == nil {
		err = attempt.Precheck(reads.known)
	}
	switch {
	case reads.failed != nil && ctx.Err() == nil:
		// Whatever fn made of it: its reads are incomplete.
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

// commit applies the writes, all or none, if the transaction's reads still hold. A
// transaction that only read is committed too, which checks its reads; one that did
// nothing needs no request.
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

// rollback releases locks, with best effort: they expire anyway, and the caller reports
// the error that led here.
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
	// known are the fields of the documents that were read, nil where one does not exist.
	known map[store.Path]map[string]any
	// asked are the documents and collections of the reads.
	asked []store.Path
	// first: no attempt was aborted yet, so this one yields to others' claims.
	first bool
	// failed is the first error of a read. It ends the attempt.
	failed error
}

// Get implements store.Reader.
func (v *view) Get(ctx context.Context, path store.Path) (store.Document, error) {
	return first(v.GetAll(ctx, []store.Path{path}))
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

// collectionAsked is the path of the collection that a query reads; of a collection group
// it is the name.
func collectionAsked(query store.Bound) store.Path {
	collection := store.Path(query.Query.Collection)
	if query.Parent != "" {
		collection = query.Parent + "/" + collection
	}
	return collection
}

// giveWay waits for others' claims before the first read. Before a later read it ends the
// attempt instead.
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

// read records what a read returned, or that it failed.
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
		v.known[document.Path] = txn.Copy(document.Data)
	}
	return documents, nil
}
