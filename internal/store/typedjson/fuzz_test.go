package typedjson

import (
	"testing"

	"questscheduler/internal/store"
)

// FuzzDecodeDocument: a text that a data file may hold, damaged or written by
// other hands, is an error or a document; one that can be stored comes back the
// same, and is written in one way alone.
func FuzzDecodeDocument(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"a":1,"b":1.0,"c":1e300,"d":{"$time":"2026-03-01T17:00:00.000001Z"},"e":{"$double":"NaN"},"$$f":{"$$time":"x"}}`,
		`{"a":{"$time":"x"}}`, `{"a":{"$time":"2026-03-01T17:00:00Z","b":1}}`, `{"a":99999999999999999999}`, `{"$":1,"":2}`,
		`{"$a":1,"$$a":2}`, `{"a":1}{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := Decode(text)
		if err != nil {
			return
		}
		data, err := store.Normalize(first)
		if err != nil {
			return // no driver would have written it
		}
		written, err := Encode(data)
		if err != nil {
			t.Fatalf("%v was read and cannot be written: %v", data, err)
		}
		second, err := Decode([]byte(written))
		if err != nil {
			t.Fatalf("%s was written and cannot be read: %v", written, err)
		}
		again, err := Encode(second)
		if err != nil || again != written {
			t.Fatalf("%s is written again as %s, %v", written, again, err)
		}
		normal, err := store.Normalize(second)
		if err != nil {
			t.Fatalf("%v was stored and is read as what no document holds: %v", second, err)
		}
		if text, err := Encode(normal); err != nil || text != written {
			t.Fatalf("%s was stored and is read as %s, %v", written, text, err)
		}
	})
}
