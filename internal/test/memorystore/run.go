package memorystore

import (
	"context"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
	"questscheduler/internal/store/txn"
)

// Run implements store.Store.
func (s *Store) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	inside, err := txn.Enter(ctx)
	if err != nil {
		return err
	}
	for range maxAttempts {
		reads := &view{store: s}
		attempt := txn.Begin(reads)
		if err := s.lock(ctx); err != nil {
			return err
		}
		reads.version = s.version
		s.mu.Unlock()
		failure := attempt.Do(inside, fn)
		if done, err := s.finish(ctx, reads, attempt, failure); done {
			return err
		}
	}
	return fault.New(fault.Unavailable, "a transaction was overtaken too often; try again later")
}

// finish commits an attempt, or ends it with its function's error. done is false where its
// reads no longer hold: it has to run again, and its writes and error are dropped.
func (s *Store) finish(ctx context.Context, reads *view, attempt *txn.Attempt, failure error) (done bool, err error) {
	if err := s.lock(ctx); err != nil {
		if failure != nil {
			err = failure
		}
		return true, err
	}
	defer s.mu.Unlock()
	if !reads.current() {
		return false, nil
	}
	if failure != nil {
		return true, failure
	}
	changes, err := attempt.Resolve(func(path store.Path) (map[string]any, error) {
		return s.documents[path].fields, nil
	})
	if err != nil {
		return true, err
	}
	s.commit(changes)
	return true, nil
}

// errOvertaken ends an attempt early at a read; Run does not return it.
var errOvertaken = fault.New(fault.Unavailable, "what the transaction read has changed")

// view reads for one attempt and records its reads, so that they can be validated.
type view struct {
	store     *Store
	version   uint64 // of the store at the last validation
	stale     bool
	documents []readDocument
	queries   []readQuery
}

type readDocument struct {
	path    store.Path
	version uint64
}

type readQuery struct {
	plan   entries.Plan
	result []readDocument
}

// current reports whether all reads are still valid. The caller holds the lock.
func (v *view) current() bool {
	if v.stale || v.version == v.store.version {
		return !v.stale
	}
	unchanged := func(doc readDocument) bool { return v.store.documents[doc.path].version == doc.version }
	for _, doc := range v.documents {
		v.stale = v.stale || !unchanged(doc)
	}
	for _, query := range v.queries {
		v.stale = v.stale || !slices.Equal(v.store.versions(v.store.answer(query.plan)), query.result)
	}
	v.version = v.store.version
	return !v.stale
}

// versions are those of documents, in their order.
func (s *Store) versions(documents []store.Document) []readDocument {
	out := make([]readDocument, len(documents))
	for i, doc := range documents {
		out[i] = readDocument{doc.Path, s.documents[doc.Path].version}
	}
	return out
}

func (v *view) enter(ctx context.Context) error {
	if err := v.store.lock(ctx); err != nil {
		return err
	}
	if !v.current() {
		v.store.mu.Unlock()
		return errOvertaken
	}
	return nil
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
	if err := v.enter(ctx); err != nil {
		return nil, err
	}
	defer v.store.mu.Unlock()
	out := make([]store.Document, len(paths))
	for i, path := range paths {
		doc := v.store.documents[path]
		v.documents = append(v.documents, readDocument{path, doc.version})
		out[i] = store.Document{Path: path, Data: v.store.give(doc.fields), Made: int64(doc.made), Written: int64(doc.version)}
	}
	return out, nil
}

// Query implements store.Reader.
func (v *view) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	plan, err := v.store.queries.Plan(query)
	if err != nil {
		return nil, err
	}
	if err := v.enter(ctx); err != nil {
		return nil, err
	}
	defer v.store.mu.Unlock()
	documents := v.store.answer(plan)
	v.queries = append(v.queries, readQuery{plan, v.store.versions(documents)})
	return v.store.giveAll(documents), nil
}
