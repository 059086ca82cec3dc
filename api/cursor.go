package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/store"
)

// Paging is how much of a list is asked for; routes of lists embed it.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many at most; a page also ends before its items have more than 1 MiB."`
	Cursor string `query:"cursor" maxLength:"4096" doc:"Where to go on: meta.next_cursor of the page before."`
}

// listing is a list that is given in pages: its name and where its documents
// stand. It is sorted by one field, or by the ids.
type listing struct {
	name       string
	parent     store.Path // "" at the top
	collection string
	// within, where set, is the collection of the documents below which those of
	// the listing stand, one of each such document's: its ids go before theirs.
	within string
	byID   bool // sorted by the documents' ids; cursors hold no value of a field
}

// cursorToken is a place in a listing, as it travels. It holds nothing that the
// list itself does not show, and lets nobody see more than that: the path is
// made again from the listing that is asked.
type cursorToken struct {
	List  string `json:"l"`           // the mark of the listing
	Value any    `json:"v"`           // of the field it is sorted by; a time as its microseconds, in a text below "t"
	ID    string `json:"d"`           // the document's
	In    string `json:"i,omitempty"` // that of the document above it, where the listing is within a collection
}

// mark tells listings apart, so that a cursor of one is refused by another.
func (l listing) mark() string {
	sum := sha256.Sum256([]byte(l.name + "\x00" + string(l.parent)))
	return hex.EncodeToString(sum[:6])
}

// token makes a page's next cursor; "" at the list's end.
func (l listing) token(next *store.Cursor) (string, error) {
	if next == nil {
		return "", nil
	}
	token := cursorToken{List: l.mark(), ID: next.Path.ID()}
	switch {
	case l.byID != (len(next.Values) == 0) || len(next.Values) > 1:
		return "", errors.New("a listing is not sorted as it says")
	case !l.byID:
		token.Value = next.Values[0]
	}
	if l.within != "" {
		token.In = next.Path.Parent().ID()
	}
	if at, ok := token.Value.(time.Time); ok {
		token.Value = map[string]any{"t": strconv.FormatInt(at.UnixMicro(), 10)}
	}
	text, err := json.Marshal(token)
	return base64.RawURLEncoding.EncodeToString(text), err
}

// cursor reads where a page begins; nil for the first. Invalid for what this
// list never gave.
func (l listing) cursor(text string) (*store.Cursor, error) {
	if text == "" {
		return nil, nil
	}
	content, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errCursor()
	}
	var token cursorToken
	if json.Unmarshal(content, &token) != nil || token.List != l.mark() || !isDocumentID(token.ID) || (l.within == "") == isDocumentID(token.In) {
		return nil, errCursor()
	}
	if l.byID {
		if token.Value != nil {
			return nil, errCursor()
		}
		return &store.Cursor{Path: l.path(token)}, nil
	}
	if fields, ok := token.Value.(map[string]any); ok {
		digits, _ := fields["t"].(string)
		micros, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || len(fields) != 1 {
			return nil, errCursor()
		}
		token.Value = time.UnixMicro(micros).UTC()
	}
	if _, err := store.NormalizeValue(token.Value); err != nil {
		return nil, errCursor()
	}
	return &store.Cursor{Values: []any{token.Value}, Path: l.path(token)}, nil
}

// path is where a document of the listing stands.
func (l listing) path(token cursorToken) store.Path {
	switch {
	case l.within != "":
		return store.Doc(l.within, token.In).Doc(l.collection, token.ID)
	case l.parent == "":
		return store.Doc(l.collection, token.ID)
	default:
		return l.parent.Doc(l.collection, token.ID)
	}
}

func errCursor() error {
	return fault.Field("cursor", "must be the next_cursor of a page of this list; leave it out to begin anew")
}
