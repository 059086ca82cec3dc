package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// Check looks through the whole data file: SQLite's own integrity check, that
// every document can be read, and that the indexes hold what the documents
// say, no more and no less. What is damaged is Internal, with the first damage
// as its cause. It sees one committed state and holds up nobody, but it takes
// as long as reading the file.
func (r *reading) Check(ctx context.Context) error {
	if err := mayRead(ctx); err != nil {
		return err
	}
	tx, err := r.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain("begin to check", err)
	}
	defer tx.Rollback() // there is nothing to commit, and nothing to lose
	var verdict string
	if err := tx.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return explain("check the data file", err)
	}
	if verdict != "ok" {
		return damaged(verdict)
	}
	wanted, err := r.wantedEntries(ctx, tx)
	if err != nil {
		return err
	}
	return r.compareEntries(ctx, tx, wanted)
}

func damaged(what string) error {
	return fault.Wrap(fault.Internal, fmt.Errorf("%s", what), "the data file is damaged; stop the program and restore a backup")
}

// place is an entry as the file keeps it.
type place struct {
	index  int64
	parent store.Path
	key    string
}

// wantedEntries works out every document's entries.
func (r *reading) wantedEntries(ctx context.Context, tx *sql.Tx) (map[place]store.Path, error) {
	rows, err := tx.QueryContext(ctx, `SELECT path, data FROM documents`)
	if err != nil {
		return nil, explain("read the documents", err)
	}
	defer rows.Close() // Err tells what went wrong
	out := map[place]store.Path{}
	for rows.Next() {
		var path string
		var text sql.RawBytes
		if err := rows.Scan(&path, &text); err != nil {
			return nil, explain("read the documents", err)
		}
		data, err := decode(text)
		if err != nil {
			return nil, damaged(path + ": " + err.Error())
		}
		for i, index := range r.queries.Indexes() {
			for _, entry := range index.Entries(store.Path(path), data) {
				out[place{r.indexIDs[i], entry.Parent, string(entry.Key)}] = store.Path(path)
			}
		}
	}
	return out, explain("read the documents", rows.Err())
}

// compareEntries holds the stored entries against those that are wanted.
func (r *reading) compareEntries(ctx context.Context, tx *sql.Tx, wanted map[place]store.Path) error {
	rows, err := tx.QueryContext(ctx, `SELECT index_id, parent, key, path FROM entries`)
	if err != nil {
		return explain("read the indexes", err)
	}
	defer rows.Close() // Err tells what went wrong
	for rows.Next() {
		var at place
		var parent, path string
		var key []byte
		if err := rows.Scan(&at.index, &parent, &key, &path); err != nil {
			return explain("read the indexes", err)
		}
		at.parent, at.key = store.Path(parent), string(key)
		if wanted[at] != store.Path(path) {
			return damaged("an index lists " + path + " where it does not belong")
		}
		delete(wanted, at)
	}
	if err := rows.Err(); err != nil {
		return explain("read the indexes", err)
	}
	for _, path := range wanted {
		return damaged("an index does not list " + string(path))
	}
	return nil
}
