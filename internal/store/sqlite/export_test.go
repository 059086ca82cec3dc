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
