package sqlite

import (
	"context"
	"database/sql"

	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
)

// prepareIndexes makes the file's indexes those of the declared queries, in one
// transaction, and returns their ids in the set's order. It keeps indexes of the same
// definition, drops those no longer declared, and builds new ones from the documents.
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
	for _, id := range there {
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
	out := map[string]int64{}
	err = eachRow(rows, err, func() error {
		var definition string
		var id int64
		if err := rows.Scan(&definition, &id); err != nil {
			return err
		}
		out[definition] = id
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

// buildIndexes writes the entries of every document in the given indexes, while it reads
// the documents.
func buildIndexes(ctx context.Context, tx *sql.Tx, indexes map[int64]entries.Index) (documents int, err error) {
	add, err := tx.PrepareContext(ctx, statementTexts[addEntry])
	if err != nil {
		return 0, err
	}
	defer add.Close() // the transaction's end closes it in any case
	err = eachDocument(ctx, tx, func(path store.Path, data map[string]any) error {
		for id, index := range indexes {
			for _, entry := range index.Entries(path, data) {
				if _, err := add.ExecContext(ctx, id, string(entry.Parent), entry.Key, string(path)); err != nil {
					return err
				}
			}
		}
		documents++
		return nil
	})
	return documents, err
}
