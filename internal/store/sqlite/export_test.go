package sqlite

import (
	"context"
	"database/sql"
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
