package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Firestore takes more documents in a commit; with their entries in its indexes they may be over
// its limits all the same, and then a batch is halved.
const (
	batchDocuments = 500
	batchBytes     = store.MaxTransaction / 2
)

// attempts is how often a batch is tried whose commit is not answered.
const attempts = 5

// Target is a store that documents are written to.
type Target interface {
	Source
	store.Store
}

// Import is the writing of a file's documents into a store that holds no others. It overwrites
// nothing. A Run that was killed is continued by another one with the same file.
type Import struct {
	// Open opens the file at its beginning; it is read several times.
	Open func() (io.ReadCloser, error)
	Into Target
	// First is the top-level collection that is written before the others. Firestore numbers
	// documents as they are created (store.Document.Made), and a document that is older than
	// the one it belongs to counts as another's.
	First string
	// Progress is called with a step (checked, written, verified) and its documents so far.
	Progress func(step string, documents int)

	file    Contents
	name    string // the file's
	resumed bool   // documents may be there already
	written int
}

// Check reads the whole file: Invalid as Read. It touches no store.
func (i *Import) Check(ctx context.Context) error {
	seen := 0
	contents, name, err := i.read(ctx, func(store.Document) error {
		seen++
		report(i.Progress, "checked", seen)
		return nil
	})
	i.file, i.name = contents, name
	return err
}

func (i *Import) read(ctx context.Context, take func(store.Document) error) (contents Contents, name string, err error) {
	file, err := i.Open()
	if err != nil {
		return Contents{}, "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return Read(file, func(document store.Document) error {
		if err := ctx.Err(); err != nil {
			return fault.Wrap(fault.Unavailable, err, "the import was broken off")
		}
		return take(document)
	})
}

// Run writes the documents of the file that Check read and compares the store with it afterwards.
// before: that was done by an earlier Run, and nothing was written now. Conflict: the store holds
// other documents. Others must not write to it until Run has ended.
func (i *Import) Run(ctx context.Context) (contents Contents, before bool, err error) {
	before, err = i.begin(ctx)
	if err != nil || before {
		return i.file, before, err
	}
	for _, first := range []bool{true, false} {
		err := i.write(ctx, func(path store.Path) bool { return first == (path.Parent() == "" && path.Collection() == i.First) })
		if err != nil {
			return Contents{}, false, err
		}
	}
	if err := i.verify(ctx); err != nil {
		return Contents{}, false, err
	}
	return i.file, false, i.end(ctx)
}

// begin marks the store as one that the file is imported into, if it is empty, or finds that mark.
func (i *Import) begin(ctx context.Context) (done bool, err error) {
	mark, err := i.Into.Get(ctx, markPath)
	if err != nil {
		return false, err
	}
	if f := store.Fields(mark.Data); mark.Exists() {
		i.resumed = true
		if f.String("file") != i.name {
			return false, anotherImport()
		}
		return f.Bool("done"), nil
	}
	found := errors.New("a document")
	err = i.Into.EachDocument(ctx, func(store.Document) error { return found })
	switch {
	case errors.Is(err, found):
		return false, fault.New(fault.Conflict,
			"the store holds documents already; import into an empty database or data file, and do not start the server before")
	case err != nil:
		return false, err
	}
	err = i.Into.Run(ctx, func(_ context.Context, tx store.Tx) error { return tx.Create(markPath, i.mark(false)) })
	if fault.Is(err, fault.Conflict) { // it began since the mark was read
		return false, anotherImport()
	}
	return false, err
}

func anotherImport() error {
	return fault.New(fault.Conflict,
		"the store holds another import, whole or in part; go on with that file, or import into an empty database or data file")
}

// end marks the import as done.
func (i *Import) end(ctx context.Context) error {
	return i.Into.Run(ctx, func(_ context.Context, tx store.Tx) error { return tx.Set(markPath, i.mark(true)) })
}

func (i *Import) mark(done bool) map[string]any {
	return map[string]any{"file": i.name, "done": done}
}

// write writes the documents of some paths, in batches.
func (i *Import) write(ctx context.Context, wanted func(store.Path) bool) error {
	var batch []store.Document
	size := 0
	flush := func() error {
		if err := i.put(ctx, batch); err != nil {
			return err
		}
		i.written += len(batch)
		i.Progress("written", i.written)
		batch, size = batch[:0], 0
		return nil
	}
	_, name, err := i.read(ctx, func(document store.Document) error {
		if !wanted(document.Path) {
			return nil
		}
		bytes := store.WriteSize(document.Path, document.Data, nil)
		if len(batch) == batchDocuments || size+bytes > batchBytes && len(batch) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		batch, size = append(batch, document), size+bytes
		return nil
	})
	if err == nil && name != i.name {
		err = changed(errors.New("it is another file than at the beginning"))
	}
	if err != nil {
		return err
	}
	return flush()
}

// put creates the documents of a batch that are not there.
func (i *Import) put(ctx context.Context, batch []store.Document) (err error) {
	missing := batch
	for range attempts {
		if i.resumed {
			missing, err = i.missing(ctx, batch)
			// Batches are written one after the other: what is behind the first gap is not there.
			i.resumed = err == nil && len(missing) == 0
		}
		if err != nil || len(missing) == 0 {
			return err
		}
		err = i.Into.Run(ctx, func(_ context.Context, tx store.Tx) error {
			for _, document := range missing {
				if err := tx.Create(document.Path, document.Data); err != nil {
					return err
				}
			}
			return nil
		})
		switch half := len(missing) / 2; {
		case fault.Is(err, fault.TooLarge) && half > 0:
			if err := i.put(ctx, missing[:half]); err != nil {
				return err
			}
			return i.put(ctx, missing[half:])
		case fault.Is(err, fault.TooLarge):
			return fmt.Errorf("%s: %w", missing[0].Path, err)
		case !errors.Is(err, store.ErrUnanswered) && !fault.Is(err, fault.Conflict):
			return err
		}
		i.resumed = true // it may have taken effect
	}
	return err
}

// missing returns the documents that are not there. Conflict: one is there and another than ours.
func (i *Import) missing(ctx context.Context, documents []store.Document) (missing []store.Document, err error) {
	paths := make([]store.Path, len(documents))
	for n, document := range documents {
		paths[n] = document.Path
	}
	there, err := i.Into.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	for n, document := range documents {
		if !there[n].Exists() {
			missing = append(missing, document)
			continue
		}
		want, err := textOf(document)
		if err != nil {
			return nil, err
		}
		if got, err := textOf(there[n]); err != nil || got != want {
			return nil, spoilt(fmt.Sprintf("%s is another document than in the file", document.Path))
		}
	}
	return missing, nil
}

// verify reads everything back. If something else is there than in the file, it says what.
func (i *Import) verify(ctx context.Context) error {
	there := newContents()
	own := func(store.Document) error { return nil }
	err := pass(ctx, i.Into, own, func(document store.Document, text string) error {
		there.add(document.Path, text)
		report(i.Progress, "verified", there.Documents)
		return nil
	})
	if err != nil {
		return err
	}
	names := i.file.differ(there)
	if len(names) == 0 {
		return nil
	}
	var says []string
	for _, name := range names {
		file, there := i.file.Collections[name], there.Collections[name]
		says = append(says, fmt.Sprintf("%s: %d documents with the sum %016x, in the file %d with %016x",
			name, there.Documents, there.Sum, file.Documents, file.Sum))
	}
	return spoilt(strings.Join(says, "; "))
}

func spoilt(what string) error {
	return fault.Wrap(fault.Conflict, errors.New(what),
		"something else wrote to the store during the import; empty the database, or remove the data file, and import again")
}
