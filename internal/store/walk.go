package store

import "context"

// walkPart is how many documents Walk reads at once.
const walkPart = 10

// Walk gives the documents of a query to take, one after the other in their
// order, until take has taken as many as the query's limit (0: all) or does not
// take one. It reads them in small parts: what a long page of large documents holds
// is not in memory together. next is the place behind the last one taken, or nil
// where the list ends there.
func Walk(ctx context.Context, reader Reader, asked Bound, take func(Document) (taken bool, err error)) (next *Cursor, err error) {
	next = asked.After
	for left := asked.Limit; asked.Limit == 0 || left > 0; left -= walkPart {
		part := walkPart
		if asked.Limit > 0 {
			part = min(part, left)
		}
		docs, err := reader.Query(ctx, asked.First(part).From(next))
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			if taken, err := take(doc); err != nil || !taken {
				return next, err
			}
			next = asked.Query.CursorAt(doc)
		}
		if len(docs) < part {
			return nil, nil
		}
	}
	return next, nil
}
