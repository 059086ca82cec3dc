// Package typedjson is the text form of documents: JSON in which every value has its type,
// readable with any tool. Exports hold it, and data files hold it packed.
package typedjson

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
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
	text, err := appendMap(make([]byte, 0, usualText), data)
	if err != nil {
		return "", fmt.Errorf("encode a document: %w", err)
	}
	return string(text), nil
}

// usualText is the capacity, in bytes, that most texts fit in.
const usualText = 1500

func appendValue(text []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(text, "null"...), nil
	case bool:
		return strconv.AppendBool(text, v), nil
	case int64:
		return strconv.AppendInt(text, v, 10), nil
	case float64:
		return appendDouble(text, v), nil
	case time.Time:
		text = append(text, `{"`+timeMark+`":"`...)
		return append(v.AppendFormat(text, time.RFC3339Nano), `"}`...), nil
	case string:
		return jsontext.AppendQuote(text, v)
	case []any:
		return appendList(text, v)
	case map[string]any:
		return appendMap(text, v)
	}
	return nil, fmt.Errorf("a field is a %T", value)
}

func appendDouble(text []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Appendf(text, `{"%s":"%v"}`, doubleMark, v)
	}
	begin := len(text)
	text = strconv.AppendFloat(text, v, 'g', -1, 64)
	if !bytes.ContainsAny(text[begin:], ".e") {
		text = append(text, ".0"...)
	}
	return text
}

func appendList(text []byte, list []any) (_ []byte, err error) {
	text = append(text, '[')
	for i, item := range list {
		if i > 0 {
			text = append(text, ',')
		}
		text, err = appendValue(text, item)
		if err != nil {
			return nil, err
		}
	}
	return append(text, ']'), nil
}

func appendMap(text []byte, fields map[string]any) (_ []byte, err error) {
	text = append(text, '{')
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			text = append(text, ',')
		}
		value := fields[name]
		if strings.HasPrefix(name, "$") {
			name = "$" + name
		}
		text, err = jsontext.AppendQuote(text, name)
		if err != nil {
			return nil, err
		}
		text, err = appendValue(append(text, ':'), value)
		if err != nil {
			return nil, err
		}
	}
	return append(text, '}'), nil
}

// Decode is the inverse of Encode. The caller owns the result.
func Decode(text []byte) (map[string]any, error) {
	value, err := read(jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)))
	if err != nil {
		return nil, fmt.Errorf("decode a document: %w", err)
	}
	fields, is := value.(map[string]any)
	if !is {
		return nil, errors.New("decode a document: it is no map")
	}
	return fields, nil
}

func read(from *jsontext.Decoder) (any, error) {
	token, err := from.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return readMap(from)
	case '[':
		return readList(from)
	case '"':
		return token.String(), nil
	case '0':
		return number(token.String())
	case 'n':
		return nil, nil
	default:
		return token.Bool(), nil
	}
}

func readList(from *jsontext.Decoder) (any, error) {
	list := []any{}
	for from.PeekKind() != ']' {
		item, err := read(from)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := from.ReadToken()
	return list, err
}

// readMap reads a map, or what a mark makes of it.
func readMap(from *jsontext.Decoder) (any, error) {
	fields := map[string]any{}
	var unmarked any
	for from.PeekKind() != '}' {
		token, err := from.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		field, err := read(from)
		if err != nil {
			return nil, err
		}
		text, is := field.(string)
		if !is || name != timeMark && name != doubleMark {
			fields[strings.TrimPrefix(name, "$")] = field
			continue
		}
		unmarked, err = unmark(name, text)
		if err != nil {
			return nil, err
		}
	}
	if _, err := from.ReadToken(); err != nil {
		return nil, err
	}
	if unmarked != nil {
		return unmarked, nil
	}
	return fields, nil
}

func unmark(mark, text string) (any, error) {
	if mark == timeMark {
		return time.Parse(time.RFC3339Nano, text)
	}
	return strconv.ParseFloat(text, 64)
}

func number(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		return strconv.ParseFloat(text, 64)
	}
	return strconv.ParseInt(text, 10, 64)
}
