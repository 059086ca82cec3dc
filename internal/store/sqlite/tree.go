package sqlite

import (
	"context"

	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// treeBatch is how many documents of a tree one transaction deletes; other writers get
// their turns in between.
const treeBatch = 200

// DeleteTree implements store.Store.
func (s *Store) DeleteTree(ctx context.Context, path store.Path) error {
	if err := txn.Check(ctx, path); err != nil {
		return err
	}
	for more := true; more; {
		err := s.commits.do(ctx, func(session *session) error {
			changes, err := treeBelow(session, path)
			if err != nil {
				return explain("list a tree", err)
			}
			more = len(changes) == treeBatch
			if !more {
				root, err := session.load(path)
				if err != nil {
					return err
				}
				if root != nil {
					changes = append(changes, txn.Change{Path: path, Before: root})
				}
			}
			return s.write(session, changes)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// treeBelow returns the deletions of the next documents below a path.
func treeBelow(session *session, path store.Path) (changes []txn.Change, err error) {
	// Every path below begins with "path/", and '0' is the byte after '/'.
	rows, err := session.statements(listTree).QueryContext(context.Background(),
		string(path)+"/", string(path)+"0", treeBatch)
	err = eachRow(rows, err, func() error {
		below, data, err := scanDocument(rows)
		changes = append(changes, txn.Change{Path: below, Before: data})
		return err
	})
	return changes, err
}
