package store

import (
	"context"
	"iter"
	"time"
)

// Merged walks the documents of two queries as one list. Both are ordered by one time,
// newest first, and of different collections; at one time those of the first come first.
type Merged[T any] struct {
	First, Second             Bound
	DecodeFirst, DecodeSecond func(Document) T
}

// Walk passes at most limit of the list behind a cursor (nil: from the beginning) to take,
// as the function Walk does. A cursor is that of either query, so what is newer than it
// does not change what follows.
func (m Merged[T]) Walk(ctx context.Context, reader Reader, part Paging, take func(T) (taken bool, err error)) (next *Cursor, err error) {
	first, second := m.begin(part.Limit, part.After)
	nextFirst, stopFirst := iter.Pull2(documents(ctx, reader, first, walkPage))
	defer stopFirst()
	nextSecond, stopSecond := iter.Pull2(documents(ctx, reader, second, walkPage))
	defer stopSecond()
	a, aErr, hasA := nextFirst()
	b, bErr, hasB := nextSecond()
	next = part.After
	for range part.Limit {
		switch {
		case hasA && aErr != nil:
			return nil, aErr
		case hasB && bErr != nil:
			return nil, bErr
		case !hasA && !hasB:
			return nil, nil
		}
		fromFirst := hasA && (!hasB || !m.First.Query.at(a).Before(m.Second.Query.at(b)))
		doc, query, decode := b, m.Second.Query, m.DecodeSecond
		if fromFirst {
			doc, query, decode = a, m.First.Query, m.DecodeFirst
		}
		if taken, err := take(decode(doc)); err != nil || !taken {
			return next, err
		}
		next = query.CursorAt(doc)
		if fromFirst {
			a, aErr, hasA = nextFirst()
		} else {
			b, bErr, hasB = nextSecond()
		}
	}
	return next, nil
}

// begin gives both queries the place behind a cursor of one of them.
func (m Merged[T]) begin(limit int, after *Cursor) (first, second Bound) {
	first, second = m.First.First(limit), m.Second.First(limit)
	if after == nil || len(after.Values) != 1 {
		return first, second
	}
	at, _ := after.Values[0].(time.Time)
	if after.Path.Collection() == m.Second.Query.Collection {
		return first.From(lowest(first.Query, at)), second.From(after)
	}
	return first.From(after), second.From(lowest(second.Query, at.Add(time.Microsecond)))
}

// lowest is the place behind all documents of a time: no id of ours sorts before it.
func lowest(query *Query, at time.Time) *Cursor {
	return &Cursor{Values: []any{at}, Path: Doc("!", "!").Doc(query.Collection, "!")}
}

// at is the time that a query orders a document by.
func (q *Query) at(doc Document) time.Time {
	value, _ := q.Order[0].Path.Lookup(doc.Data)
	at, _ := value.(time.Time)
	return at
}
