package sqlite

import (
	"context"
	"database/sql"
	"strconv"

	"questscheduler/internal/store"
)

// StepDocuments is how many documents a step of the building of indexes takes.
const StepDocuments = stepDocuments

// Writer is the writing connection. Its transactions block every transaction of the store.
func (s *Store) Writer() *sql.DB { return s.writer }

// Held opens a file whose new indexes BuildStep alone builds.
func Held(options Options) Options {
	options.held = true
	return options
}

// BuildStep takes a step of the building of indexes. more: they are unfinished still.
func (s *Store) BuildStep(ctx context.Context) (more bool, err error) { return s.buildStep(ctx) }

// HoldRest has the queries of unfinished indexes wait until release is called.
func (s *Store) HoldRest() (release func()) {
	s.rest <- struct{}{}
	return func() { <-s.rest }
}

// Built waits until the background has no step left.
func (s *Store) Built() { <-s.build.ended }

// Pack and Unpack are the form of documents in the file, and Dictionary is what they may repeat.
func Pack(text string) []byte              { return pack(text) }
func Unpack(stored []byte) ([]byte, error) { return unpack(stored) }
func Dictionary() []byte                   { return dictionary }

// MostRecent and MostRecentBytes bound the documents that are kept in memory.
const (
	MostRecent      = mostRecent
	MostRecentBytes = mostRecentBytes
)

// Recent is how many documents are kept in memory, and whether that one is.
func (s *Store) Recent(path store.Path) (count int, kept bool) {
	_, kept = s.commits.recent.get(path)
	s.commits.recent.mu.RLock()
	defer s.commits.recent.mu.RUnlock()
	return len(s.commits.recent.documents), kept
}

// ReadInABatch is how many of so many documents that its members read a batch has in memory.
func ReadInABatch(count int) int {
	b := newBatched()
	for i := range count {
		b.read(store.Doc("notes", strconv.Itoa(i)), nil)
	}
	return len(b.documents)
}
