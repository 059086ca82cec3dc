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

// stores hold the documents and, with QS_QUEUE=river, the tasks. With
// QS_STORE=sqlite both are in one file, which belongs to this process alone.
type stores struct {
	store store.Store   // the documents
	file  *sqlite.Store // nil if it holds neither documents nor tasks
}

func openStores(ctx context.Context, cfg config.Config, log *slog.Logger) (opened stores, err error) {
	if cfg.UsesFile() {
		options := sqlite.Options{Path: cfg.SQLitePath, Disposable: cfg.Disposable, Log: log}
		if cfg.Store == config.StoreSQLite {
			options.Queries = queries()
		}
		if opened.file, err = sqlite.Open(ctx, options); err != nil {
			return stores{}, err
		}
		opened.store = opened.file
	}
	if cfg.Store == config.StoreFirestore {
		documents, err := openFirestore(ctx, cfg, queries())
		if err != nil && opened.file != nil {
			return stores{}, errors.Join(err, opened.file.Close())
		}
		return stores{documents, opened.file}, err
	}
	return opened, nil
}

func openFirestore(ctx context.Context, cfg config.Config, queries []*store.Query) (*firestore.Store, error) {
	return firestore.Open(ctx, firestore.Options{
		Project: cfg.FirestoreProject, Database: cfg.FirestoreDatabase, Credentials: []byte(cfg.FirestoreCredentials.Reveal()),
		Emulator: cfg.FirestoreEndpoint, Queries: queries,
	})
}

func (s stores) close() error {
	err := s.store.Close()
	if s.file != nil && s.store != store.Store(s.file) {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

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
