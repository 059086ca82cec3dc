package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"questscheduler/internal/config"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
	"questscheduler/internal/store/sqlite"
)

// stores are where the program keeps what it knows: documents, and beside them
// with QS_QUEUE=river the queue's tasks in the data file. With QS_STORE=sqlite
// both are one file.
type stores struct {
	store store.Store   // the documents
	file  *sqlite.Store // nil where neither documents nor tasks are in it
}

// openStores opens what the settings name. The data file is taken for this
// process.
func openStores(ctx context.Context, cfg config.Config, log *slog.Logger) (opened stores, err error) {
	if cfg.UsesFile() {
		options := sqlite.Options{Path: cfg.SQLitePath, Log: log}
		if cfg.Store == config.StoreSQLite {
			options.Queries = queries()
		}
		if opened.file, err = sqlite.Open(ctx, options); err != nil {
			return stores{}, err
		}
	}
	if cfg.Store == config.StoreSQLite {
		opened.store = opened.file
		return opened, nil
	}
	documents, err := openFirestore(ctx, cfg, queries())
	if err != nil {
		return stores{}, errors.Join(err, opened.closeFile())
	}
	opened.store = documents
	return opened, nil
}

func openFirestore(ctx context.Context, cfg config.Config, queries []*store.Query) (*firestore.Store, error) {
	return firestore.Open(ctx, firestore.Options{
		Project: cfg.FirestoreProject, Database: cfg.FirestoreDatabase, Credentials: []byte(cfg.FirestoreCredentials.Reveal()),
		Emulator: cfg.FirestoreEndpoint, Queries: queries,
	})
}

// close ends the documents' store before the file that tasks are in.
func (s stores) close() error {
	if s.store == store.Store(s.file) {
		return s.closeFile()
	}
	return errors.Join(s.store.Close(), s.closeFile())
}

func (s stores) closeFile() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// place names where the documents are, for the log.
func (s stores) place() string {
	if documents, ok := s.store.(*firestore.Store); ok {
		return documents.Database()
	}
	return s.file.Path()
}

// storeSettings are what a command needs that reads documents.
var storeSettings = []string{
	"QS_STORE", "QS_SQLITE_PATH", "QS_FIRESTORE_PROJECT", "QS_FIRESTORE_DATABASE", "QS_FIRESTORE_CREDENTIALS", "QS_FIRESTORE_ENDPOINT",
}

// reading is documents that are open for reading.
type reading interface {
	store.Reader
	Close() error
}

// openReader opens the documents that the settings name for reading, beside a
// server that may have them.
func openReader(ctx context.Context, process Process, queries []*store.Query) (reading, error) {
	cfg, err := loadSome(process.Environ, storeSettings...)
	if err != nil {
		return nil, err
	}
	if cfg.Store == config.StoreFirestore {
		return openFirestore(ctx, cfg, queries)
	}
	return openFile(ctx, cfg, queries)
}

// openFile opens the data file for reading.
func openFile(ctx context.Context, cfg config.Config, queries []*store.Query) (*sqlite.Reader, error) {
	reader, err := sqlite.OpenReader(ctx, sqlite.Options{Path: cfg.SQLitePath, Queries: queries})
	if err != nil {
		return nil, fmt.Errorf("QS_SQLITE_PATH: %w", err)
	}
	return reader, nil
}
