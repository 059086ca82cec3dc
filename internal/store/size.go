package store

import (
	"errors"
	"strings"
	"time"

	"questscheduler/fault"
)

// Firestore's limits, which every driver enforces. Bytes are counted as Firestore does.
const (
	// MaxDocument limits a document's bytes, its path included.
	MaxDocument = 1 << 20
	// MaxValue limits the bytes of one field's value.
	MaxValue = MaxDocument - 89
	// MaxDepth limits the nesting of maps and lists.
	MaxDepth = 20
	// MaxTransaction limits the bytes of a transaction's writes. Firestore takes
	// requests of 10 MiB and its emulator of 4 MiB, with longer names.
	MaxTransaction = 3 << 20
)

// CheckSize is TooLarge for a document with normalised data over Firestore's limits.
func CheckSize(path Path, data map[string]any) error {
	if data == nil {
		return nil
	}
	fields, largest, depth := 0, 0, 0
	for name, value := range data {
		bytes, levels := measure(value)
		fields += len(name) + 1 + bytes
		largest, depth = max(largest, bytes), max(depth, levels)
	}
	switch {
	case documentSize(path, fields) > MaxDocument:
		return fault.Wrap(fault.TooLarge, errors.New(string(path)), "a document is over 1 MiB; store less in it")
	case largest > MaxValue:
		return fault.Wrap(fault.TooLarge, errors.New(string(path)), "a field of a document is over 1 MiB less 89 bytes; store less in it")
	case depth > MaxDepth: // the document itself is a map and does not count
		return fault.Wrap(fault.TooLarge, errors.New(string(path)), "a document has maps or lists more than 20 deep")
	}
	return nil
}

// DocumentSize is what a document with these normalised fields counts towards MaxDocument.
func DocumentSize(path Path, data map[string]any) int { return documentSize(path, Size(data)) }

func documentSize(path Path, fields int) int { return measurePath(path) + 32 + fields }

// Size is what a normalised value counts towards MaxDocument and MaxValue.
func Size(value any) int {
	size, _ := measure(value)
	return size
}

// WriteSize is what a write with these normalised fields or updates counts towards
// MaxTransaction.
func WriteSize(path Path, data map[string]any, updates []Update) int {
	size := Size(data)
	for _, update := range updates {
		for _, name := range update.Path {
			size += len(name) + 1
		}
		size += Size(update.Value)
	}
	return measurePath(path) + size
}

func measurePath(path Path) int {
	size := 16
	for part := range strings.SplitSeq(string(path), "/") {
		size += len(part) + 1
	}
	return size
}

// measure returns a value's bytes, as Firestore counts them, and its nesting.
func measure(value any) (size, depth int) {
	switch v := value.(type) {
	case string:
		return len(v) + 1, 0
	case int64, float64, time.Time:
		return 8, 0
	case []any:
		for _, item := range v {
			s, d := measure(item)
			size, depth = size+s, max(depth, d)
		}
		return size, depth + 1
	case map[string]any:
		for name, field := range v {
			s, d := measure(field)
			size, depth = size+len(name)+1+s, max(depth, d)
		}
		return size, depth + 1
	default:
		return 1, 0
	}
}
