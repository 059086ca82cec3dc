package main

import (
	"context"
	"fmt"
	"log/slog"

	"questscheduler/internal/config"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
	"questscheduler/internal/store/sqlite"
	"questscheduler/operations/transfer"
)

// stores hold the documents. With QS_STORE=sqlite they are in one file, which belongs to this
// process alone.
type stores struct {
	store transfer.Target
	file  *sqlite.Store // the store if it is a file, else nil
}

func openStores(ctx context.Context, cfg config.Config, log *slog.Logger) (opened stores, err error) {
	if cfg.Store == config.StoreFirestore {
		opened.store, err = openFirestore(ctx, cfg, queries())
		return opened, err
	}
	opened.file, err = sqlite.Open(ctx, sqlite.Options{Path: cfg.SQLitePath, Queries: queries(), Disposable: cfg.Disposable, Log: log})
	opened.store = opened.file
	return opened, err
}

func openFirestore(ctx context.Context, cfg config.Config, queries []*store.Query) (*firestore.Store, error) {
	return firestore.Open(ctx, firestore.Options{
		Project: cfg.FirestoreProject, Database: cfg.FirestoreDatabase, Credentials: []byte(cfg.FirestoreCredentials.Reveal()),
		Emulator: cfg.FirestoreEndpoint, Queries: queries,
	})
}

func (s stores) close() error { return s.store.Close() }

// place names the store for the log.
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

// reading is a store that is open for reading.
type reading interface {
	store.Reader
	Close() error
}

// openFile opens the data file for reading, beside a server that may have it.
func openFile(ctx context.Context, cfg config.Config, queries []*store.Query) (*sqlite.Reader, error) {
	reader, err := sqlite.OpenReader(ctx, sqlite.Options{Path: cfg.SQLitePath, Queries: queries})
	if err != nil {
		return nil, fmt.Errorf("QS_SQLITE_PATH: %w", err)
	}
	return reader, nil
}
