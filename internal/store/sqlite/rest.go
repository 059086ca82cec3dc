package sqlite

import (
	"bytes"
	"context"
	"slices"

	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
	"questscheduler/internal/store/txn"
)

// span is what to find among the documents behind a path.
type span struct {
	entries.Range
	limit  int
	behind store.Path
	// byPath: what is found is wanted in the order of paths, as it is read.
	byPath bool
}

// restTurn waits for the turn of a query that may read many documents for lack of an index, so that
// such queries leave the other connections to everything else. done ends the turn.
func (r *reading) restTurn(ctx context.Context, plan entries.Plan) (done func(), err error) {
	if plan.Parent != "" || r.indexes[plan.Index].built.Load() == nil { // one document has few below it
		return func() {}, nil
	}
	select {
	case r.rest <- struct{}{}:
		return func() { <-r.rest }, nil
	case <-ctx.Done():
		return nil, txn.Stopped(ctx)
	}
}

// scanRest finds what scan would if the index had the documents behind a path, by reading those
// documents. It takes as long as they are many, until the index is built.
func (r *reading) scanRest(ctx context.Context, from source, plan entries.Plan, part span) (hits []entries.Hit, err error) {
	index := r.queries.Indexes()[plan.Index]
	which, args := scanGroup, []any{"/" + index.Collection + "/", string(part.behind)}
	if !index.Group {
		within := index.Collection
		if plan.Parent != "" {
			within = string(plan.Parent) + "/" + within
		}
		// Every path of the collection begins with "within/", and '0' is the byte after '/'.
		which, args = scanCollection, []any{within + "/", max(within+"/", string(part.behind)), within + "0"}
	}
	rows, err := from(which).QueryContext(ctx, args...)
	err = eachRow(rows, err, func() error {
		path, data, err := scanDocument(rows)
		if err != nil {
			return err
		}
		for _, entry := range index.Entries(path, data) {
			if part.Holds(entry.Key) {
				hits = append(hits, entries.Hit{Key: entry.Key, Document: store.Document{Path: path, Data: data}})
			}
		}
		switch {
		case part.limit == 0:
		case part.byPath && len(hits) >= part.limit:
			return errEnough
		case len(hits) > 2*part.limit: // so that few are in memory
			hits = firstOf(hits, plan, part.limit)
		}
		return nil
	})
	return firstOf(hits, plan, part.limit), err
}

// firstOf sorts hits as a plan wants them, each once, and returns the first; limit 0: all.
func firstOf(hits []entries.Hit, plan entries.Plan, limit int) []entries.Hit {
	slices.SortFunc(hits, plan.Compare)
	hits = slices.CompactFunc(hits, func(a, b entries.Hit) bool { return bytes.Equal(a.Key, b.Key) })
	if limit > 0 && len(hits) > limit {
		return slices.Delete(hits, limit, len(hits))
	}
	return hits
}
