package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// envelope is every answer that is no error.
type envelope[T any] struct {
	OK   bool `json:"ok" doc:"true"`
	Data T    `json:"data"`
	Meta meta `json:"meta"`
}

// meta stands in every answer.
type meta struct {
	RequestID string    `json:"request_id" doc:"Names the request in logs and journals."`
	Timestamp time.Time `json:"timestamp" doc:"When it was answered, in UTC."`
	// NextCursor is where a list goes on; absent at its end.
	NextCursor string `json:"next_cursor,omitempty" doc:"Give it as cursor to get the next page; absent on the last one."`
}

// complete fills in what is known only when the answer leaves.
func (e *envelope[T]) complete(m meta) {
	m.NextCursor = e.Meta.NextCursor
	e.Meta = m
}

// enclose puts data into its envelope.
func enclose[T any](data T) *envelope[T] {
	e := &envelope[T]{OK: true, Data: data}
	if list, ok := any(data).(interface{ nextCursor() string }); ok {
		e.Meta.NextCursor = list.nextCursor()
	}
	return e
}

// meta is that of an answer that leaves now.
func (s *server) meta(ctx context.Context) meta {
	return meta{RequestID: requestOf(ctx).id, Timestamp: s.Now().UTC().Truncate(time.Millisecond)}
}

// instant is a time as answers give it, nil where there is none.
func instant(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// optional is a text as answers give it, nil where it is absent.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// each makes the items of an answer; where there are none it is empty, never
// null.
func each[A, B any](items []A, answer func(A) B) []B {
	out := make([]B, len(items))
	for i, item := range items {
		out[i] = answer(item)
	}
	return out
}

// itself is for lists whose items are answered as they are.
func itself(text string) string { return text }

// nullable says of objects in a schema that they may be null, which huma does
// not say of itself.
func nullable(s *huma.Schema, names ...string) *huma.Schema {
	for _, name := range names {
		property := s.Properties[name]
		s.Properties[name] = &huma.Schema{
			Description: property.Description,
			OneOf:       []*huma.Schema{{Ref: property.Ref}, {Type: "null"}},
		}
	}
	return s
}
