package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// Check verifies the whole data file: SQLite's own integrity check, that every document
// can be read, and that the indexes agree with the documents. Damage is Internal, with
// the first damage as its cause. An index that is being built may lack documents. It sees one
// committed state and blocks no other call, but takes as long as reading the file.
func (r *reading) Check(ctx context.Context) error {
	if err := txn.Check(ctx); err != nil {
		return err
	}
	tx, err := r.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain("begin to check", err)
	}
	defer tx.Rollback() // there is nothing to commit, and nothing to lose
	if err := verdict(tx.QueryRowContext(ctx, `PRAGMA integrity_check(1)`)); err != nil {
		return err
	}
	wanted, err := r.wantedEntries(ctx, tx)
	if err != nil {
		return err
	}
	return r.compareEntries(ctx, tx, wanted)
}

// verdict reads the result of one of SQLite's checks.
func verdict(row *sql.Row) error {
	var text string
	if err := row.Scan(&text); err != nil {
		return explain("check the data file", err)
	}
	if text != "ok" {
		return damaged(text)
	}
	return nil
}

func damaged(what string) error {
	return fault.Wrap(fault.Internal, fmt.Errorf("%s", what), "the data file is damaged; stop the program and restore a backup")
}

// place identifies an entry in the file.
type place struct {
	index    int64
	parent   store.Path
	key      string
	document store.Path
}

// wantedEntries computes every document's entries.
func (r *reading) wantedEntries(ctx context.Context, tx *sql.Tx) (map[place]bool, error) {
	out := map[place]bool{}
	err := eachDocument(ctx, tx, func(path store.Path, data map[string]any) error {
		for i, index := range r.queries.Indexes() {
			for _, entry := range keptEntries(index, path, data) {
				out[place{r.indexes[i].id, entry.Parent, string(entry.Key), path}] = true
			}
		}
		return nil
	})
	return out, explain("read the documents", err)
}

// compareEntries compares the stored entries with the wanted ones.
func (r *reading) compareEntries(ctx context.Context, tx *sql.Tx, wanted map[place]bool) error {
	rows, err := tx.QueryContext(ctx, `SELECT index_id, parent, key, coalesce(path, 'document ' || document)
		FROM entries LEFT JOIN documents ON id = document`)
	err = eachRow(rows, err, func() error {
		var at place
		if err := rows.Scan(&at.index, &at.parent, &at.key, &at.document); err != nil {
			return err
		}
		if !wanted[at] {
			return damaged("an index lists " + string(at.document) + " where it does not belong")
		}
		delete(wanted, at)
		return nil
	})
	if err != nil {
		return explain("read the indexes", err)
	}
	there, err := storedIndexes(ctx, tx)
	if err != nil {
		return explain("read the indexes", err)
	}
	unfinished := map[int64]store.Path{}
	for _, row := range there {
		if row.built.Valid {
			unfinished[row.id] = store.Path(row.built.String)
		}
	}
	for at := range wanted {
		if built, is := unfinished[at.index]; !is || at.document <= built {
			return damaged("an index does not list " + string(at.document))
		}
	}
	return nil
}
