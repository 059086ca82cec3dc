package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
	"questscheduler/internal/store/txn"
)

// treeBatch is how many documents of a tree one transaction deletes, so that
// others get their turns meanwhile.
const treeBatch = 200

// DeleteTree implements store.Store.
func (s *Store) DeleteTree(ctx context.Context, path store.Path) error {
	if err := mayRead(ctx, path); err != nil {
		return err
	}
	for more := true; more; {
		err := s.commits.do(ctx, func(session *session) error {
			changes, err := treeBelow(session, path)
			if err != nil {
				return explain("list a tree", err)
			}
			if more = len(changes) == treeBatch; !more {
				root, err := getOne(context.Background(), session.statements, path)
				if err != nil {
					return err
				}
				changes = append(changes, txn.Change{Path: path, Before: root})
			}
			return s.write(session, changes)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// treeBelow gives the deletion of the next documents below a path.
func treeBelow(session *session, path store.Path) (changes []txn.Change, err error) {
	// Every path below begins with "path/", and '0' is the byte after '/'.
	rows, err := session.statements.statement(listTree).QueryContext(context.Background(),
		string(path)+"/", string(path)+"0", treeBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close() // Err tells what went wrong
	for rows.Next() {
		var below string
		var text sql.RawBytes
		if err := rows.Scan(&below, &text); err != nil {
			return nil, err
		}
		data, err := decode(text)
		if err != nil {
			return nil, err
		}
		changes = append(changes, txn.Change{Path: store.Path(below), Before: data})
	}
	return changes, rows.Err()
}

// contains tells whether an entry is among a document's few.
func contains(list []entries.Entry, entry entries.Entry) bool {
	return slices.ContainsFunc(list, entry.Equal)
}
