package store

// WriteKind is the call of Tx that a Write stands for.
type WriteKind string

// The calls of Tx that write.
const (
	Creates WriteKind = "create"
	Sets    WriteKind = "set"
	Updates WriteKind = "update"
	Merges  WriteKind = "merge"
	Deletes WriteKind = "delete"
)

// Write is a write of one document: Data of Creates and Sets, Updates of Updates and Merges.
type Write struct {
	Kind    WriteKind
	Path    Path
	Data    map[string]any
	Updates []Update
}

// Writes are writes that were worked out, in order. Its methods add what Tx's of the same
// name do.
type Writes []Write

// Create adds the making of a new document.
func (w *Writes) Create(path Path, data map[string]any) {
	*w = append(*w, Write{Kind: Creates, Path: path, Data: data})
}

// Set adds the replacement of a document.
func (w *Writes) Set(path Path, data map[string]any) {
	*w = append(*w, Write{Kind: Sets, Path: path, Data: data})
}

// Update adds the change of fields of an existing document.
func (w *Writes) Update(path Path, updates ...Update) {
	*w = append(*w, Write{Kind: Updates, Path: path, Updates: updates})
}

// Merge adds the change of fields of a document that may not exist yet.
func (w *Writes) Merge(path Path, updates ...Update) {
	*w = append(*w, Write{Kind: Merges, Path: path, Updates: updates})
}

// Delete adds the removal of documents.
func (w *Writes) Delete(paths ...Path) {
	for _, path := range paths {
		*w = append(*w, Write{Kind: Deletes, Path: path})
	}
}

// To makes the writes in a transaction; the first that is refused ends them.
func (w Writes) To(tx Tx) error {
	for _, one := range w {
		if err := one.to(tx); err != nil {
			return err
		}
	}
	return nil
}

func (w Write) to(tx Tx) error {
	switch w.Kind {
	case Creates:
		return tx.Create(w.Path, w.Data)
	case Sets:
		return tx.Set(w.Path, w.Data)
	case Updates:
		return tx.Update(w.Path, w.Updates...)
	case Merges:
		return tx.Merge(w.Path, w.Updates...)
	default:
		return tx.Delete(w.Path)
	}
}
