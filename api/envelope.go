package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// envelope is every answer that is not an error.
type envelope[T any] struct {
	OK   bool `json:"ok" doc:"true"`
	Data T    `json:"data"`
	Meta meta `json:"meta"`
}

type meta struct {
	RequestID  string    `json:"request_id" doc:"Names the request in logs and journals."`
	Timestamp  time.Time `json:"timestamp" doc:"When it was answered, in UTC."`
	NextCursor string    `json:"next_cursor,omitempty" doc:"Pass it as cursor to get the next page; absent on the last page."`
}

func enclose[T any](ctx context.Context, s *server, data T) *envelope[T] {
	e := &envelope[T]{OK: true, Data: data, Meta: s.meta(ctx)}
	if list, ok := any(data).(interface{ nextCursor() string }); ok {
		e.Meta.NextCursor = list.nextCursor()
	}
	return e
}

func (s *server) meta(ctx context.Context) meta {
	return meta{RequestID: requestOf(ctx).id, Timestamp: s.Now().UTC().Truncate(time.Millisecond)}
}

// instant is nil for the zero time.
func instant(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	at = at.UTC()
	return &at
}

// optional is nil for an empty text.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// each maps items; the result is never nil.
func each[A, B any](items []A, answer func(A) B) []B {
	out := make([]B, len(items))
	for i, item := range items {
		out[i] = answer(item)
	}
	return out
}

// itself is for each of a list whose items stay as they are.
func itself(text string) string { return text }

// nullable declares that objects in a schema may be null, which huma does not.
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
