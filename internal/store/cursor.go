package store

import (
	"encoding/json"
	"time"

	"questscheduler/fault"
)

// place is the stored form of a cursor in an order by one time.
type place struct {
	At     time.Time `json:"at"`
	Behind Path      `json:"behind"`
}

// EncodeCursor encodes a cursor of a query ordered by one time, for a job that another process
// continues; nil is "". Invalid for a cursor of another order.
func EncodeCursor(cursor *Cursor) (string, error) {
	if cursor == nil {
		return "", nil
	}
	if len(cursor.Values) == 1 {
		if at, ok := cursor.Values[0].(time.Time); ok {
			text, err := json.Marshal(place{at, cursor.Path})
			return string(text), err
		}
	}
	return "", fault.New(fault.Invalid, "a cursor is not of an order by one time")
}

// DecodeCursor decodes what PlaceOf wrote for documents of a collection. Anything else is nil,
// the beginning.
func DecodeCursor(text, collection string) *Cursor {
	var at place
	if json.Unmarshal([]byte(text), &at) != nil || at.Behind.Valid() != nil || at.Behind.Collection() != collection {
		return nil
	}
	return &Cursor{Values: []any{at.At}, Path: at.Behind}
}
