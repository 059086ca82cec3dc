package api_test

import (
	"context"
	"maps"
	"sync"

	"questscheduler/internal/store"
)

// readCounter counts the documents that were read, by their collection. A query
// that gives none counts as a read of "(none)".
type readCounter struct {
	mu    sync.Mutex
	reads map[string]int
	// reading, where set, is called before a document is read outside transactions.
	reading func(ctx context.Context, path store.Path) error
	// queried, where set, is called after a query outside transactions.
	queried func()
}

func (c *readCounter) count(docs []store.Document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reads == nil {
		c.reads = map[string]int{}
	}
	if len(docs) == 0 {
		c.reads["(none)"]++
	}
	for _, doc := range docs {
		c.reads[doc.Path.Collection()]++
	}
}

// taken gives the counts since it was last called.
func (c *readCounter) taken() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := maps.Clone(c.reads)
	c.reads = nil
	return taken
}

// total is how many documents a count holds, queries without a result excepted.
func total(reads map[string]int) int {
	sum := 0
	for collection, count := range reads {
		if collection != "(none)" {
			sum += count
		}
	}
	return sum
}

func (c *readCounter) before(ctx context.Context, paths ...store.Path) error {
	if c.reading == nil {
		return nil
	}
	for _, path := range paths {
		if err := c.reading(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// Get implements store.Reader.
func (s *countingStore) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := s.before(ctx, path); err != nil {
		return store.Document{}, err
	}
	doc, err := s.Store.Get(ctx, path)
	s.count([]store.Document{doc})
	return doc, err
}

// GetAll implements store.Reader.
func (s *countingStore) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if err := s.before(ctx, paths...); err != nil {
		return nil, err
	}
	docs, err := s.Store.GetAll(ctx, paths)
	s.count(docs)
	return docs, err
}

// Query implements store.Reader.
func (s *countingStore) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	docs, err := s.Store.Query(ctx, query)
	s.count(docs)
	if s.queried != nil {
		s.queried()
	}
	return docs, err
}
