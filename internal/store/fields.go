package store

import (
	"math"
	"time"
)

// Fields reads a document's fields leniently, as shared documents need it:
// absent, null and a value of another type are all the zero value, and numbers
// may have come as integers or doubles.
type Fields map[string]any

// Has tells whether the field is there and not null.
func (f Fields) Has(name string) bool { return f[name] != nil }

// String reads a text.
func (f Fields) String(name string) string {
	text, _ := f[name].(string)
	return text
}

// Bool reads a truth value.
func (f Fields) Bool(name string) bool {
	truth, _ := f[name].(bool)
	return truth
}

// Int reads a whole number; a double is cut towards zero, and one that no whole
// number can hold is none.
func (f Fields) Int(name string) int64 {
	switch number := f[name].(type) {
	case int64:
		return number
	case float64:
		if number >= math.MinInt64 && number < math.MaxInt64 {
			return int64(number)
		}
		return 0 // what it would be cut to depends on the machine
	default:
		return 0
	}
}

// Time reads an instant; a text in RFC 3339 is read as one too. It lies in the
// years 1 to 9999, in UTC.
func (f Fields) Time(name string) time.Time {
	switch value := f[name].(type) {
	case time.Time:
		return value
	case string:
		at, err := time.Parse(time.RFC3339Nano, value)
		if err != nil {
			return time.Time{}
		}
		if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
			return time.Time{} // an offset carried it over; it could not be written again
		}
		return at
	default:
		return time.Time{}
	}
}

// Map reads nested fields; nil where they are absent.
func (f Fields) Map(name string) Fields {
	nested, _ := f[name].(map[string]any)
	return nested
}

// List reads a list; nil where it is absent.
func (f Fields) List(name string) []any {
	list, _ := f[name].([]any)
	return list
}

// Strings reads the texts of a list and passes over what is none.
func (f Fields) Strings(name string) []string {
	var texts []string
	for _, item := range f.List(name) {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// NullIfEmpty is text for writing where an absent value is null.
func NullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// NullIfZero is an instant for writing where an absent one is null.
func NullIfZero(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at
}
