package google

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// object is a JSON object whose fields have an order: resources come out the
// same at every run, and a listing of thousands without a map for each.
type object []field

// field is one member of an object. Its value is a string, bool, int, int64,
// json.RawMessage (compact), object or []object.
type field struct {
	name  string
	value any
}

func appendObject(b []byte, o object) (_ []byte, err error) {
	b = append(b, '{')
	for i, f := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, f.name...)
		b = append(b, '"', ':')
		b, err = appendValue(b, f.value)
		if err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendValue(b []byte, value any) (_ []byte, err error) {
	switch v := value.(type) {
	case string:
		return appendString(b, v)
	case json.RawMessage:
		return append(b, v...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case object:
		return appendObject(b, v)
	case []object:
		b = append(b, '[')
		for i, o := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b, err = appendObject(b, o)
			if err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	default:
		return nil, fmt.Errorf("a %T has no place in an answer", value)
	}
}

// appendString leaves to encoding/json what needs an escape; most texts here
// are ids and instants, which need none.
func appendString(b []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			return append(b, quoted...), err
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"'), nil
}

// writeJSON answers with an object; nil is an answer without a body.
func writeJSON(w http.ResponseWriter, status int, o object) {
	if o == nil {
		w.WriteHeader(status)
		return
	}
	body, err := appendObject(make([]byte, 0, 1024), o)
	if err != nil {
		// Every object is built by this package of the types above.
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
	w.WriteHeader(status)
	// The status is out; a caller that has gone away loses only the body.
	_, _ = w.Write(append(body, '\n'))
}
