package storetest_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
)

// TestRunDurable_CorrectDriver_Passes: what finds the weak one is the
// weakness.
func TestRunDurable_CorrectDriver_Passes(t *testing.T) {
	t.Parallel()
	storetest.RunDurable(t, func(*testing.T) storetest.Place { return &log{} })
}

// log is the place of a small durable driver: the memory driver, and the list
// of what was committed, which stands for the disk. One that is early keeps a
// commit only when the next comes, or at Close, as a driver does that does not
// wait for the disk.
type log struct {
	early bool

	mu   sync.Mutex
	kept []commit
	late []commit // acknowledged, and not kept yet
}

// commit is what one transaction did, to be done again.
type commit []func(tx store.Tx) error

func (l *log) Open(t *testing.T, queries []*store.Query) store.Store {
	t.Helper()
	s, err := memorystore.Open(queries)
	if err != nil {
		t.Fatal(err)
	}
	for _, done := range l.kept {
		err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			for _, write := range done {
				if err := write(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return &logged{Store: s, log: l}
}

func (l *log) Crash(*testing.T) storetest.Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &log{early: l.early, kept: slices.Clone(l.kept)}
}

func (l *log) add(done commit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept, l.late = append(l.kept, l.late...), []commit{done}
	if !l.early {
		l.kept, l.late = append(l.kept, done), nil
	}
}

// logged is the driver.
type logged struct {
	store.Store
	log *log
	// one lets commits come to the log in their order.
	one sync.Mutex
}

func (s *logged) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	s.one.Lock()
	defer s.one.Unlock()
	var done commit
	err := s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		done = nil
		return fn(ctx, &recorder{tx, &done})
	})
	if err == nil {
		s.log.add(done)
	}
	return err
}

func (s *logged) DeleteTree(ctx context.Context, root store.Path) error {
	// The suite's trees are known.
	return s.Run(ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(root.Doc("notes", "n")) })
}

func (s *logged) Close() error {
	s.log.mu.Lock()
	s.log.kept, s.log.late = append(s.log.kept, s.log.late...), nil
	s.log.mu.Unlock()
	return s.Store.Close()
}

// recorder notes the writes of a transaction.
type recorder struct {
	store.Tx
	done *commit
}

func (r *recorder) note(write func(tx store.Tx) error) error {
	*r.done = append(*r.done, write)
	return write(r.Tx)
}

func (r *recorder) Create(path store.Path, data map[string]any) error {
	return r.note(func(tx store.Tx) error { return tx.Create(path, data) })
}

func (r *recorder) Set(path store.Path, data map[string]any) error {
	return r.note(func(tx store.Tx) error { return tx.Set(path, data) })
}

func (r *recorder) Update(path store.Path, updates ...store.Update) error {
	return r.note(func(tx store.Tx) error { return tx.Update(path, updates...) })
}

func (r *recorder) Merge(path store.Path, updates ...store.Update) error {
	return r.note(func(tx store.Tx) error { return tx.Merge(path, updates...) })
}

func (r *recorder) Delete(path store.Path) error {
	return r.note(func(tx store.Tx) error { return tx.Delete(path) })
}
