// Package transfer moves all documents from one store to another through a file. It knows no
// polls.
//
// The file is JSON, one object a line: a head, the documents, and a foot with counts and sums, by
// which a file that was cut or changed is noticed (format.go). Memory does not grow with the
// number of documents.
package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/typedjson"
)

// Source gives all documents of a store.
type Source interface {
	store.Reader
	// EachDocument calls do with every document, all of one state. An error of do ends it and is
	// returned unchanged.
	EachDocument(ctx context.Context, do func(store.Document) error) error
}

// Collection says what is in the collections of one name.
type Collection struct {
	Documents int `json:"documents"`
	// Sum adds up a part of each document's hash: it does not depend on their order.
	Sum uint64 `json:"sum,string"`
}

// Contents say what is in a file or a store.
type Contents struct {
	Documents   int                   `json:"documents"`
	Collections map[string]Collection `json:"collections"`
}

func newContents() Contents { return Contents{Collections: map[string]Collection{}} }

// add counts a document by its text.
func (c *Contents) add(path store.Path, text string) {
	hash := sha256.Sum256([]byte(string(path) + "\n" + text))
	of := c.Collections[path.Collection()]
	of.Documents++
	of.Sum += binary.BigEndian.Uint64(hash[:])
	c.Collections[path.Collection()] = of
	c.Documents++
}

// differ lists the collections in which there is something else.
func (c Contents) differ(other Contents) (names []string) {
	all := maps.Clone(c.Collections)
	maps.Copy(all, other.Collections)
	for name := range all {
		if c.Collections[name] != other.Collections[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// textOf is a document's text. Invalid: a value of a type that only other programs write.
func textOf(document store.Document) (string, error) {
	data, err := store.Normalize(document.Data)
	if err != nil {
		return "", fault.Wrap(fault.Invalid, fmt.Errorf("%s: %w", document.Path, err),
			"a document has a value of a type that this program does not know (bytes, a reference or a place); remove it, "+
				"or copy the database with Google's tools")
	}
	return typedjson.Encode(data)
}

// markPath is the document that an import leaves in its target. It belongs to no export.
const markPath = store.Path("transfers/import")

// Unfinished is a Conflict while an import into the store has begun and not ended. It costs one
// read.
func Unfinished(ctx context.Context, documents store.Reader) error {
	mark, err := documents.Get(ctx, markPath)
	if err != nil {
		return err
	}
	return unfinished(mark)
}

func unfinished(mark store.Document) error {
	if !mark.Exists() || store.Fields(mark.Data).Bool("done") {
		return nil
	}
	return fault.New(fault.Conflict,
		`an import into the store has not ended; run "questscheduler import" with the same file again, which goes on where it stopped`)
}

// pass passes the documents that are moved to do, with their texts, and the mark of an import to marked.
func pass(
	ctx context.Context, from Source, marked func(store.Document) error, do func(document store.Document, text string) error,
) error {
	return from.EachDocument(ctx, func(document store.Document) error {
		if document.Path == markPath {
			return marked(document)
		}
		text, err := textOf(document)
		if err != nil {
			return err
		}
		return do(document, text)
	})
}

// report calls progress at every batch of documents.
func report(progress func(step string, documents int), step string, documents int) {
	if documents%batchDocuments == 0 {
		progress(step, documents)
	}
}
