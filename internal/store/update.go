package store

import (
	"maps"

	"questscheduler/fault"
)

// Update writes one named field: a value, or Delete to remove it. Parents of the field that
// are absent, or no maps, become maps.
type Update struct {
	Path  FieldPath
	Value any
}

type deleteMark struct{}

// Delete removes the field, as the value of an Update.
var Delete any = deleteMark{}

// IsDelete reports whether a value is the Delete mark.
func IsDelete(value any) bool { _, ok := value.(deleteMark); return ok }

// CheckUpdates is Invalid for an empty list, an empty path or name, and conflicting paths:
// equal ones, and one below another.
func CheckUpdates(updates []Update) error {
	if len(updates) == 0 {
		return fault.New(fault.Invalid, "an update names no field")
	}
	for i, update := range updates {
		if len(update.Path) == 0 {
			return fault.New(fault.Invalid, "an update has an empty field path")
		}
		for _, name := range update.Path {
			if err := checkName(name); err != nil {
				return err
			}
		}
		for _, other := range updates[:i] {
			if update.Path.HasPrefix(other.Path) || other.Path.HasPrefix(update.Path) {
				return fault.Newf(fault.Invalid, "the updates of %s and %s conflict", other.Path, update.Path)
			}
		}
	}
	return nil
}

// ApplyUpdates writes updates that passed CheckUpdates into data, with values normalised
// and copied. It changes data but not the maps in it, which it replaces by copies: data may
// be a shallow copy of fields that must not change.
func ApplyUpdates(data map[string]any, updates []Update) error {
	for _, update := range updates {
		if IsDelete(update.Value) {
			removeField(data, update.Path)
			continue
		}
		value, err := NormalizeValue(update.Value)
		if err != nil {
			return err
		}
		putField(data, update.Path, value)
	}
	return nil
}

func putField(data map[string]any, path FieldPath, value any) {
	for _, name := range path[:len(path)-1] {
		next, ok := data[name].(map[string]any)
		if ok {
			next = maps.Clone(next)
		}
		if next == nil {
			next = map[string]any{}
		}
		data[name] = next
		data = next
	}
	data[path[len(path)-1]] = value
}

func removeField(data map[string]any, path FieldPath) {
	for _, name := range path[:len(path)-1] {
		next, ok := data[name].(map[string]any)
		if !ok {
			return
		}
		next = maps.Clone(next)
		data[name] = next
		data = next
	}
	delete(data, path[len(path)-1])
}
