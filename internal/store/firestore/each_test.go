package firestore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
)

const scriptedRoot = "projects/demo-scripted/databases/(default)/documents/"

// TestEachDocument_BrokenOff_GoesOnBehindTheLast: in the state of the last document,
// up to which those before it did not change.
func TestEachDocument_BrokenOff_GoesOnBehindTheLast(t *testing.T) {
	t.Parallel()
	server := &scripted{pages: [][]string{{scriptedRoot + "books/a", scriptedRoot + "books/a/pages/1"}, nil, {scriptedRoot + "books/b"}}}
	server.fail("query", 2, codes.Unavailable, "")
	s := server.start(t, firestore.Options{})
	var read []store.Path
	err := s.EachDocument(t.Context(), func(document store.Document) error {
		read = append(read, document.Path)
		return nil
	})
	if want := []store.Path{"books/a", "books/a/pages/1", "books/b"}; err != nil || !slices.Equal(read, want) {
		t.Fatalf("it read %v, want %v (%v)", read, want, err)
	}
	if server.queries[0].GetReadTime() != nil {
		t.Error("the first request is of an earlier state")
	}
	for _, query := range server.queries[1:] {
		behind := query.GetStructuredQuery().GetStartAt()
		last := behind.GetValues()[0].GetReferenceValue()
		if query.GetReadTime().GetSeconds() != 8 || behind.GetBefore() || last != scriptedRoot+"books/a/pages/1" {
			t.Errorf("it goes on with %v", query)
		}
	}
	if len(server.queries) != 3 {
		t.Errorf("it took %d requests, want 3", len(server.queries))
	}
}

func TestEachDocument_ErrorOfItsCaller_IsReturned(t *testing.T) {
	t.Parallel()
	server := &scripted{pages: [][]string{{scriptedRoot + "books/a", scriptedRoot + "books/b"}}}
	s := server.start(t, firestore.Options{})
	enough, calls := errors.New("enough"), 0
	err := s.EachDocument(t.Context(), func(store.Document) error { calls++; return enough })
	if err != enough || calls != 1 || len(server.queries) != 1 { //nolint:errorlint // unchanged
		t.Errorf("after %d calls and %d requests it returns %v", calls, len(server.queries), err)
	}
}

func TestEachDocument_Refused_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := (&scripted{}).fail("query", 1, codes.PermissionDenied, "").start(t, firestore.Options{})
	err := s.EachDocument(t.Context(), func(store.Document) error { return nil })
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "roles/datastore.user") {
		t.Errorf("it returns %v", err)
	}
}
