// Package memorystore is a store driver that keeps everything in memory, for tests
// and the simulation. It starts no goroutine, reads no clock and depends on no
// map order: the same calls in the same order give the same answers.
//
// Transactions are optimistic: nothing is locked while their functions run, so
// that a simulation may let others run between any two of their calls. What an
// attempt read is checked again at each of its reads and at its commit; where
// any of it changed, the attempt is thrown away and run again.
package memorystore

import (
	"context"
	"sync"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
	"questscheduler/internal/store/txn"
)

// maxAttempts ends a transaction whose every attempt met contention. Each such
// attempt means that another transaction committed, so only a function that
// changes its own reads behind its back comes here.
const maxAttempts = 1000

// Store is the driver. Its zero value is of no use; call Open.
type Store struct {
	queries *entries.Set

	mu        sync.Mutex
	closed    bool
	version   uint64 // counts commits
	documents map[store.Path]document
	indexes   []map[store.Path]sorted // by index, by parent

	shared  bool // OpenShared
	touched map[store.Path]bool
}

// document is what is stored at a path. Fields are never changed in place.
type document struct {
	fields  map[string]any
	version uint64 // of the commit that wrote it; 0 where it is not there
	made    uint64 // of the commit that made it
	digest  uint64 // of the fields when they were written, in a store that shares them
}

var _ store.Store = (*Store)(nil)

// Open makes an empty store that answers the given queries. A query that
// store.Query.Check refuses, and two of one name, are Invalid.
func Open(queries []*store.Query) (*Store, error) {
	set, err := entries.Declare(queries)
	if err != nil {
		return nil, err
	}
	s := &Store{queries: set, documents: map[store.Path]document{}, touched: map[store.Path]bool{}}
	for range set.Indexes() {
		s.indexes = append(s.indexes, map[store.Path]sorted{})
	}
	return s, nil
}

// Get implements store.Reader.
func (s *Store) Get(ctx context.Context, path store.Path) (store.Document, error) {
	documents, err := s.GetAll(ctx, []store.Path{path})
	if err != nil {
		return store.Document{}, err
	}
	return documents[0], nil
}

// GetAll implements store.Reader.
func (s *Store) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	for _, path := range paths {
		if err := path.Valid(); err != nil {
			return nil, err
		}
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	out := make([]store.Document, len(paths))
	for i, path := range paths {
		doc := s.documents[path]
		out[i] = store.Document{Path: path, Data: s.give(doc.fields), Made: int64(doc.made), Written: int64(doc.version)}
	}
	return out, nil
}

// Query implements store.Reader.
func (s *Store) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	plan, err := s.queries.Plan(query)
	if err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return s.giveAll(s.answer(plan)), nil
}

// DeleteTree implements store.Store; here it is atomic.
func (s *Store) DeleteTree(ctx context.Context, path store.Path) error {
	if err := path.Valid(); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	var changes []txn.Change
	for at, doc := range s.documents {
		if at == path || at.Below(path) {
			changes = append(changes, txn.Change{Path: at, Before: doc.fields})
		}
	}
	s.commit(changes) // deletions give the same state in any order
	return nil
}

// Close implements store.Store. What was stored is gone.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// enter locks the store for a call from outside a transaction.
func (s *Store) enter(ctx context.Context) error {
	if err := txn.Outside(ctx); err != nil {
		return err
	}
	return s.lock(ctx)
}

func (s *Store) lock(ctx context.Context) error {
	if err := txn.Stopped(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return txn.Closed()
	}
	return nil
}

// commit writes changes and their entries. The lock is held.
func (s *Store) commit(changes []txn.Change) {
	if len(changes) == 0 {
		return
	}
	s.version++
	for _, change := range changes {
		s.examine(change.Path)
		if change.After == nil {
			delete(s.documents, change.Path)
		} else {
			s.documents[change.Path] = s.written(change)
		}
		for _, i := range s.queries.Holding(change.Path) {
			index, lists := s.queries.Indexes()[i], s.indexes[i]
			if index.Stays(change.Before, change.After) {
				continue
			}
			for _, old := range index.Entries(change.Path, change.Before) {
				lists[old.Parent] = lists[old.Parent].without(old.Key)
			}
			for _, entry := range index.Entries(change.Path, change.After) {
				lists[entry.Parent] = lists[entry.Parent].with(entry.Key, change.Path)
			}
		}
	}
}

// written is a document that the present commit writes. The lock is held.
func (s *Store) written(change txn.Change) document {
	doc := document{fields: change.After, version: s.version, made: s.version}
	if before, there := s.documents[change.Path]; there {
		doc.made = before.made
	}
	if s.shared {
		doc.digest = digest(doc.fields)
	}
	return doc
}

// answer gives the documents a plan selects, not copied. The lock is held.
func (s *Store) answer(plan entries.Plan) []store.Document {
	list := s.indexes[plan.Index][plan.Parent]
	documents, err := plan.Gather(func(part entries.Range, limit int) ([]entries.Hit, error) {
		found := list.between(part.From, part.To, limit, plan.Backward)
		hits := make([]entries.Hit, len(found))
		for i, item := range found {
			doc := s.documents[item.path]
			hits[i] = entries.Hit{
				Key:      item.key,
				Document: store.Document{Path: item.path, Data: doc.fields, Made: int64(doc.made), Written: int64(doc.version)},
			}
		}
		return hits, nil
	})
	if err != nil {
		panic(fault.Wrap(fault.Internal, err, "a scan in memory cannot fail"))
	}
	return documents
}

// giveAll is give for the documents of an answer.
func (s *Store) giveAll(documents []store.Document) []store.Document {
	for i := range documents {
		documents[i].Data = s.give(documents[i].Data)
	}
	return documents
}
