package memory

import (
	"context"

	"questscheduler/store"
)

// Kept reads the documents of a store as they are kept, without copying them. It
// is for checks that look at much and change nothing: the fields that it gives
// stay as they are whatever is written later, and must not be changed.
type Kept struct{ Store *Store }

var _ store.Reader = Kept{}

// Get implements store.Reader.
func (k Kept) Get(ctx context.Context, path store.Path) (store.Document, error) {
	documents, err := k.GetAll(ctx, []store.Path{path})
	if err != nil {
		return store.Document{}, err
	}
	return documents[0], nil
}

// GetAll implements store.Reader.
func (k Kept) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	for _, path := range paths {
		if err := path.Valid(); err != nil {
			return nil, err
		}
	}
	if err := k.Store.enter(ctx); err != nil {
		return nil, err
	}
	defer k.Store.mu.Unlock()
	out := make([]store.Document, len(paths))
	for i, path := range paths {
		out[i] = store.Document{Path: path, Data: k.Store.documents[path].fields}
	}
	return out, nil
}

// Query implements store.Reader.
func (k Kept) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	plan, err := k.Store.queries.Plan(query)
	if err != nil {
		return nil, err
	}
	if err := k.Store.enter(ctx); err != nil {
		return nil, err
	}
	defer k.Store.mu.Unlock()
	return k.Store.answer(plan), nil
}
