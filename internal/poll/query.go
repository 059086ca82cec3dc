package poll

import (
	"context"

	"questscheduler/internal/store"
)

func newestFirst(field string, q *store.Query) *store.Query {
	q.Order = []store.Order{{Path: store.Field(field), Descending: true}}
	return q
}

// everywhere makes q a collection group query.
func everywhere(q *store.Query) *store.Query {
	q.Group = true
	return q
}

// load reads one document; nil where there is none.
func load[T any](ctx context.Context, reader store.Reader, path store.Path, decode func(store.Document) T) (*T, error) {
	doc, err := reader.Get(ctx, path)
	if err != nil || !doc.Exists() {
		return nil, err
	}
	value := decode(doc)
	return &value, nil
}

// behind is where to go on after a page; nil where it is the last.
func behind(asked store.Bound, page []store.Document) *store.Cursor {
	if asked.Limit == 0 || len(page) < asked.Limit {
		return nil
	}
	return asked.Query.CursorAt(page[len(page)-1])
}
