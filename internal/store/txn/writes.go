package txn

import (
	"maps"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Writes are the buffered calls in their order, with normalised copies of what they write, for
// a driver whose database applies them; other drivers use Resolve.
func (a *Attempt) Writes() store.Writes { return a.writes }

// Create implements store.Tx.
func (a *Attempt) Create(path store.Path, data map[string]any) error {
	return a.whole(store.Creates, path, data)
}

// Set implements store.Tx.
func (a *Attempt) Set(path store.Path, data map[string]any) error {
	return a.whole(store.Sets, path, data)
}

// Update implements store.Tx.
func (a *Attempt) Update(path store.Path, updates ...store.Update) error {
	return a.fields(store.Updates, path, updates)
}

// Merge implements store.Tx.
func (a *Attempt) Merge(path store.Path, updates ...store.Update) error {
	return a.fields(store.Merges, path, updates)
}

// Delete implements store.Tx.
func (a *Attempt) Delete(path store.Path) error {
	return a.add(store.Write{Kind: store.Deletes, Path: path})
}

func (a *Attempt) whole(kind store.WriteKind, path store.Path, data map[string]any) error {
	normal, err := store.Normalize(data)
	if err != nil {
		return a.refuse(err)
	}
	return a.add(store.Write{Kind: kind, Path: path, Data: normal})
}

func (a *Attempt) fields(kind store.WriteKind, path store.Path, updates []store.Update) error {
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
		normal[i].Value, err = store.NormalizeValue(one.Value)
		if err != nil {
			return a.refuse(err)
		}
	}
	return a.add(store.Write{Kind: kind, Path: path, Updates: normal})
}

func (a *Attempt) add(w store.Write) error {
	if a.ended {
		return errEnded()
	}
	if err := a.refuse(w.Path.Valid()); err != nil {
		return err
	}
	a.size += store.WriteSize(w.Path, w.Data, w.Updates)
	if a.size > store.MaxTransaction {
		return a.refuse(fault.New(fault.TooLarge, "a transaction writes over 3 MiB; write less at once"))
	}
	a.writes = append(a.writes, w)
	return nil
}

// Change is what a commit does to one document.
type Change struct {
	Path store.Path
	// Before and After are its fields; nil where it does not exist.
	Before, After map[string]any
}

// Resolve applies the buffered writes in their order and returns a change for each document,
// in the order of its first write. load returns a document's current fields, which Resolve
// does not change, or nil. A refused write (Conflict, NotFound, TooLarge) refuses all.
func (a *Attempt) Resolve(load func(store.Path) (map[string]any, error)) ([]Change, error) {
	return a.resolve(func(first store.Write) (map[string]any, error) { return load(first.Path) })
}

// resolve is Resolve, where load gets a document's first write.
func (a *Attempt) resolve(load func(first store.Write) (map[string]any, error)) ([]Change, error) {
	var changes []*Change
	byPath := map[store.Path]*Change{}
	for _, w := range a.writes {
		change := byPath[w.Path]
		if change == nil {
			before, err := load(w)
			if err != nil {
				return nil, err
			}
			change = &Change{Path: w.Path, Before: before, After: before}
			byPath[w.Path], changes = change, append(changes, change)
		}
		after, err := applied(w, change.After)
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

// applied returns the fields after the write and does not change those before.
func applied(w store.Write, before map[string]any) (map[string]any, error) {
	switch {
	case w.Kind == store.Deletes:
		return nil, nil
	case w.Kind == store.Creates && before != nil:
		return nil, fault.Wrap(fault.Conflict, cause(w.Path), "the document to create is there already")
	case w.Kind == store.Creates || w.Kind == store.Sets:
		return w.Data, nil
	case w.Kind == store.Updates && before == nil:
		return nil, fault.Wrap(fault.NotFound, cause(w.Path), "the document to update is not there")
	}
	after := maps.Clone(before)
	if after == nil {
		after = map[string]any{}
	}
	return after, store.ApplyUpdates(after, w.Updates)
}

// Precheck refuses writes as far as the attempt alone can tell, for a driver whose database
// applies them: those that earlier writes rule out (Conflict, NotFound), and documents that
// become too large. known are the fields of the documents that were read.
func (a *Attempt) Precheck(known map[store.Path]map[string]any) error {
	_, err := a.resolve(func(first store.Write) (map[string]any, error) {
		before := known[first.Path]
		switch {
		case first.Kind == store.Creates:
			return nil, nil // the database checks
		case first.Kind == store.Updates && before == nil:
			return map[string]any{}, nil
		}
		return before, nil
	})
	return err
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
		out := maps.Clone(v) // cheaper than name by name
		for name, field := range v {
			if mutable(field) {
				out[name] = copyValue(field)
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, item := range v {
			if mutable(item) {
				out[i] = copyValue(item)
			}
		}
		return out
	default:
		return v
	}
}

func mutable(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	default:
		return false
	}
}
