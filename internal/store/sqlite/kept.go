package sqlite

import (
	"strings"

	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
)

// placeBytes is how much of a document's place is in the keys of an ordered index: of its id, and in
// an index of a group of what is behind the first collection's name. Documents with equal values and
// such a beginning are sorted when they are read: few, since ids begin at random or with a time. A
// change of this, or of fromDocuments, needs a migration that has all indexes built anew.
const placeBytes = 16

// fromDocuments reports that queries of an index in a parent are answered from the documents, so that
// the index has no entries there: a whole collection below a document is in the order of its paths.
// One at the top is not, since what is below its documents is read with them.
func fromDocuments(index entries.Index, parent store.Path) bool {
	return len(index.Order) == 0 && len(index.Fixed) == 0 && parent != ""
}

// placeKept is how many bytes of a document's place the keys of an ordered index have.
func placeKept(index entries.Index, path store.Path) int {
	kept := placeBytes
	if index.Group {
		first, _, _ := strings.Cut(string(path), "/")
		kept += len(index.AppendPlace(nil, store.Path(first)))
	}
	return min(kept, len(index.AppendPlace(nil, path)))
}

// keptEntries are the entries of a document that the file has in an index. Their keys are cut.
func keptEntries(index entries.Index, path store.Path, data map[string]any) []entries.Entry {
	if fromDocuments(index, parentIn(index, path)) {
		return nil
	}
	all := index.Entries(path, data)
	if len(index.Order) > 0 {
		cut := len(index.AppendPlace(nil, path)) - placeKept(index, path)
		for i, entry := range all {
			all[i].Key = entry.Key[:len(entry.Key)-cut]
		}
	}
	return all
}

// parentIn is the parent of a document's entries in an index.
func parentIn(index entries.Index, path store.Path) store.Path {
	if index.Group {
		return ""
	}
	return path.Parent()
}

// wholeKey is the key of a document's entry that keptEntries cut.
func wholeKey(index entries.Index, key []byte, path store.Path) []byte {
	if len(index.Order) == 0 {
		return key
	}
	return index.AppendPlace(key[:len(key)-placeKept(index, path)], path)
}

// firstKey is the first cut key of those whose whole ones are in a range, behind a document if the
// range begins with one's place.
func firstKey(index entries.Index, part entries.Range, behind store.Path) []byte {
	if len(index.Order) == 0 || part.Place == 0 {
		return part.From
	}
	return part.From[:min(len(part.From), part.Place+placeKept(index, behind))]
}
