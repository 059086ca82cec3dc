package storetest_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"questscheduler/internal/store"
)

// apart is a store that reads a list document by document, and waits a while
// after the first for a commit to come between. By time, not by turns: on a
// busy machine the writer's thread may rest for many turns of the reader's.
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
	for i, path := range paths {
		if i == 1 {
			a.letIn()
		}
		document, err := a.Get(ctx, path)
		if err != nil {
			return nil, err
		}
		found = append(found, document)
	}
	return found, nil
}

// letIn returns when somebody has committed, or after a while.
func (a *apart) letIn() {
	before, end := a.commits.Load(), time.Now().Add(100*time.Millisecond)
	for a.commits.Load() == before && time.Now().Before(end) {
		runtime.Gosched()
	}
}
