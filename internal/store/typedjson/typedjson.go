// Package typedjson is the text form of documents: JSON in which every value has its type,
// readable with any tool. Exports hold it, and data files hold it packed.
package typedjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Marks keep types that JSON lacks: a double has a point, an exponent or, where it is not
// finite, the form {"$double":"NaN"}; a time is {"$time":"2026-03-01T17:00:00.000001Z"}. A
// field name that begins with $ gets one more.
const (
	timeMark   = "$time"
	doubleMark = "$double"
)

// Encode writes normalised fields (store.Normalize) on one line; equal fields give equal text.
func Encode(data map[string]any) (string, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(marked(data)); err != nil {
		return "", fmt.Errorf("encode a document: %w", err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func marked(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			if strings.HasPrefix(name, "$") {
				name = "$" + name
			}
			out[name] = marked(field)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = marked(item)
		}
		return out
	case float64:
		return markedDouble(v)
	case time.Time:
		return map[string]any{timeMark: v.Format(time.RFC3339Nano)}
	default:
		return v
	}
}

func markedDouble(v float64) any {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return map[string]any{doubleMark: text}
	case !strings.ContainsAny(text, ".e"):
		text += ".0"
	}
	return json.Number(text)
}

// Decode is the inverse of Encode. The caller owns the result.
func Decode(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var raw map[string]any
	if err := decoder.Decode(&raw); err != nil {
		return nil, fmt.Errorf("decode a document: %w", err)
	}
	if raw == nil {
		return nil, errors.New("decode a document: it is null")
	}
	return unmarkFields(raw)
}

// unmark replaces marks by their values; it changes maps and lists in place.
func unmark(value any) (any, error) {
	switch v := value.(type) {
	case json.Number:
		return number(v.String())
	case []any:
		for i, item := range v {
			plain, err := unmark(item)
			if err != nil {
				return nil, err
			}
			v[i] = plain
		}
		return v, nil
	case map[string]any:
		if text, ok := v[timeMark].(string); ok {
			return time.Parse(time.RFC3339Nano, text)
		}
		if text, ok := v[doubleMark].(string); ok {
			return strconv.ParseFloat(text, 64)
		}
		return unmarkFields(v)
	default:
		return v, nil
	}
}

func unmarkFields(fields map[string]any) (map[string]any, error) {
	var renamed []string
	for name, field := range fields {
		plain, err := unmark(field)
		if err != nil {
			return nil, fmt.Errorf("decode a document: %w", err)
		}
		fields[name] = plain
		if strings.HasPrefix(name, "$") {
			renamed = append(renamed, name)
		}
	}
	if renamed == nil {
		return fields, nil
	}
	out := make(map[string]any, len(fields))
	for name, field := range fields {
		out[strings.TrimPrefix(name, "$")] = field
	}
	return out, nil
}

func number(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		return strconv.ParseFloat(text, 64)
	}
	return strconv.ParseInt(text, 10, 64)
}
