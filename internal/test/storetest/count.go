package storetest

import (
	"context"
	"slices"
	"sync"

	"questscheduler/internal/store"
)

// Cost is what Firestore would charge.
type Cost struct {
	// Reads counts documents: each of a GetAll (once, however often it was
	// named) and each that a query gave is one, an absent document is one, and so is a query that gave none. Reads
	// of attempts that were run again count too.
	Reads int
	// Writes and Deletes count those that took effect. What DeleteTree deletes
	// is not known and not counted.
	Writes, Deletes int
}

// Add is the cost of both.
func (c Cost) Add(other Cost) Cost {
	return Cost{c.Reads + other.Reads, c.Writes + other.Writes, c.Deletes + other.Deletes}
}

// Sub is what is left of a cost without another.
func (c Cost) Sub(other Cost) Cost { return c.Add(other.Times(-1)) }

// Times is the cost of n such.
func (c Cost) Times(n int) Cost { return Cost{c.Reads * n, c.Writes * n, c.Deletes * n} }

// Within reports whether no part of a cost exceeds the other's.
func (c Cost) Within(most Cost) bool {
	return c.Reads <= most.Reads && c.Writes <= most.Writes && c.Deletes <= most.Deletes
}

// Count wraps a store so that its reads and writes are counted.
func Count(inner store.Store) *Counter { return &Counter{Store: inner} }

// Counter is a store that counts. It is safe for concurrent use.
type Counter struct {
	store.Store

	mu    sync.Mutex
	total Cost
	runs  []Cost
}

// Total is the cost since the beginning, or since the last Reset.
func (c *Counter) Total() Cost {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Runs are the costs of the transactions that ended since then without an
// error, in the order of their ends.
func (c *Counter) Runs() []Cost {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.runs)
}

// Reset gives the total and begins anew.
func (c *Counter) Reset() Cost {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := c.total
	c.total, c.runs = Cost{}, nil
	return total
}

func (c *Counter) reads(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total.Reads += n
}

// Get implements store.Reader.
func (c *Counter) Get(ctx context.Context, path store.Path) (store.Document, error) {
	return counted{c.Store, c.reads}.Get(ctx, path)
}

// GetAll implements store.Reader.
func (c *Counter) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	return counted{c.Store, c.reads}.GetAll(ctx, paths)
}

// Query implements store.Reader.
func (c *Counter) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	return counted{c.Store, c.reads}.Query(ctx, query)
}

// Run implements store.Store.
func (c *Counter) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	var cost Cost
	err := c.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		cost = Cost{Reads: cost.Reads}
		return fn(ctx, &countedTx{
			Tx:     tx,
			reader: counted{tx, func(n int) { cost.Reads += n }},
			cost:   &cost,
		})
	})
	if err != nil {
		cost = Cost{Reads: cost.Reads}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total = c.total.Add(cost)
	if err == nil {
		c.runs = append(c.runs, cost)
	}
	return err
}

// counted tells how many documents each read cost.
type counted struct {
	inner store.Reader
	count func(int)
}

func (r counted) Get(ctx context.Context, path store.Path) (store.Document, error) {
	r.count(1)
	return r.inner.Get(ctx, path)
}

func (r counted) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	asked := map[store.Path]bool{}
	for _, path := range paths {
		asked[path] = true
	}
	r.count(len(asked))
	return r.inner.GetAll(ctx, paths)
}

func (r counted) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	documents, err := r.inner.Query(ctx, query)
	r.count(max(1, len(documents)))
	return documents, err
}

type countedTx struct {
	store.Tx
	reader counted
	cost   *Cost
}

func (t *countedTx) Get(ctx context.Context, path store.Path) (store.Document, error) {
	return t.reader.Get(ctx, path)
}

func (t *countedTx) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	return t.reader.GetAll(ctx, paths)
}

func (t *countedTx) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	return t.reader.Query(ctx, query)
}

func (t *countedTx) Create(path store.Path, data map[string]any) error {
	t.cost.Writes++
	return t.Tx.Create(path, data)
}

func (t *countedTx) Set(path store.Path, data map[string]any) error {
	t.cost.Writes++
	return t.Tx.Set(path, data)
}

func (t *countedTx) Update(path store.Path, updates ...store.Update) error {
	t.cost.Writes++
	return t.Tx.Update(path, updates...)
}

func (t *countedTx) Merge(path store.Path, updates ...store.Update) error {
	t.cost.Writes++
	return t.Tx.Merge(path, updates...)
}

func (t *countedTx) Delete(path store.Path) error {
	t.cost.Deletes++
	return t.Tx.Delete(path)
}
