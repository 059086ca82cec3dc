package sqlite

import (
	"context"
	"fmt"
	"slices"

	"questscheduler/internal/store"
	"questscheduler/internal/store/txn"
)

// Run implements store.Store. fn runs once, in its turn on the writing connection: no two
// transactions overlap. It must be quick, since others wait for it.
func (s *Store) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	inside, err := txn.Enter(ctx)
	if err != nil {
		return err
	}
	return s.commits.do(ctx, func(session *session) error {
		if err := txn.Stopped(ctx); err != nil {
			return err
		}
		reads := &view{store: s, session: session, documents: map[store.Path]map[string]any{}}
		attempt := txn.Begin(reads)
		if err := attempt.Do(inside, fn); err != nil {
			return err
		}
		changes, err := attempt.Resolve(reads.load)
		if err != nil {
			return err
		}
		return s.write(session, changes)
	})
}

// Get implements store.Reader.
func (s *Store) Get(ctx context.Context, path store.Path) (store.Document, error) {
	data, known := s.commits.recent.get(path)
	if !known {
		return s.reading.Get(ctx, path)
	}
	if err := txn.Check(ctx, path); err != nil {
		return store.Document{}, err
	}
	return store.Document{Path: path, Data: txn.Copy(data)}, nil
}

// GetAll implements store.Reader. All documents are of one committed state.
func (s *Store) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	found, known := s.commits.recent.all(paths)
	if !known {
		return s.reading.GetAll(ctx, paths)
	}
	if err := txn.Check(ctx, paths...); err != nil {
		return nil, err
	}
	out := make([]store.Document, len(paths))
	for i, path := range paths {
		out[i] = store.Document{Path: path, Data: txn.Copy(found[i])}
	}
	return out, nil
}

// view reads for one transaction on the writing connection, each document once: it cannot
// change before the transaction's end.
type view struct {
	store   *Store
	session *session
	// documents are the fields that were read, nil where a document does not exist.
	// Callers get copies.
	documents map[store.Path]map[string]any
}

// load returns a document's fields, which the caller must not change.
func (v *view) load(path store.Path) (map[string]any, error) {
	if data, known := v.documents[path]; known {
		return data, nil
	}
	data, err := v.session.load(path)
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
	found, err := v.store.answer(context.Background(), v.session.statements, plan, v.store.indexes[plan.Index].built.Load())
	if err != nil {
		return nil, err
	}
	for i, document := range found {
		v.documents[document.Path] = document.Data
		found[i].Data = txn.Copy(document.Data)
	}
	return found, nil
}

// session is the writing connection during a batch. One member has it at a time.
type session struct {
	statements source
	recent     *recent
	batched    *batched
	// writing is true between the first and the last of a member's writes.
	writing bool
	// broken is why the batch cannot be committed any more, or nil.
	broken error
}

// load returns a document's fields as the batch has them, which the caller must not change.
func (s *session) load(path store.Path) (map[string]any, error) {
	if data, known := s.batched.documents[path]; known {
		return data, nil
	}
	if data, known := s.recent.get(path); known {
		return data, nil
	}
	// The caller's context must not interrupt the connection, which the batch shares.
	data, err := getOne(context.Background(), s.statements, path)
	if err == nil {
		s.batched.read(path, data)
	}
	return data, err
}

func (s *session) exec(which int, args ...any) error {
	_, err := s.statements(which).ExecContext(context.Background(), args...)
	return err
}

// together runs writes in a savepoint: all of them take effect, or none, and other
// members' writes stay.
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

func (s *Store) write(session *session, changes []txn.Change) error {
	if len(changes) == 0 {
		return nil
	}
	err := session.together(func() error {
		for _, change := range changes {
			if err := s.writeOne(session, change); err != nil {
				return fmt.Errorf("%s: %w", change.Path, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, change := range changes {
		session.batched.wrote(change.Path, change.After)
	}
	return nil
}

func (s *Store) writeOne(session *session, change txn.Change) error {
	which, args := removeDocument, []any{string(change.Path)}
	if change.After != nil {
		text, err := encode(change.After)
		if err != nil {
			return err
		}
		which, args = putDocument, append(args, text)
	}
	var id int64
	if err := session.statements(which).QueryRowContext(context.Background(), args...).Scan(&id); err != nil {
		return err
	}
	return s.writeEntries(session, change, id)
}

// writeEntries updates the entries of a changed document, also in an index that is being built and
// may lack them. document is its number.
func (s *Store) writeEntries(session *session, change txn.Change, document int64) error {
	for _, i := range s.queries.Holding(change.Path) {
		index, id := s.queries.Indexes()[i], s.indexes[i].id
		if index.Stays(change.Before, change.After) {
			continue
		}
		before := keptEntries(index, change.Path, change.Before)
		now := keptEntries(index, change.Path, change.After)
		for _, entry := range before {
			if slices.ContainsFunc(now, entry.Equal) {
				continue
			}
			if err := session.exec(removeEntry, id, string(entry.Parent), entry.Key, document); err != nil {
				return err
			}
		}
		for _, entry := range now {
			if slices.ContainsFunc(before, entry.Equal) {
				continue
			}
			if err := session.exec(addEntry, id, string(entry.Parent), entry.Key, document); err != nil {
				return err
			}
		}
	}
	return nil
}
