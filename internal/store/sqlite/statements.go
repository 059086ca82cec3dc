package sqlite

import (
	"context"
	"database/sql"
)

// The statements, by what they do.
const (
	getDocument = iota
	putDocument
	removeDocument
	addEntry
	removeEntry
	scanEntries
	scanOpenEntries
	listTree
	beginWrites
	keepWrites
	undoWrites
	statementCount
)

var statementTexts = [statementCount]string{
	getDocument: `SELECT data FROM documents WHERE path = ?`,
	putDocument: `INSERT INTO documents (path, data) VALUES (?, ?)
		ON CONFLICT (path) DO UPDATE SET data = excluded.data`,
	removeDocument: `DELETE FROM documents WHERE path = ?`,
	addEntry:       `INSERT INTO entries (index_id, parent, key, path) VALUES (?, ?, ?, ?)`,
	removeEntry:    `DELETE FROM entries WHERE index_id = ? AND parent = ? AND key = ?`,
	// CROSS JOIN keeps the entries first, so that nothing is sorted.
	scanEntries: `SELECT e.key, d.path, d.data
		FROM entries AS e CROSS JOIN documents AS d ON d.path = e.path
		WHERE e.index_id = ? AND e.parent = ? AND e.key >= ? AND e.key < ?
		ORDER BY e.key LIMIT ?`,
	scanOpenEntries: `SELECT e.key, d.path, d.data
		FROM entries AS e CROSS JOIN documents AS d ON d.path = e.path
		WHERE e.index_id = ? AND e.parent = ? AND e.key >= ?
		ORDER BY e.key LIMIT ?`,
	// From one path up to another, the last first, so that a document goes
	// after what lies below it.
	listTree: `SELECT path, data FROM documents
		WHERE path > ? AND path < ? ORDER BY path DESC LIMIT ?`,
	beginWrites: `SAVEPOINT writes`,
	keepWrites:  `RELEASE writes`,
	undoWrites:  `ROLLBACK TO writes`,
}

// statements are prepared once for a pool, and used by its connections or by
// one transaction of it.
type statements [statementCount]*sql.Stmt

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

// within gives the statements for use in a transaction; each is bound to it
// when it is first asked for.
func (s *statements) within(ctx context.Context, tx *sql.Tx) *bound {
	return &bound{ctx: ctx, tx: tx, prepared: s}
}

// bound are statements of one transaction.
type bound struct {
	ctx      context.Context
	tx       *sql.Tx
	prepared *statements
	ready    statements
}

func (b *bound) statement(which int) *sql.Stmt {
	if b.ready[which] == nil {
		b.ready[which] = b.tx.StmtContext(b.ctx, b.prepared[which])
	}
	return b.ready[which]
}

func (s *statements) statement(which int) *sql.Stmt { return s[which] }

// source gives statements: those of a pool, or of one transaction.
type source interface{ statement(which int) *sql.Stmt }
