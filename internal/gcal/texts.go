package gcal

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// texts makes the short strings of an event parts of one text, so that they are one
// allocation. Any of them that is kept keeps that text, some hundred bytes, and nothing
// else of the page.
type texts struct {
	gathered []byte
	parts    []textPart
}

// textPart is a string that ends at a byte of the text, where the next one begins.
type textPart struct {
	into *string
	end  int
}

// read reads a string, which settle sets; null sets nothing.
func (t *texts) read(from *jsontext.Decoder, into *string) error {
	value, err := from.ReadValue()
	if err != nil {
		return err
	}
	switch value.Kind() {
	case '"':
		t.gathered = appendString(t.gathered, value)
		t.parts = append(t.parts, textPart{into, len(t.gathered)})
		return nil
	case 'n':
		return nil
	default:
		return &json.SemanticError{}
	}
}

// settle sets the strings that were read since the last time.
func (t *texts) settle() {
	text, begin := string(t.gathered), 0
	for _, part := range t.parts {
		*part.into, begin = text[begin:part.end], part.end
	}
	t.gathered, t.parts = t.gathered[:0], t.parts[:0]
}

// appendString appends what a JSON string stands for. What is no UTF-8 becomes U+FFFD.
func appendString(to []byte, quoted jsontext.Value) []byte {
	plain := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return append(to, plain...)
	}
	to, _ = jsontext.AppendUnquote(to, quoted) // fails for what is no UTF-8 alone, and appends it
	return to
}

// isSpelling reports whether a quoted name is one that encoding/json accepts for a field.
func isSpelling(quoted jsontext.Value, field string) bool {
	return strings.EqualFold(string(appendString(nil, quoted)), field)
}

// eachMember reads an object. read gets each name, in quotes and valid until it reads on,
// and reads the value.
func eachMember(from *jsontext.Decoder, read func(name jsontext.Value) error) error {
	if _, err := from.ReadToken(); err != nil {
		return err
	}
	for from.PeekKind() != '}' {
		name, err := from.ReadValue()
		if err != nil {
			return err
		}
		if err := read(name); err != nil {
			return err
		}
	}
	_, err := from.ReadToken()
	return err
}
