package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/internal/store"
)

// Paging is the input of lists, for embedding.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"The maximum number of items; a page also ends before its items exceed 1 MiB."`
	Cursor string `query:"cursor" maxLength:"4096" doc:"Where to continue: meta.next_cursor of the previous page."`
}

// listing is a list that is served in pages: its name and where its documents are. It
// is sorted by one field, or by the ids.
type listing struct {
	name       string
	parent     store.Path // "" at the top
	collection string
	within     string // the collection of the documents above, for a list across all of them
	byID       bool   // sorted by id; cursors hold no value of a field
	// also is where the other documents of a list are that is merged of two (store.Merged).
	also *listing
}

// cursorToken is a cursor in transit. It holds nothing that the list does not show.
// The path is rebuilt from the listing, so a forged one reads nothing else.
type cursorToken struct {
	List  string `json:"l"`           // listing.mark
	Value any    `json:"v"`           // of the field it is sorted by; a time is {"t": microseconds as text}
	ID    string `json:"d"`           // the document's
	In    string `json:"i,omitempty"` // that of the document above, with listing.within
}

// mark identifies a listing, which refuses the cursors of others.
func (l listing) mark() string {
	return ids.Of(l.name, string(l.parent)).Hex(6)
}

// token encodes a page's next cursor; "" at the list's end.
func (l listing) token(next *store.Cursor) (string, error) {
	if next == nil {
		return "", nil
	}
	if l.also != nil && next.Path.Collection() == l.also.collection {
		return l.also.token(next)
	}
	token := cursorToken{List: l.mark(), ID: next.Path.ID()}
	switch {
	case l.byID != (len(next.Values) == 0) || len(next.Values) > 1:
		return "", errors.New("listing declares another order than its query")
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

// cursor decodes where a page begins; nil for the first. Invalid: not a cursor of this
// list.
func (l listing) cursor(text string) (*store.Cursor, error) {
	if text == "" {
		return nil, nil
	}
	content, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, errCursor()
	}
	var token cursorToken
	if json.Unmarshal(content, &token) != nil {
		return nil, errCursor()
	}
	if l.also != nil && token.List == l.also.mark() {
		return l.also.cursor(text)
	}
	if token.List != l.mark() || !isDocumentID(token.ID) || (l.within == "") == isDocumentID(token.In) {
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
