package entries

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"questscheduler/internal/store"
)

// Index serves all queries of one collection with the same fields compared for equality and
// the same order, or the opposite one; ranges, limits and cursors select a part of it.
type Index struct {
	Collection string
	Group      bool
	// Fixed are the fields compared by Equal, In and ArrayContains.
	Fixed []store.Filter
	Order []store.Order
}

// Entry is a document's entry in an index: several where it has a list field, one for each
// element.
type Entry struct {
	// Parent holds the collection; "" in the index of a collection group.
	Parent store.Path
	Key    []byte
}

// Equal reports whether two entries are the same.
func (e Entry) Equal(other Entry) bool {
	return e.Parent == other.Parent && bytes.Equal(e.Key, other.Key)
}

// IndexOf is the index of a query, in its order.
func IndexOf(query *store.Query) Index {
	index := Index{Collection: query.Collection, Group: query.Group, Order: query.Order}
	for _, filter := range query.Filters {
		switch filter.Op {
		case store.Equal, store.In:
			index.Fixed = append(index.Fixed, store.Filter{Path: filter.Path, Op: store.Equal})
		case store.ArrayContains:
			index.Fixed = append(index.Fixed, filter)
		}
	}
	return index
}

// forward is the index that a Set has for this one: its first field ascends. backward says that the
// order is the opposite one.
func (x Index) forward() (_ Index, backward bool) {
	if len(x.Order) == 0 || !x.Order[0].Descending {
		return x, false
	}
	x.Order = slices.Clone(x.Order)
	for i := range x.Order {
		x.Order[i].Descending = !x.Order[i].Descending
	}
	return x, true
}

// Definition is the index as text: equal texts mean equal entries. It begins with the
// version of the key encoding.
func (x Index) Definition() string {
	var text strings.Builder
	text.WriteString("v1 " + strconv.Quote(x.Collection))
	if x.Group {
		text.WriteString(" group")
	}
	for _, filter := range x.Fixed {
		if filter.Op == store.ArrayContains {
			text.WriteString(" contains")
		} else {
			text.WriteString(" equal")
		}
		writeField(&text, filter.Path)
	}
	for _, order := range x.Order {
		if order.Descending {
			text.WriteString(" descending")
		} else {
			text.WriteString(" ascending")
		}
		writeField(&text, order.Path)
	}
	return text.String()
}

func writeField(text *strings.Builder, path store.FieldPath) {
	for _, name := range path {
		text.WriteString(" " + strconv.Quote(name))
	}
}

// Entries returns a document's entries, without duplicates: none where it is in another
// collection, does not exist (nil data) or lacks a field.
func (x Index) Entries(path store.Path, data map[string]any) []Entry {
	if data == nil || path.Collection() != x.Collection {
		return nil
	}
	values, ok := x.valuesOf(data)
	if !ok {
		return nil
	}
	keys := [][]byte{make([]byte, 0, usualKey)}
	for _, filter := range x.Fixed {
		value, ok := filter.Path.Lookup(data)
		if !ok {
			return nil
		}
		if filter.Op == store.ArrayContains {
			keys = withElements(keys, value)
			continue
		}
		for i := range keys {
			keys[i] = AppendValue(keys[i], value)
		}
	}
	entry := Entry{}
	if !x.Group {
		entry.Parent = path.Parent()
	}
	out := make([]Entry, len(keys))
	for i, key := range keys {
		entry.Key = x.AppendPlace(x.appendValues(key, values), path)
		out[i] = entry
	}
	return out
}

// Stays reports that a write leaves a document's entries unchanged, since it leaves the
// indexed fields. It may be false for some writes that do.
func (x Index) Stays(before, after map[string]any) bool {
	if before == nil || after == nil {
		return false
	}
	for _, filter := range x.Fixed {
		if !stays(filter.Path, before, after) {
			return false
		}
	}
	for _, order := range x.Order {
		if !stays(order.Path, before, after) {
			return false
		}
	}
	return true
}

func stays(path store.FieldPath, before, after map[string]any) bool {
	was, had := path.Lookup(before)
	is, has := path.Lookup(after)
	return had == has && same(was, is)
}

// same reports whether two values are equal; it is false for maps.
func same(a, b any) bool {
	switch v := a.(type) {
	case map[string]any:
		return false
	case []any:
		other, list := b.([]any)
		return list && slices.EqualFunc(v, other, same)
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

// usualKey is the capacity, in bytes, that most keys fit in.
const usualKey = 96

// withElements returns every key with every distinct element of a list appended; none where
// the value is no list.
func withElements(keys [][]byte, value any) [][]byte {
	list, _ := value.([]any) // other types contain nothing
	var out [][]byte
	for _, key := range keys {
		for _, item := range list {
			out = append(out, AppendValue(slices.Clone(key), item))
		}
	}
	slices.SortFunc(out, slices.Compare)
	return slices.CompactFunc(out, slices.Equal)
}

// valuesOf are a document's ordered fields; not ok where it lacks one.
func (x Index) valuesOf(data map[string]any) (values []any, ok bool) {
	for _, order := range x.Order {
		value, ok := order.Path.Lookup(data)
		if !ok {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

// appendValues appends the ordered fields' values.
func (x Index) appendValues(key []byte, values []any) []byte {
	for i, value := range values {
		begin := len(key)
		key = AppendValue(key, value)
		if x.Order[i].Descending {
			invert(key[begin:])
		}
	}
	return key
}

// AppendPlace appends the end of a key, which is of the document's path: it breaks ties in the
// direction of the last field.
func (x Index) AppendPlace(key []byte, path store.Path) []byte {
	begin := len(key)
	if x.Group {
		key = appendPath(key, strings.Split(string(path), "/")...)
	} else {
		key = appendPath(key, path.ID())
	}
	if last := len(x.Order) - 1; last >= 0 && x.Order[last].Descending {
		invert(key[begin:])
	}
	return key
}
