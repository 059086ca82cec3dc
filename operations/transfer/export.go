package transfer

import (
	"context"
	"fmt"
	"io"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Export writes all documents of a store to a file; progress is called as that of Import. What it
// wrote before an error is no export, and Read refuses it. Conflict: an import into the store has
// not ended. Invalid: a document that only other programs can read, or that no import takes.
func Export(
	ctx context.Context, from Source, file io.Writer, at time.Time, progress func(step string, documents int),
) (Contents, error) {
	if err := Unfinished(ctx, from); err != nil {
		return Contents{}, err
	}
	out, contents := newWriter(file), newContents()
	if err := out.write(head{program, version, at.UTC()}); err != nil {
		return Contents{}, err
	}
	// The mark is read once more, in the state that is exported: an import may have begun meanwhile.
	err := pass(ctx, from, unfinished, func(document store.Document, text string) error {
		if err := importable(document); err != nil {
			return err
		}
		contents.add(document.Path, text)
		report(progress, "exported", contents.Documents)
		return out.write(line{document.Path, []byte(text)})
	})
	if err != nil {
		return Contents{}, err
	}
	return contents, out.end(contents)
}

// importable is Invalid for a document that Read would refuse: only other programs write such.
func importable(document store.Document) error {
	err := document.Path.Valid()
	if err == nil {
		err = store.CheckSize(document.Path, document.Data)
	}
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Invalid, fmt.Errorf("%s: %w", document.Path, err),
		"a document cannot be imported again; change or remove it, or copy the database with Google's tools")
}
