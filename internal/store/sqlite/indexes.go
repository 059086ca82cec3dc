package sqlite

import (
	"context"
	"database/sql"
	"sync/atomic"

	"questscheduler/internal/store"
)

// fileIndex is an index of the declared queries in the file.
type fileIndex struct {
	id int64
	// built is the path up to which the index has all documents; nil: it has all. Behind it, it has
	// those that were written since the build began. It may lag behind the file.
	built atomic.Pointer[store.Path]
}

// stored is the row of an index.
type stored struct {
	id    int64
	built sql.NullString
}

func (s stored) index() *fileIndex {
	index := &fileIndex{id: s.id}
	if s.built.Valid {
		path := store.Path(s.built.String)
		index.built.Store(&path)
	}
	return index
}

// prepareIndexes makes the file's indexes those of the declared queries, in one
// transaction, and returns them in the set's order. It keeps indexes of the same
// definition and drops those no longer declared; new ones are yet to be built.
func (s *Store) prepareIndexes(ctx context.Context) ([]*fileIndex, error) {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // after the commit it does nothing
	there, err := storedIndexes(ctx, tx)
	if err != nil {
		return nil, err
	}
	var indexes []*fileIndex
	for _, index := range s.queries.Indexes() {
		definition := index.Definition()
		row, known := there[definition]
		delete(there, definition)
		if !known {
			row.built.Valid = true
			if err := tx.QueryRowContext(ctx, `INSERT INTO document_indexes (definition, built) VALUES (?, '') RETURNING id`,
				definition).Scan(&row.id); err != nil {
				return nil, err
			}
		}
		indexes = append(indexes, row.index())
	}
	for _, row := range there {
		if err := dropIndex(ctx, tx, row.id); err != nil {
			return nil, err
		}
	}
	return indexes, tx.Commit()
}

// storedIndexes reads the file's indexes, by definition.
func storedIndexes(ctx context.Context, tx *sql.Tx) (map[string]stored, error) {
	rows, err := tx.QueryContext(ctx, `SELECT definition, id, built FROM document_indexes`)
	out := map[string]stored{}
	err = eachRow(rows, err, func() error {
		var definition string
		var row stored
		if err := rows.Scan(&definition, &row.id, &row.built); err != nil {
			return err
		}
		out[definition] = row
		return nil
	})
	return out, err
}

func dropIndex(ctx context.Context, tx *sql.Tx, id int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM entries WHERE index_id = ?`, id); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM document_indexes WHERE id = ?`, id)
	return err
}
