package store

import (
	"math"
	"time"
)

// Fields reads a document's fields leniently, since other programs write shared documents:
// an absent field, null and a value of another type read as the zero value.
type Fields map[string]any

// Has reports whether the field exists and is not null.
func (f Fields) Has(name string) bool { return f[name] != nil }

// String reads a string.
func (f Fields) String(name string) string {
	text, _ := f[name].(string)
	return text
}

// Bool reads a boolean.
func (f Fields) Bool(name string) bool {
	truth, _ := f[name].(bool)
	return truth
}

// Int reads an integer, or a double truncated towards zero; 0 for one out of range.
func (f Fields) Int(name string) int64 {
	switch number := f[name].(type) {
	case int64:
		return number
	case float64:
		if number >= math.MinInt64 && number < math.MaxInt64 {
			return int64(number)
		}
		return 0 // a conversion would depend on the machine
	default:
		return 0
	}
}

// Time reads a timestamp, or a string in RFC 3339, in UTC and the years 1 to 9999.
func (f Fields) Time(name string) time.Time {
	switch value := f[name].(type) {
	case time.Time:
		return value
	case string:
		at, err := time.Parse(time.RFC3339Nano, value)
		if err != nil {
			return time.Time{}
		}
		at = at.UTC()
		if at.Year() < 1 || at.Year() > 9999 {
			return time.Time{} // by its offset; it could not be stored
		}
		return at
	default:
		return time.Time{}
	}
}

// Map reads nested fields.
func (f Fields) Map(name string) Fields {
	nested, _ := f[name].(map[string]any)
	return nested
}

// List reads a list.
func (f Fields) List(name string) []any {
	list, _ := f[name].([]any)
	return list
}

// Strings reads the strings of a list and skips other items.
func (f Fields) Strings(name string) []string {
	var texts []string
	for _, item := range f.List(name) {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// NullIfEmpty returns text, or nil for "".
func NullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// NullIfZero returns at, or nil for the zero time.
func NullIfZero(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at
}

// ListOf is a list of what encode makes of items.
func ListOf[T any](items []T, encode func(T) map[string]any) []any {
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = encode(item)
	}
	return list
}

// DecodeList is what decode makes of the items of a list; those that are no maps are left out.
func DecodeList[T any](list []any, decode func(Fields) T) (items []T) {
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok {
			items = append(items, decode(fields))
		}
	}
	return items
}
