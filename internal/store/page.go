package store

import (
	"context"
	"iter"
)

const (
	// pageSize is how many documents All reads at once.
	pageSize = 100
	// walkPage is how many documents Walk reads at once: its callers show few of
	// them, and one may be large.
	walkPage = 10
)

// Paging is a part of a list: at most Limit items (0: all) behind After (nil: from the first).
type Paging struct {
	Limit int
	After *Cursor
}

// Paged is a query for a part of its documents.
func (b Bound) Paged(part Paging) Bound { return b.First(part.Limit).From(part.After) }

// All yields what decode makes of each document of a query, in the query's order, up
// to its limit (0: all). It reads them page by page as the loop reaches them. An
// error is yielded once and ends it.
func All[T any](ctx context.Context, reader Reader, asked Bound, decode func(Document) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for doc, err := range documents(ctx, reader, asked, pageSize) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if !yield(decode(doc), nil) {
				return
			}
		}
	}
}

func documents(ctx context.Context, reader Reader, asked Bound, size int) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		page := asked.First(size)
		for left := asked.Limit; asked.Limit == 0 || left > 0; left -= size {
			if asked.Limit > 0 {
				page.Limit = min(size, left)
			}
			docs, err := reader.Query(ctx, page)
			if err != nil {
				yield(Document{}, err)
				return
			}
			for _, doc := range docs {
				if !yield(doc, nil) {
					return
				}
			}
			if len(docs) < page.Limit {
				return
			}
			page = page.From(asked.Query.CursorAt(docs[len(docs)-1]))
		}
	}
}

// Collect gathers what All yields.
func Collect[T any](all iter.Seq2[T, error]) ([]T, error) {
	var out []T
	for one, err := range all {
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// Page reads as many documents as the query's limit (0: all) at once, for callers
// that keep their place between runs. next is behind the last of them, or nil where
// the list ends there.
func Page[T any](ctx context.Context, reader Reader, asked Bound, decode func(Document) T) (page []T, next *Cursor, err error) {
	docs, err := reader.Query(ctx, asked)
	if err != nil {
		return nil, nil, err
	}
	for _, doc := range docs {
		page = append(page, decode(doc))
	}
	if asked.Limit > 0 && len(docs) == asked.Limit {
		next = asked.Query.CursorAt(docs[len(docs)-1])
	}
	return page, next, nil
}

// Walk passes what decode makes of each document of a query to take, in the query's
// order, until take has taken as many as the query's limit (0: all) or refuses one.
// It reads few at once: a long page of large documents is never in memory as a whole.
// next is behind the last one taken, or nil where the list ends there.
func Walk[T any](
	ctx context.Context, reader Reader, asked Bound, decode func(Document) T, take func(T) (taken bool, err error),
) (next *Cursor, err error) {
	next = asked.After
	count := 0
	for doc, err := range documents(ctx, reader, asked, walkPage) {
		if err != nil {
			return nil, err
		}
		if taken, err := take(decode(doc)); err != nil || !taken {
			return next, err
		}
		next = asked.Query.CursorAt(doc)
		count++
	}
	if asked.Limit == 0 || count < asked.Limit {
		return nil, nil
	}
	return next, nil
}
