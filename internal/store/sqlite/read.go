package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"runtime"
	"slices"

	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
	"questscheduler/internal/store/txn"
)

// reading answers reads from a pool of connections that cannot write.
type reading struct {
	queries *entries.Set
	// indexes are the set's indexes in the file, in its order.
	indexes []*fileIndex
	readers *sql.DB
	read    *statements
	// rest is held by the one query that reads the rest of a whole collection.
	rest chan struct{}
}

func (r *reading) openReaders(address string) (err error) {
	r.readers, err = sql.Open("sqlite", address)
	if err != nil {
		return explain("open the data file", err)
	}
	pool := max(4, runtime.GOMAXPROCS(0))
	r.readers.SetMaxOpenConns(pool)
	r.readers.SetMaxIdleConns(pool)
	return nil
}

// prepareReads prepares the statements, once the schema is known to be ours.
func (r *reading) prepareReads(ctx context.Context) (err error) {
	r.read, err = prepare(ctx, r.readers)
	return explain("prepare reads", err)
}

// Get implements store.Reader.
func (r *reading) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if err := txn.Check(ctx, path); err != nil {
		return store.Document{}, err
	}
	data, err := getOne(ctx, r.read.pooled, path)
	return store.Document{Path: path, Data: data}, err
}

// GetAll implements store.Reader. All documents are of one committed state.
func (r *reading) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if err := txn.Check(ctx, paths...); err != nil {
		return nil, err
	}
	out := make([]store.Document, len(paths))
	err := r.snapshot(ctx, func(from source) (err error) {
		for i, path := range paths {
			out[i].Path = path
			out[i].Data, err = getOne(ctx, from, path)
			if err != nil {
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
	if err := txn.Check(ctx); err != nil {
		return nil, err
	}
	done, err := r.restTurn(ctx, plan)
	if err != nil {
		return nil, err
	}
	defer done()
	built := r.indexes[plan.Index].built.Load() // before the state that is read
	if len(plan.Ranges) == 1 && built == nil {  // one statement sees one state
		return r.answer(ctx, r.read.pooled, plan, nil)
	}
	err = r.snapshot(ctx, func(from source) (err error) {
		found, err = r.answer(ctx, from, plan, built)
		return err
	})
	return found, err
}

// errEnough ends a result without an error.
var errEnough = errors.New("enough rows were read")

// eachRow calls read for each row of a query's result until errEnough, and closes it.
func eachRow(rows *sql.Rows, err error, read func() error) error {
	if err != nil {
		return err
	}
	defer rows.Close() // Err returns the error
	for rows.Next() {
		if err := read(); err != nil {
			if errors.Is(err, errEnough) {
				return nil
			}
			return err
		}
	}
	return rows.Err()
}

// eachDocument calls do with every document of the file.
func eachDocument(ctx context.Context, tx *sql.Tx, do func(path store.Path, data map[string]any) error) error {
	rows, err := tx.QueryContext(ctx, `SELECT path, data FROM documents`)
	return eachRow(rows, err, func() error {
		path, data, err := scanDocument(rows)
		if err != nil {
			return err
		}
		return do(path, data)
	})
}

// scanDocument reads a row of path and data. Damaged data is Internal.
func scanDocument(rows *sql.Rows) (store.Path, map[string]any, error) {
	var path string
	var text sql.RawBytes
	if err := rows.Scan(&path, &text); err != nil {
		return "", nil, err
	}
	data, err := decode(text)
	if err != nil {
		return "", nil, damaged(path + ": " + err.Error())
	}
	return store.Path(path), data, nil
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

// getOne returns a document's fields, or nil where it does not exist.
func getOne(ctx context.Context, from source, path store.Path) (map[string]any, error) {
	var text sql.RawBytes
	rows, err := from(getDocument).QueryContext(ctx, string(path))
	if err != nil {
		return nil, explain("read a document", err)
	}
	defer rows.Close() // Err returns the error
	if !rows.Next() {
		return nil, explain("read a document", rows.Err())
	}
	if err := rows.Scan(&text); err != nil {
		return nil, explain("read a document", err)
	}
	data, err := decode(text)
	return data, explain("read "+string(path), err)
}

// answer answers a query whose index had all documents up to a path, or all (nil), at or before
// the state that is read.
func (r *reading) answer(ctx context.Context, from source, plan entries.Plan, built *store.Path) ([]store.Document, error) {
	index := r.queries.Indexes()[plan.Index]
	found, err := plan.Gather(func(part entries.Range, limit int) (hits []entries.Hit, err error) {
		rest := span{Range: part, limit: limit, byPath: !index.Group && len(index.Order) == 0}
		if rest.byPath {
			rest.behind = plan.After
		}
		switch {
		case fromDocuments(index, plan.Parent):
			return r.scanRest(ctx, from, plan, rest)
		case built == nil:
			return r.scan(ctx, from, plan, part, limit)
		}
		hits, err = r.scan(ctx, from, plan, part, limit)
		if err != nil {
			return nil, err
		}
		rest.behind = max(rest.behind, *built)
		more, err := r.scanRest(ctx, from, plan, rest)
		return firstOf(append(hits, more...), plan, limit), err
	})
	return found, explain("answer a query", err)
}

// scan finds the first entries of a range and their documents, in the order of their whole keys.
func (r *reading) scan(ctx context.Context, from source, plan entries.Plan, part entries.Range, limit int) (hits []entries.Hit, err error) {
	index := r.queries.Indexes()[plan.Index]
	args := []any{r.indexes[plan.Index].id, string(plan.Parent), firstKey(index, part, plan.After)}
	if part.To != nil {
		args = append(args, part.To)
	}
	rows, err := from(scanOf(part.To == nil, plan.Backward)).QueryContext(ctx, args...)
	var last []byte
	packed := map[store.Path][]byte{}
	err = eachRow(rows, err, func() error {
		var key, data sql.RawBytes
		var path store.Path
		if err := rows.Scan(&key, &path, &data); err != nil {
			return err
		}
		if limit > 0 && len(hits) >= limit && !bytes.Equal(key, last) { // equal ones are in no order
			return errEnough
		}
		last = append(last[:0], key...)
		whole := wholeKey(index, slices.Clone(key), path)
		if part.Holds(whole) {
			packed[path] = slices.Clone(data)
			hits = append(hits, entries.Hit{Key: whole, Document: store.Document{Path: path}})
		}
		return nil
	})
	hits = firstOf(hits, plan, limit)
	for i, hit := range hits {
		var failed error
		hits[i].Document.Data, failed = decode(packed[hit.Document.Path])
		err = errors.Join(err, failed)
	}
	return hits, err
}

// scanOf is the statement that reads entries to the end, or up to a key, in a direction.
func scanOf(open, backward bool) int {
	switch {
	case open && backward:
		return scanOpenBackward
	case open:
		return scanOpenEntries
	case backward:
		return scanBackward
	default:
		return scanEntries
	}
}
