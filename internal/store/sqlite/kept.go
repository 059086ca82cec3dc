package sqlite

import (
	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
)

// placeBytes is how much of a document's place is in the keys of an ordered index. Documents with
// equal values and such a beginning are sorted when they are read.
const placeBytes = 16

// fromDocuments reports that queries of an index in a parent are answered from the documents, so that
// the index has no entries there: a whole collection is in the order of its paths already, and with
// conditions that serves below a document, which has few. A whole group is found among all documents.
func fromDocuments(index entries.Index, parent store.Path) bool {
	return len(index.Order) == 0 && (len(index.Fixed) == 0 || parent != "")
}

// keptEntries are the entries of a document that the file has in an index. Their keys are cut.
func keptEntries(index entries.Index, path store.Path, data map[string]any) []entries.Entry {
	if fromDocuments(index, parentIn(index, path)) {
		return nil
	}
	all := index.Entries(path, data)
	if len(index.Order) > 0 {
		cut := max(0, len(index.AppendPlace(nil, path))-placeBytes)
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
	place := index.AppendPlace(nil, path)
	return append(key[:len(key)-min(len(place), placeBytes)], place...)
}

// firstKey is the first cut key of those whose whole ones are in a range.
func firstKey(index entries.Index, part entries.Range) []byte {
	if len(index.Order) == 0 || part.Place == 0 {
		return part.From
	}
	return part.From[:min(len(part.From), part.Place+placeBytes)]
}
