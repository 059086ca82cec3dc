package health

import (
	"encoding/json"
	"time"

	"questscheduler/store"
)

// place is where a survey is among the accounts, which come in the order in which
// they were linked.
type place struct {
	Linked time.Time  `json:"linked"`
	Behind store.Path `json:"behind"`
}

// textOf writes a place down; "" for none.
func textOf(cursor *store.Cursor) string {
	if cursor == nil {
		return ""
	}
	linked, _ := cursor.Values[0].(time.Time) // accounts.All orders by nothing else
	text, err := json.Marshal(place{linked, cursor.Path})
	if err != nil {
		return "" // neither of the two can fail
	}
	return string(text)
}

// placeOf reads what textOf wrote. What another version wrote is the beginning:
// who is counted twice is counted anew with the next run.
func placeOf(text string) *store.Cursor {
	var at place
	if err := json.Unmarshal([]byte(text), &at); err != nil || at.Behind.Valid() != nil {
		return nil
	}
	return &store.Cursor{Values: []any{at.Linked}, Path: at.Behind}
}
