package transfer

import (
	"context"
	"io"
	"time"

	"questscheduler/internal/store"
)

// Export writes all documents of a store to a file; progress is called as that of Import. What it
// wrote before an error is no export, and Read refuses it. Conflict: an import into the store has
// not ended. Invalid: a document that only other programs can read.
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
	err := pass(ctx, from, func(document store.Document, text string) error {
		contents.add(document.Path, text)
		report(progress, "exported", contents.Documents)
		return out.write(line{document.Path, []byte(text)})
	})
	if err != nil {
		return Contents{}, err
	}
	return contents, out.end(contents)
}
