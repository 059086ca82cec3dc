package sqlite

import (
	"context"
	"database/sql"
)

const (
	getDocument = iota
	putDocument
	removeDocument
	addEntry
	removeEntry
	scanEntries
	scanOpenEntries
	scanBackward
	scanOpenBackward
	scanCollection
	scanGroup
	listPaths
	markBuilt
	listTree
	beginWrites
	keepWrites
	undoWrites
	statementCount
)

// entriesFrom reads the entries first, by CROSS JOIN, so that nothing is sorted.
const entriesFrom = `SELECT e.key, d.path, d.data
	FROM entries AS e CROSS JOIN documents AS d ON d.id = e.document
	WHERE e.index_id = ? AND e.parent = ? AND e.key >= ?`

// statementTexts never limit by a parameter alone: SQLite prepares a statement anew each time that
// such a parameter is bound, since its plan may depend on it.
var statementTexts = [statementCount]string{
	getDocument: `SELECT data FROM documents WHERE path = ?`,
	putDocument: `INSERT INTO documents (path, data) VALUES (?, ?)
		ON CONFLICT (path) DO UPDATE SET data = excluded.data RETURNING id`,
	removeDocument: `DELETE FROM documents WHERE path = ? RETURNING id`,
	addEntry: `INSERT INTO entries (index_id, parent, key, document) VALUES (?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, // a write and the build of an index add the same
	removeEntry:      `DELETE FROM entries WHERE index_id = ? AND parent = ? AND key = ? AND document = ?`,
	scanEntries:      entriesFrom + ` AND e.key < ? ORDER BY e.key`,
	scanOpenEntries:  entriesFrom + ` ORDER BY e.key`,
	scanBackward:     entriesFrom + ` AND e.key < ? ORDER BY e.key DESC`,
	scanOpenBackward: entriesFrom + ` ORDER BY e.key DESC`,
	// The documents of one collection behind a path, and of all collections of a name.
	scanCollection: `SELECT path, data FROM documents
		WHERE path > ?2 AND path < ?3 AND instr(substr(path, length(?1) + 1), '/') = 0 ORDER BY path`,
	scanGroup: `SELECT path, data FROM documents WHERE path > ?2 AND instr('/' || path, ?1) > 0`,
	// It reads no document, only SQLite's index of paths.
	listPaths: `SELECT id, path FROM documents WHERE path > ? ORDER BY path LIMIT ? + 0`,
	markBuilt: `UPDATE document_indexes SET built = ? WHERE id = ?`,
	// In descending order: a document is deleted after those below it.
	listTree: `SELECT path, data FROM documents
		WHERE path > ? AND path < ? ORDER BY path DESC LIMIT ? + 0`,
	beginWrites: `SAVEPOINT writes`,
	keepWrites:  `RELEASE writes`,
	undoWrites:  `ROLLBACK TO writes`,
}

// statements are prepared once for a pool.
type statements [statementCount]*sql.Stmt

// source returns a statement of a pool, or of a transaction.
type source func(which int) *sql.Stmt

func prepare(ctx context.Context, db *sql.DB) (*statements, error) {
	var out statements
	for i, text := range statementTexts {
		prepared, err := db.PrepareContext(ctx, text)
		if err != nil {
			return nil, err
		}
		out[i] = prepared
	}
	return &out, nil
}

func (s *statements) pooled(which int) *sql.Stmt { return s[which] }

// within returns the statements for a transaction, each bound to it at its first use.
func (s *statements) within(ctx context.Context, tx *sql.Tx) source {
	var bound statements
	return func(which int) *sql.Stmt {
		if bound[which] == nil {
			bound[which] = tx.StmtContext(ctx, s[which])
		}
		return bound[which]
	}
}
