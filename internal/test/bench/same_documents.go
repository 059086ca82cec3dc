package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"questscheduler/internal/store"
	"questscheduler/internal/store/typedjson"
)

// sameDocuments measures what a transition is set against: SQLite alone, with the settings of the
// program, that writes the documents of one poll's transition as texts into a table by path. All
// is ready before, and nothing is read, checked or indexed. With batch above one, that many
// polls' documents are in each transaction.
func sameDocuments(ctx context.Context, folder string, documents []store.Document, batch int) (rate float64, err error) {
	file, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	file.SetMaxOpenConns(1)
	if _, err := file.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS documents (path TEXT PRIMARY KEY, data TEXT) STRICT`); err != nil {
		return 0, err
	}
	paths, texts := make([]string, len(documents)), make([]string, len(documents))
	for i, document := range documents {
		text, err := typedjson.Encode(document.Data)
		if err != nil {
			return 0, err
		}
		paths[i], texts[i] = string(document.Path), text
	}
	done, began := 0, time.Now()
	for time.Since(began) < writing {
		if err := writeBare(ctx, file, paths, texts, done, batch); err != nil {
			return 0, err
		}
		done += batch
	}
	return float64(done) / time.Since(began).Seconds(), nil
}

// writeBare writes in one transaction. The texts differ each time by their end, since SQLite leaves
// alone what stays the same.
func writeBare(ctx context.Context, file *sql.DB, paths, texts []string, done, batch int) error {
	tx, err := file.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect behind the commit
	write, err := tx.PrepareContext(ctx, `INSERT INTO documents (path, data) VALUES (?, ?) ON CONFLICT DO UPDATE SET data = excluded.data`)
	if err != nil {
		return err
	}
	for n := range batch {
		for i, path := range paths {
			if _, err := write.ExecContext(ctx, path+strconv.Itoa(n), texts[i]+strconv.Itoa(done)); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

// recorder notes the paths that transactions write.
type recorder struct {
	store.Store
	paths []store.Path
}

type recordedTx struct {
	store.Tx
	*recorder
}

// Run implements store.Store.
func (r *recorder) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	return r.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error { return fn(ctx, recordedTx{tx, r}) })
}

func (t recordedTx) Create(path store.Path, data map[string]any) error {
	t.paths = append(t.paths, path)
	return t.Tx.Create(path, data)
}

func (t recordedTx) Set(path store.Path, data map[string]any) error {
	t.paths = append(t.paths, path)
	return t.Tx.Set(path, data)
}

func (t recordedTx) Update(path store.Path, updates ...store.Update) error {
	t.paths = append(t.paths, path)
	return t.Tx.Update(path, updates...)
}

func (t recordedTx) Merge(path store.Path, updates ...store.Update) error {
	t.paths = append(t.paths, path)
	return t.Tx.Merge(path, updates...)
}

// documents are what was written, as it is now.
func (r *recorder) documents(ctx context.Context) ([]store.Document, error) {
	slices.Sort(r.paths)
	all, err := r.GetAll(ctx, slices.Compact(r.paths))
	return slices.DeleteFunc(all, func(d store.Document) bool { return !d.Exists() }), err
}
