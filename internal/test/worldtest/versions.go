package worldtest

import "questscheduler/internal/store"

// versions remembers what documents of one kind were decoded to, so that a check that reads all
// of them decodes only those that were written since.
type versions[T any] struct {
	decode func(store.Document) T
	at     map[store.Path]version[T]
}

// version is a document as a commit left it.
type version[T any] struct {
	written int64
	value   *T
}

func versioned[T any](decode func(store.Document) T) versions[T] {
	return versions[T]{decode: decode, at: map[store.Path]version[T]{}}
}

// all decodes documents. The values are those that are remembered: they must not be changed.
func (v versions[T]) all(documents []store.Document) []*T {
	out := make([]*T, 0, len(documents))
	for _, document := range documents {
		known, there := v.at[document.Path]
		if !there || document.Written == 0 || document.Written != known.written { // 0: the store counts none
			value := v.decode(document)
			known = version[T]{document.Written, &value}
			v.at[document.Path] = known
		}
		out = append(out, known.value)
	}
	return out
}
