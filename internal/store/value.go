package store

import (
	"strings"
	"time"
	"unicode/utf8"

	"questscheduler/fault"
)

// Normalize returns a deep copy of data in the port's types, which every driver stores: nil,
// bool, int64, float64, string, time.Time (UTC, whole microseconds), []any and
// map[string]any. It converts int, int32, []string, []map[string]any and map[string]string.
// Invalid: other types, a list directly in a list, text that is not UTF-8, and times
// outside the years 1 to 9999.
func Normalize(data map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(data))
	for name, value := range data {
		if err := checkName(name); err != nil {
			return nil, err
		}
		normal, err := NormalizeValue(value)
		if err != nil {
			return nil, err
		}
		out[name] = normal
	}
	return out, nil
}

// checkName follows Firestore's limits on field names.
func checkName(name string) error {
	reserved := len(name) >= 4 && strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
	if name == "" || len(name) > 1500 || !utf8.ValidString(name) || reserved {
		return fault.New(fault.Invalid, "a field name is empty, not UTF-8, over 1500 bytes or reserved (__name__)")
	}
	return nil
}

// NormalizeValue is Normalize for one value.
func NormalizeValue(value any) (any, error) {
	switch v := value.(type) {
	case nil, bool, int64, float64:
		return value, nil
	case string:
		if !utf8.ValidString(v) {
			return nil, fault.New(fault.Invalid, "a text is not UTF-8")
		}
		return value, nil // not v, which would be boxed again
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case time.Time:
		instant := Instant(v)
		if instant.Year() < 1 || instant.Year() > 9999 {
			return nil, fault.New(fault.Invalid, "a time is outside the years 1 to 9999")
		}
		if instant == v {
			return value, nil
		}
		return instant, nil
	case map[string]any:
		return Normalize(v)
	case map[string]string:
		out := make(map[string]any, len(v))
		for name, text := range v {
			out[name] = text
		}
		return Normalize(out)
	case []any:
		return normalizeList(v)
	case []string:
		return normalizeList(toList(v))
	case []map[string]any:
		return normalizeList(toList(v))
	default:
		return nil, fault.Newf(fault.Invalid, "a value of type %T cannot be stored", value)
	}
}

// Instant is t as the store keeps it: UTC, truncated to microseconds, without a monotonic
// reading.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func normalizeList(list []any) ([]any, error) {
	out := make([]any, len(list))
	for i, value := range list {
		normal, err := NormalizeValue(value)
		if err != nil {
			return nil, err
		}
		if _, nested := normal.([]any); nested {
			return nil, fault.New(fault.Invalid, "a list directly in a list cannot be stored")
		}
		out[i] = normal
	}
	return out, nil
}

func toList[T any](items []T) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}
