package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
)

// prepareIndexes makes the file's indexes those of the declared queries, and
// gives their ids in the set's order. An index is what its definition says, so
// those that are there already are not touched; what nobody declares any more
// is dropped; what is new is built from the documents. All of it happens, or
// nothing.
func (s *Store) prepareIndexes(ctx context.Context) ([]int64, error) {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // after the commit it does nothing
	there, err := storedIndexes(ctx, tx)
	if err != nil {
		return nil, err
	}
	var ids []int64
	missing := map[int64]entries.Index{}
	for _, index := range s.queries.Indexes() {
		definition := index.Definition()
		id, known := there[definition]
		delete(there, definition)
		if !known {
			if err := tx.QueryRowContext(ctx, `INSERT INTO document_indexes (definition) VALUES (?) RETURNING id`,
				definition).Scan(&id); err != nil {
				return nil, err
			}
			missing[id] = index
		}
		ids = append(ids, id)
	}
	for _, id := range there { // independent of each other: any order does
		if err := dropIndex(ctx, tx, id); err != nil {
			return nil, err
		}
	}
	if len(missing) > 0 {
		documents, err := buildIndexes(ctx, tx, missing)
		if err != nil {
			return nil, err
		}
		s.log.Info("built indexes of newly declared queries", "indexes", len(missing), "documents", documents)
	}
	return ids, tx.Commit()
}

func storedIndexes(ctx context.Context, tx *sql.Tx) (map[string]int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT definition, id FROM document_indexes`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // Err tells what went wrong
	out := map[string]int64{}
	for rows.Next() {
		var definition string
		var id int64
		if err := rows.Scan(&definition, &id); err != nil {
			return nil, err
		}
		out[definition] = id
	}
	return out, rows.Err()
}

func dropIndex(ctx context.Context, tx *sql.Tx, id int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM entries WHERE index_id = ?`, id); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM document_indexes WHERE id = ?`, id)
	return err
}

// buildIndexes writes the entries of every document in the given indexes. It
// reads while it writes, which SQLite allows since the tables differ.
func buildIndexes(ctx context.Context, tx *sql.Tx, indexes map[int64]entries.Index) (documents int, err error) {
	add, err := tx.PrepareContext(ctx, statementTexts[addEntry])
	if err != nil {
		return 0, err
	}
	defer add.Close() // the transaction's end closes it in any case
	rows, err := tx.QueryContext(ctx, `SELECT path, data FROM documents`)
	if err != nil {
		return 0, err
	}
	defer rows.Close() // Err tells what went wrong
	for rows.Next() {
		var path string
		var text sql.RawBytes
		if err := rows.Scan(&path, &text); err != nil {
			return documents, err
		}
		data, err := decode(text)
		if err != nil {
			return documents, fmt.Errorf("%s: %w", path, err)
		}
		for id, index := range indexes {
			for _, entry := range index.Entries(store.Path(path), data) {
				if _, err := add.ExecContext(ctx, id, string(entry.Parent), entry.Key, path); err != nil {
					return documents, err
				}
			}
		}
		documents++
	}
	return documents, rows.Err()
}
