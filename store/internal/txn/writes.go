package txn

import (
	"slices"

	"questscheduler/fault"
	"questscheduler/store"
)

type kind uint8

const (
	create kind = iota + 1
	set
	update
	merge
	remove
)

// write is one buffered call. Its data and updates are normalised copies.
type write struct {
	kind    kind
	path    store.Path
	data    map[string]any
	updates []store.Update
}

// Create implements store.Tx.
func (a *Attempt) Create(path store.Path, data map[string]any) error {
	return a.whole(create, path, data)
}

// Set implements store.Tx.
func (a *Attempt) Set(path store.Path, data map[string]any) error {
	return a.whole(set, path, data)
}

// Update implements store.Tx.
func (a *Attempt) Update(path store.Path, updates ...store.Update) error {
	return a.fields(update, path, updates)
}

// Merge implements store.Tx.
func (a *Attempt) Merge(path store.Path, updates ...store.Update) error {
	return a.fields(merge, path, updates)
}

// Delete implements store.Tx.
func (a *Attempt) Delete(path store.Path) error {
	return a.add(write{kind: remove, path: path})
}

func (a *Attempt) whole(kind kind, path store.Path, data map[string]any) error {
	normal, err := store.Normalize(data)
	if err != nil {
		return a.refuse(err)
	}
	return a.add(write{kind: kind, path: path, data: normal})
}

func (a *Attempt) fields(kind kind, path store.Path, updates []store.Update) error {
	if err := store.CheckUpdates(updates); err != nil {
		return a.refuse(err)
	}
	normal := make([]store.Update, len(updates))
	for i, one := range updates {
		normal[i] = store.Update{Path: slices.Clone(one.Path), Value: one.Value}
		if store.IsDelete(one.Value) {
			continue
		}
		var err error
		if normal[i].Value, err = store.NormalizeValue(one.Value); err != nil {
			return a.refuse(err)
		}
	}
	return a.add(write{kind: kind, path: path, updates: normal})
}

func (a *Attempt) add(w write) error {
	if a.ended {
		return errEnded()
	}
	if err := a.refuse(w.path.Valid()); err != nil {
		return err
	}
	a.writes = append(a.writes, w)
	return nil
}

// Change is what a commit does to one document.
type Change struct {
	Path store.Path
	// Before and After are its fields; nil where it is not there.
	Before, After map[string]any
}

// Resolve works out what the buffered writes do, in the order they were made,
// each document once, in the order of its first write. load gives a document's
// present fields, which are not changed, or nil. A write that is refused
// (Conflict, NotFound, TooLarge) refuses all of them.
func (a *Attempt) Resolve(load func(store.Path) (map[string]any, error)) ([]Change, error) {
	var changes []*Change
	byPath := map[store.Path]*Change{}
	for _, w := range a.writes {
		change := byPath[w.path]
		if change == nil {
			before, err := load(w.path)
			if err != nil {
				return nil, err
			}
			change = &Change{Path: w.path, Before: before, After: before}
			byPath[w.path], changes = change, append(changes, change)
		}
		after, err := w.apply(change.After)
		if err != nil {
			return nil, err
		}
		change.After = after
	}
	out := make([]Change, 0, len(changes))
	for _, change := range changes {
		if err := store.CheckSize(change.Path, change.After); err != nil {
			return nil, err
		}
		if change.Before != nil || change.After != nil {
			out = append(out, *change)
		}
	}
	return out, nil
}

// apply gives the fields after the write, without changing those before it.
func (w write) apply(before map[string]any) (map[string]any, error) {
	switch {
	case w.kind == remove:
		return nil, nil
	case w.kind == create && before != nil:
		return nil, fault.Wrap(fault.Conflict, cause(w.path), "the document to create is there already")
	case w.kind == create || w.kind == set:
		return w.data, nil
	case w.kind == update && before == nil:
		return nil, fault.Wrap(fault.NotFound, cause(w.path), "the document to update is not there")
	}
	after := Copy(before)
	if after == nil {
		after = map[string]any{}
	}
	return after, store.ApplyUpdates(after, w.updates)
}

// Copy is a deep copy of normalised fields; nil of nil.
func Copy(data map[string]any) map[string]any {
	if data == nil {
		return nil
	}
	return copyValue(data).(map[string]any)
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			out[name] = copyValue(field)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copyValue(item)
		}
		return out
	default:
		return v // the other types cannot be changed
	}
}
