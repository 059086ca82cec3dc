package api_test

import (
	"context"
	"sync/atomic"

	"questscheduler/internal/store"
)

// countingStore counts what is written and read through it, and may refuse to write a
// document whole.
type countingStore struct {
	store.Store
	readCounter
	writes atomic.Int64
	runs   atomic.Int64 // transactions
	refuse func(path store.Path, data map[string]any) error
	// setting is called before a document is set, with its transaction's context.
	setting func(ctx context.Context, path store.Path, data map[string]any)
	// updating is called before the fields of a document are written or merged.
	updating func(path store.Path)
}

func (s *countingStore) Run(ctx context.Context, fn func(ctx context.Context, tx store.Tx) error) error {
	s.runs.Add(1)
	var attempt *countingTx
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		attempt = &countingTx{Tx: tx, refuse: s.refuse, updating: s.updating}
		if s.setting != nil {
			attempt.setting = func(path store.Path, data map[string]any) { s.setting(ctx, path, data) }
		}
		return fn(ctx, attempt)
	})
	if err == nil {
		s.writes.Add(attempt.writes)
	}
	return err
}

type countingTx struct {
	store.Tx
	writes   int64
	refuse   func(path store.Path, data map[string]any) error
	setting  func(path store.Path, data map[string]any)
	updating func(path store.Path)
}

func (tx *countingTx) Create(path store.Path, data map[string]any) error {
	tx.writes++
	return tx.Tx.Create(path, data)
}

func (tx *countingTx) Set(path store.Path, data map[string]any) error {
	if tx.setting != nil {
		tx.setting(path, data)
	}
	if tx.refuse != nil {
		if err := tx.refuse(path, data); err != nil {
			return err
		}
	}
	tx.writes++
	return tx.Tx.Set(path, data)
}

func (tx *countingTx) Update(path store.Path, updates ...store.Update) error {
	if tx.updating != nil {
		tx.updating(path)
	}
	tx.writes++
	return tx.Tx.Update(path, updates...)
}

func (tx *countingTx) Merge(path store.Path, updates ...store.Update) error {
	if tx.updating != nil {
		tx.updating(path)
	}
	tx.writes++
	return tx.Tx.Merge(path, updates...)
}

func (tx *countingTx) Delete(path store.Path) error {
	tx.writes++
	return tx.Tx.Delete(path)
}
