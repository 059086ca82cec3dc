package sqlite

import (
	"context"
	"fmt"

	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// Run implements store.Store. fn runs once, in its turn on the writing
// connection, so that no two transactions ever overlap: they are serialisable
// in the order of their turns. It must be quick, since others wait for it.
func (s *Store) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	inside, err := txn.Enter(ctx)
	if err != nil {
		return err
	}
	return s.commits.do(ctx, func(session *session) error {
		if err := txn.Stopped(ctx); err != nil {
			return err
		}
		seen := &view{store: s, session: session, documents: map[store.Path]map[string]any{}}
		attempt := txn.Begin(seen)
		if err := attempt.Do(inside, fn); err != nil {
			return err
		}
		changes, err := attempt.Resolve(seen.load)
		if err != nil {
			return err
		}
		return s.write(session, changes)
	})
}

// view reads for one transaction on the writing connection. What it has read
// cannot change before the transaction's end, so it is not read again.
type view struct {
	store   *Store
	session *session
	// documents are those that were read; nil: not there. They are not
	// changed, and callers get copies.
	documents map[store.Path]map[string]any
}

// load gives a document's fields, which the caller does not change.
func (v *view) load(path store.Path) (map[string]any, error) {
	if data, known := v.documents[path]; known {
		return data, nil
	}
	// A caller that leaves must not interrupt the connection of the batch.
	data, err := getOne(context.Background(), v.session.statements, path)
	if err != nil {
		return nil, err
	}
	v.documents[path] = data
	return data, nil
}

// Get implements store.Reader.
func (v *view) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := txn.Stopped(ctx); err != nil {
		return store.Document{}, err
	}
	data, err := v.load(path)
	return store.Document{Path: path, Data: txn.Copy(data)}, err
}

// GetAll implements store.Reader.
func (v *view) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	out := make([]store.Document, len(paths))
	for i, path := range paths {
		document, err := v.Get(ctx, path)
		if err != nil {
			return nil, err
		}
		out[i] = document
	}
	return out, nil
}

// Query implements store.Reader.
func (v *view) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	plan, err := v.store.queries.Plan(query)
	if err != nil {
		return nil, err
	}
	if err := txn.Stopped(ctx); err != nil {
		return nil, err
	}
	found, err := v.store.answer(context.Background(), v.session.statements, plan)
	if err != nil {
		return nil, err
	}
	for i, document := range found {
		v.documents[document.Path] = document.Data
		found[i].Data = txn.Copy(document.Data)
	}
	return found, nil
}

// session is the writing connection in one batch. One member has it at a time.
type session struct {
	statements *bound
	// writing is true between the first and the last of a member's writes.
	writing bool
	// broken says why nothing of the batch can be committed; nil: it can.
	broken error
}

func (s *session) exec(which int, args ...any) error {
	_, err := s.statements.statement(which).ExecContext(context.Background(), args...)
	return err
}

// together runs writes so that they take effect together or not at all, and
// leave what other members wrote alone.
func (s *session) together(write func() error) error {
	s.writing = true
	err := s.exec(beginWrites)
	if err != nil {
		s.broken = err
		return explain("begin to write", err)
	}
	if err := write(); err != nil {
		undone := s.exec(undoWrites)
		if undone == nil {
			undone = s.exec(keepWrites) // nothing is left in it to keep
		}
		if undone != nil {
			// SQLite gave up the whole batch, as it does for a full disk.
			s.broken = err
		}
		s.writing = false
		return explain("write", err)
	}
	if err := s.exec(keepWrites); err != nil {
		s.broken = err
		return explain("end writing", err)
	}
	s.writing = false
	return nil
}

// write carries out a transaction's changes.
func (s *Store) write(session *session, changes []txn.Change) error {
	if len(changes) == 0 {
		return nil
	}
	return session.together(func() error {
		for _, change := range changes {
			if err := s.writeOne(session, change); err != nil {
				return fmt.Errorf("%s: %w", change.Path, err)
			}
		}
		return nil
	})
}

func (s *Store) writeOne(session *session, change txn.Change) error {
	if err := s.writeEntries(session, change); err != nil {
		return err
	}
	if change.After == nil {
		return session.exec(removeDocument, string(change.Path))
	}
	text, err := encode(change.After)
	if err != nil {
		return err
	}
	return session.exec(putDocument, string(change.Path), text)
}

// writeEntries removes the entries that the document no longer has and adds
// those it did not have.
func (s *Store) writeEntries(session *session, change txn.Change) error {
	for _, i := range s.queries.Holding(change.Path) {
		index, id := s.queries.Indexes()[i], s.indexIDs[i]
		if index.Stays(change.Before, change.After) {
			continue
		}
		before := index.Entries(change.Path, change.Before)
		now := index.Entries(change.Path, change.After)
		for _, entry := range before {
			if contains(now, entry) {
				continue
			}
			if err := session.exec(removeEntry, id, string(entry.Parent), entry.Key); err != nil {
				return err
			}
		}
		for _, entry := range now {
			if contains(before, entry) {
				continue
			}
			if err := session.exec(addEntry, id, string(entry.Parent), entry.Key, string(change.Path)); err != nil {
				return err
			}
		}
	}
	return nil
}
