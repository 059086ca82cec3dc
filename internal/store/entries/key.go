// Package entries turns documents and declared queries into sorted keys, for drivers that
// answer queries from an ordered list of bytes.
//
// An index has entries for each document that has all of its fields. An entry's key encodes
// the fields' values and the document's path, so that the order of bytes is Firestore's
// order of values. A bound query is then one range of keys (several, with In), read from
// front to back.
package entries

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// The first byte of a value is its type, in Firestore's order of types. No encoding is a
// prefix of another, so that values can be concatenated and inverted.
const (
	tagEnd    byte = 0x01 // ends a list or a map, below every value in it
	tagPair   byte = 0x02 // begins a field of a map
	tagNull   byte = 0x10
	tagBool   byte = 0x20
	tagNumber byte = 0x30
	tagTime   byte = 0x40
	tagText   byte = 0x50
	tagList   byte = 0x60
	tagMap    byte = 0x70
)

// AppendValue appends the key of a normalised value. Numbers that are equal
// have equal keys whether they are integers or doubles.
func AppendValue(key []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(key, tagNull)
	case bool:
		if v {
			return append(key, tagBool, 1)
		}
		return append(key, tagBool, 0)
	case int64:
		return appendInteger(append(key, tagNumber), v)
	case float64:
		return appendDouble(append(key, tagNumber), v, 0)
	case time.Time:
		return binary.BigEndian.AppendUint64(append(key, tagTime), uint64(v.UnixMicro())^(1<<63))
	case string:
		return appendText(append(key, tagText), v)
	case []any:
		key = append(key, tagList)
		for _, item := range v {
			key = AppendValue(key, item)
		}
		return append(key, tagEnd)
	case map[string]any:
		key = append(key, tagMap)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			key = AppendValue(appendText(append(key, tagPair), name), v[name])
		}
		return append(key, tagEnd)
	}
	// Normalised data holds nothing else: a bug of a driver.
	panic("entries: a value was not normalised")
}

// appendInteger writes the largest double that is not above n, and the difference: integers
// then compare exactly with doubles, also beyond 2^53.
func appendInteger(key []byte, n int64) []byte {
	double := float64(n)
	if double >= math.MaxInt64 || int64(double) > n {
		double = math.Nextafter(double, math.Inf(-1))
	}
	return appendDouble(key, double, uint16(n-int64(double)))
}

// appendDouble writes ten bytes. Not-a-number comes before all numbers, and
// the two zeros are one.
func appendDouble(key []byte, double float64, more uint16) []byte {
	var bits uint64
	switch {
	case math.IsNaN(double):
	case double == 0:
		bits = 1 << 63
	case double < 0:
		bits = ^math.Float64bits(double)
	default:
		bits = math.Float64bits(double) | 1<<63
	}
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(key, bits), more)
}

// appendText writes UTF-8 bytes and an end mark that is below any further byte.
func appendText(key []byte, text string) []byte {
	for {
		before, behind, found := strings.Cut(text, "\x00")
		key = append(key, before...)
		if !found {
			return append(key, 0, 1)
		}
		key, text = append(key, 0, 0xFF), behind
	}
}

// appendPath writes a path part by part, as Firestore orders paths.
func appendPath(key []byte, parts ...string) []byte {
	for _, part := range parts {
		key = appendText(append(key, tagPair), part)
	}
	return append(key, tagEnd)
}

// invert changes a component, in place, for a descending order.
func invert(component []byte) {
	for i, b := range component {
		component[i] = ^b
	}
}

// after is the smallest key above every key with the prefix; nil where there is none.
func after(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			end := slices.Clone(prefix[:i+1])
			end[i]++
			return end
		}
	}
	return nil
}
