package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"runtime"

	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
	"questscheduler/internal/store/txn"
)

// reading answers reads from a pool of connections that cannot write.
type reading struct {
	queries *entries.Set
	// indexIDs are the ids in the file of the set's indexes, in its order.
	indexIDs []int64
	readers  *sql.DB
	read     *statements
}

// openReaders makes the pool; nothing is read yet.
func (r *reading) openReaders(address string) (err error) {
	if r.readers, err = sql.Open("sqlite", address); err != nil {
		return explain("open the data file", err)
	}
	pool := max(4, runtime.GOMAXPROCS(0))
	r.readers.SetMaxOpenConns(pool)
	r.readers.SetMaxIdleConns(pool)
	return nil
}

// prepareReads makes the pool ready, once the schema is known to be ours.
func (r *reading) prepareReads(ctx context.Context) (err error) {
	r.read, err = prepare(ctx, r.readers)
	return explain("prepare reads", err)
}

// Get implements store.Reader.
func (r *reading) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := mayRead(ctx, path); err != nil {
		return store.Document{}, err
	}
	data, err := getOne(ctx, r.read, path)
	return store.Document{Path: path, Data: data}, err
}

// GetAll implements store.Reader. All documents are of one committed state.
func (r *reading) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if err := mayRead(ctx, paths...); err != nil {
		return nil, err
	}
	out := make([]store.Document, len(paths))
	err := r.snapshot(ctx, func(from source) (err error) {
		for i, path := range paths {
			out[i].Path = path
			if out[i].Data, err = getOne(ctx, from, path); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Query implements store.Reader. All documents are of one committed state.
func (r *reading) Query(ctx context.Context, query store.Bound) (found []store.Document, err error) {
	plan, err := r.queries.Plan(query)
	if err != nil {
		return nil, err
	}
	if err := mayRead(ctx); err != nil {
		return nil, err
	}
	if len(plan.Ranges) == 1 { // one statement sees one state
		return r.answer(ctx, r.read, plan)
	}
	err = r.snapshot(ctx, func(from source) (err error) {
		found, err = r.answer(ctx, from, plan)
		return err
	})
	return found, err
}

func mayRead(ctx context.Context, paths ...store.Path) error {
	for _, path := range paths {
		if err := path.Valid(); err != nil {
			return err
		}
	}
	if err := txn.Outside(ctx); err != nil {
		return err
	}
	return txn.Stopped(ctx)
}

// snapshot reads several times from one committed state.
func (r *reading) snapshot(ctx context.Context, read func(source) error) error {
	tx, err := r.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explain("begin to read", err)
	}
	defer tx.Rollback() // there is nothing to commit, and nothing to lose
	return read(r.read.within(ctx, tx))
}

// getOne gives a document's fields, or nil where it is not there.
func getOne(ctx context.Context, from source, path store.Path) (map[string]any, error) {
	var text sql.RawBytes
	rows, err := from.statement(getDocument).QueryContext(ctx, string(path))
	if err != nil {
		return nil, explain("read a document", err)
	}
	defer rows.Close() // Err tells what went wrong
	if !rows.Next() {
		return nil, explain("read a document", rows.Err())
	}
	if err := rows.Scan(&text); err != nil {
		return nil, explain("read a document", err)
	}
	data, err := decode(text)
	return data, explain("read "+string(path), err)
}

// answer carries out a plan.
func (r *reading) answer(ctx context.Context, from source, plan entries.Plan) ([]store.Document, error) {
	found, err := plan.Gather(func(part entries.Range, limit int) ([]entries.Hit, error) {
		return r.scan(ctx, from, plan, part, limit)
	})
	return found, explain("answer a query", err)
}

func (r *reading) scan(ctx context.Context, from source, plan entries.Plan, part entries.Range, limit int) (hits []entries.Hit, err error) {
	which, args := scanOpenEntries, []any{r.indexIDs[plan.Index], string(plan.Parent), nonNil(part.From)}
	if part.To != nil {
		which, args = scanEntries, append(args, part.To)
	}
	if limit == 0 {
		limit = -1 // SQLite's word for all
	}
	rows, err := from.statement(which).QueryContext(ctx, append(args, limit)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var hit entries.Hit
		var path string
		var text sql.RawBytes
		if err := rows.Scan(&hit.Key, &path, &text); err != nil {
			return nil, err
		}
		hit.Document.Path = store.Path(path)
		if hit.Document.Data, err = decode(text); err != nil {
			return nil, err
		}
		hits = append(hits, hit)
	}
	return hits, rows.Err()
}

// nonNil keeps an empty key from being taken for NULL, which no key is above.
func nonNil(key []byte) []byte {
	if key == nil {
		return []byte{}
	}
	return key
}
