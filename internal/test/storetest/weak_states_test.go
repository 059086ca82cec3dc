package storetest_test

import (
	"context"
	"runtime"
	"sync/atomic"

	"questscheduler/internal/store"
)

// apart is a store that reads a list document by document, and lets a commit
// come between where there is one.
type apart struct {
	store.Store
	commits atomic.Int64
}

func oneByOne(s store.Store) store.Store { return &apart{Store: s} }

func (a *apart) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	err := a.Store.Run(ctx, fn)
	a.commits.Add(1)
	return err
}

func (a *apart) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	var found []store.Document
	for _, path := range paths {
		document, err := a.Get(ctx, path)
		if err != nil {
			return nil, err
		}
		found = append(found, document)
		for before, patience := a.commits.Load(), 1000; a.commits.Load() == before && patience > 0; patience-- {
			runtime.Gosched()
		}
	}
	return found, nil
}
