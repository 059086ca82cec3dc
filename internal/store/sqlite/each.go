package sqlite

import (
	"context"
	"database/sql"

	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// EachDocument calls do with every document, in no order. They are of one committed state, while
// others read and write. An error of do ends it and is returned unchanged.
func (r *reading) EachDocument(ctx context.Context, do func(store.Document) error) error {
	if err := txn.Check(ctx); err != nil {
		return err
	}
	tx, err := r.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain("begin to read", err)
	}
	defer tx.Rollback() // there is nothing to commit, and nothing to lose
	var stopped error
	err = eachDocument(ctx, tx, func(path store.Path, data map[string]any) error {
		stopped = do(store.Document{Path: path, Data: data})
		return stopped
	})
	if stopped != nil {
		return stopped
	}
	return explain("read the documents", err)
}
