package store_test

import (
	"reflect"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

func TestPlaceOf_IsReadAsTheCursorThatItWas(t *testing.T) {
	t.Parallel()
	cursor := &store.Cursor{Values: []any{time.Date(2026, 11, 21, 22, 0, 0, 123000, time.UTC)}, Path: "schedulers/one/journal/2"}
	text, err := store.EncodeCursor(cursor)
	if err != nil {
		t.Fatal(err)
	}
	if got := store.DecodeCursor(text, "journal"); !reflect.DeepEqual(got, cursor) {
		t.Errorf("%v became %v", cursor, got)
	}
	if got := store.DecodeCursor(text, "accounts"); got != nil {
		t.Errorf("a place of another collection is %v, want the beginning", got)
	}
	if text, err := store.EncodeCursor(nil); text != "" || err != nil {
		t.Errorf("the end is %q, %v", text, err)
	}
}

func TestPlaceOf_RefusesAnotherOrder(t *testing.T) {
	t.Parallel()
	for _, values := range [][]any{nil, {"a"}, {time.Time{}, time.Time{}}} {
		if _, err := store.EncodeCursor(&store.Cursor{Values: values, Path: "accounts/one"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", values, err)
		}
	}
}

func TestCursorAt_UnknownText_IsTheBeginning(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{}", "3 journals", `{"at":"yesterday","behind":"accounts/one"}`,
		`{"at":"2026-11-21T22:00:00Z","behind":"accounts"}`, `{"at":"2026-11-21T22:00:00Z","behind":""}`,
	} {
		if got := store.DecodeCursor(text, "accounts"); got != nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
