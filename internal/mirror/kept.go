package mirror

import (
	"context"
	"time"

	"questscheduler/internal/store"
)

// Kept is a document of keptCopies. Its owner disconnected an account from a group and kept
// the group's events there: the mirror's document is gone and its event is not. An event
// whose mark names such a mirror is no stray and must not be deleted.
type Kept struct {
	// MirrorID is the mirror that the event was of.
	MirrorID  string
	AccountID string
	// Ends is that of the mirror; the document goes as mappings do.
	Ends time.Time
}

// KeptPath is where the document of a kept copy is.
func KeptPath(mirrorID string) store.Path { return store.Doc("keptCopies", mirrorID) }

// EncodeKept gives the fields of a kept copy.
func EncodeKept(k Kept) map[string]any {
	return map[string]any{"accountId": k.AccountID, "ends": k.Ends}
}

// DecodeKept reads a kept copy.
func DecodeKept(doc store.Document) Kept {
	f := store.Fields(doc.Data)
	return Kept{MirrorID: doc.Path.ID(), AccountID: f.String("accountId"), Ends: f.Time("ends")}
}

// IsKept reports whether the copy that a mirror made stays though the mirror is gone.
func IsKept(ctx context.Context, reader store.Reader, mirrorID string) (bool, error) {
	if KeptPath(mirrorID).Valid() != nil {
		return false, nil // the private mark of an event may hold anything
	}
	doc, err := reader.Get(ctx, KeptPath(mirrorID))
	return doc.Exists(), err
}
