package discord

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// Limits of a message, in characters and pieces.
const (
	maxContent = 2000
	maxNonce   = 25
)

// form is the body of a post or an edit. A nil pointer or slice is a field
// that was not sent; null counts as empty where it does for Discord.
type form struct {
	content    *string
	embeds     []json.RawMessage
	components []json.RawMessage
	flags      *int
	tts        bool
	nonce      json.RawMessage
	enforce    bool
	allowed    *allowedMentions // nil: not sent, or null
}

// readForm reads and checks a body. An error is the whole refusal.
func readForm(r *http.Request) (form, error) {
	fields, err := readFields(r)
	if err != nil {
		return form{}, err
	}
	return newForm(fields)
}

// newForm checks the fields of a message. An error is the whole refusal.
func newForm(fields map[string]json.RawMessage) (form, error) {
	f, wrong := form{}, formErrors{}
	if raw, sent := fields["content"]; sent {
		f.content = new(string)
		decode(raw, f.content, wrong, "STRING_TYPE_CONVERT", "Could not interpret value as string.", "content")
		if utf8.RuneCountInString(*f.content) > maxContent {
			wrong.tooLong(maxContent, "content")
		}
	}
	f.embeds = readList(fields, "embeds", wrong)
	f.components = readList(fields, "components", wrong)
	if raw, sent := fields["flags"]; sent {
		f.flags = new(int)
		decode(raw, f.flags, wrong, "NUMBER_TYPE_COERCE", "Value is not int.", "flags")
	}
	decode(fields["tts"], &f.tts, wrong, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.", "tts")
	decode(fields["enforce_nonce"], &f.enforce, wrong, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.", "enforce_nonce")
	f.nonce = readNonce(fields["nonce"], wrong)
	f.allowed = readAllowedMentions(fields["allowed_mentions"], wrong)
	checkEmbeds(f.embeds, wrong)
	if wrong["components"] == nil && (f.flags == nil || *f.flags&isComponentsV2 == 0) {
		checkComponents(f.components, wrong)
	}
	return f, wrong.problem()
}

// readFields reads a JSON object.
func readFields(r *http.Request) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	return fields, readBody(r, &fields)
}

// readBody reads JSON. Attachments, which would come as multipart, are not
// simulated.
func readBody(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		wrong := formErrors{}
		wrong.add("CONTENT_TYPE_INVALID", `Expected "Content-Type" header to be "application/json".`)
		return wrong.problem()
	}
	body, err := io.ReadAll(r.Body)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return coded(codeTooLarge)
	}
	if err != nil {
		return coded(codeInvalidJSON)
	}
	if json.Unmarshal(body, into) != nil {
		return coded(codeInvalidJSON)
	}
	return nil
}

// decode reads one field; one that was not sent, or null, stays as it is.
func decode(raw json.RawMessage, into any, wrong formErrors, code, message string, path ...string) {
	if len(raw) > 0 && json.Unmarshal(raw, into) != nil {
		wrong.add(code, message, path...)
	}
}

// readList reads a list of objects: nil where it was not sent, else not nil.
func readList(fields map[string]json.RawMessage, name string, wrong formErrors) []json.RawMessage {
	raw, sent := fields[name]
	if !sent {
		return nil
	}
	list := []json.RawMessage{}
	decode(raw, &list, wrong, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType", name)
	if list == nil {
		list = []json.RawMessage{} // null
	}
	for i, item := range list {
		if !strings.HasPrefix(string(item), "{") {
			wrong.add("DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType", name, index(i))
		}
	}
	return list
}

// readNonce checks a nonce: a whole number or a short text.
func readNonce(raw json.RawMessage, wrong formErrors) json.RawMessage {
	var text string
	var number int64
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case json.Unmarshal(raw, &text) == nil:
		if utf8.RuneCountInString(text) > maxNonce {
			wrong.tooLong(maxNonce, "nonce")
		}
	case json.Unmarshal(raw, &number) != nil:
		wrong.add("NONCE_TYPE_INVALID", "Must be a string or an integer.", "nonce")
	}
	return raw
}

// nonceText is what nonces are compared by; "" is none.
func nonceText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
