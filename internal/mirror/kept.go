package mirror

import (
	"context"

	"questscheduler/internal/store"
)

// KeptPath is where the document of a kept copy is, in keptCopies: its owner disconnected an
// account from a group and kept the group's events there, so the mirror's document is gone
// and its event is not. It has the fields of the mirror (Encode). An event whose mark names
// such a mirror is no stray and must not be deleted. The document goes as mappings do.
func KeptPath(mirrorID string) store.Path { return store.Doc("keptCopies", mirrorID) }

// IsKept reports whether the copy that a mirror made stays though the mirror is gone.
func IsKept(ctx context.Context, reader store.Reader, mirrorID string) (bool, error) {
	if KeptPath(mirrorID).Valid() != nil {
		return false, nil //nolint:nilerr // the private mark of an event may hold anything
	}
	doc, err := reader.Get(ctx, KeptPath(mirrorID))
	return doc.Exists(), err
}
