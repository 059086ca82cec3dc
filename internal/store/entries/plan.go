package entries

import (
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Set is the declared queries of a driver and the indexes that answer them.
type Set struct {
	indexes      []Index
	byQuery      map[*store.Query]reading
	byCollection map[string][]int
}

// reading is the index of a query, and whether it is read backward.
type reading struct {
	index    int
	backward bool
}

// Declare computes the indexes of queries. Invalid: two queries of one name, and those that
// Query.Check refuses.
func Declare(queries []*store.Query) (*Set, error) {
	set := &Set{byQuery: map[*store.Query]reading{}, byCollection: map[string][]int{}}
	names := map[string]bool{}
	byDefinition := map[string]int{}
	for _, query := range queries {
		if err := query.Check(); err != nil {
			return nil, err
		}
		if names[query.Name] {
			return nil, fault.Newf(fault.Invalid, "two queries are called %q; give each its own name", query.Name)
		}
		names[query.Name] = true
		index, backward := IndexOf(query).forward()
		definition := index.Definition()
		number, known := byDefinition[definition]
		if !known {
			number = len(set.indexes)
			byDefinition[definition] = number
			set.indexes = append(set.indexes, index)
			set.byCollection[index.Collection] = append(set.byCollection[index.Collection], number)
		}
		set.byQuery[query] = reading{number, backward}
	}
	return set, nil
}

// Indexes are the distinct indexes; Plan.Index is a position in it.
func (s *Set) Indexes() []Index { return s.indexes }

// Holding returns the positions of the indexes of a document's collection.
func (s *Set) Holding(path store.Path) []int { return s.byCollection[path.Collection()] }

// Range is a part of an index, from From (included) to To (excluded; nil: the end). Its
// keys share the first Fixed bytes; the rest is the query's order, or the opposite one.
type Range struct {
	From, To []byte
	Fixed    int
	// Place is where the place of the cursor's document begins in From, behind values; 0: From has none.
	Place int
}

// Holds reports whether a key lies in the range.
func (r Range) Holds(key []byte) bool {
	return slices.Compare(key, r.From) >= 0 && (r.To == nil || slices.Compare(key, r.To) < 0)
}

// Plan says how to answer a bound query: ranges of one index, in one parent.
type Plan struct {
	Index int
	// Backward says that the keys are wanted in descending order.
	Backward bool
	Parent   store.Path
	Ranges   []Range
	// Limit is the most hits wanted of all ranges together; 0: all.
	Limit int
	// After is the path of the cursor's document; "": there is none.
	After store.Path
}

// Check is Invalid for a query that was not declared, arguments that do not fit it, and a
// cursor of another collection.
func (s *Set) Check(bound store.Bound) error {
	if err := bound.Check(); err != nil {
		return err
	}
	if _, declared := s.byQuery[bound.Query]; !declared {
		return fault.Newf(fault.Invalid, "query %q was not declared when the store was opened", bound.Query.Name)
	}
	if bound.After == nil {
		return nil
	}
	at := bound.After.Path
	if err := at.Valid(); err != nil {
		return err
	}
	if at.Collection() != bound.Query.Collection || (!bound.Query.Group && at.Parent() != bound.Parent) {
		return fault.Newf(fault.Invalid, "a cursor of query %q belongs to another collection", bound.Query.Name)
	}
	for _, value := range bound.After.Values {
		if _, err := store.NormalizeValue(value); err != nil {
			return err
		}
	}
	return nil
}

// Plan computes how to answer a bound query, or refuses it as Check does.
func (s *Set) Plan(bound store.Bound) (Plan, error) {
	if err := s.Check(bound); err != nil {
		return Plan{}, err
	}
	by := s.byQuery[bound.Query]
	index := s.indexes[by.index]
	prefixes, ordered, err := constraints(bound)
	if err != nil {
		return Plan{}, err
	}
	if bound.After != nil {
		values, err := cursorValues(index, bound.After)
		if err != nil {
			return Plan{}, err
		}
		if place := index.AppendPlace(values, bound.After.Path); by.backward {
			ordered.lower(place)
		} else {
			ordered.raise(after(place), len(values))
		}
	}
	plan := Plan{
		Index: by.index, Backward: by.backward, Parent: bound.Parent, Limit: bound.Limit, Ranges: make([]Range, 0, len(prefixes)),
	}
	if bound.After != nil {
		plan.After = bound.After.Path
	}
	for _, prefix := range prefixes {
		if one, ok := ordered.under(prefix); ok {
			plan.Ranges = append(plan.Ranges, one)
		}
	}
	return plan, nil
}

// constraints returns the fixed prefixes of the keys, one for each combination of In values,
// and the range of what follows them.
func constraints(bound store.Bound) (prefixes [][]byte, ordered interval, err error) {
	prefixes = [][]byte{make([]byte, 0, usualKey)}
	for i, filter := range bound.Query.Filters {
		arg, err := store.NormalizeValue(bound.Args[i])
		if err != nil {
			return nil, interval{}, err
		}
		switch filter.Op {
		case store.In:
			prefixes = withElements(prefixes, arg)
		case store.Equal, store.ArrayContains:
			for k := range prefixes {
				prefixes[k] = AppendValue(prefixes[k], arg)
			}
		default:
			ordered.narrow(filter.Op, AppendValue(nil, arg))
		}
	}
	return prefixes, ordered, nil
}

// cursorValues is the key of a cursor up to its place.
func cursorValues(index Index, cursor *store.Cursor) ([]byte, error) {
	values := make([]any, len(cursor.Values))
	for i, value := range cursor.Values {
		normal, err := store.NormalizeValue(value)
		if err != nil {
			return nil, err
		}
		values[i] = normal
	}
	return index.appendValues(nil, values), nil
}

// interval bounds the ordered part of a key; a nil bound is none.
type interval struct {
	from, to []byte
	place    int // where a cursor's place begins in from, or 0
}

func (v *interval) raise(from []byte, place int) {
	if slices.Compare(from, v.from) > 0 {
		v.from, v.place = from, place
	}
}

func (v *interval) lower(to []byte) {
	if v.to == nil || (to != nil && slices.Compare(to, v.to) < 0) {
		v.to = to
	}
}

// narrow applies a range operator to the first field of the order, which ascends. As in Firestore it
// selects values of the argument's type alone.
func (v *interval) narrow(op store.Op, component []byte) {
	v.raise(component[:1], 0)
	v.lower(after(component[:1]))
	switch op {
	case store.Less:
		v.lower(component)
	case store.LessOrEqual:
		v.lower(after(component))
	case store.Greater:
		v.raise(after(component), 0)
	case store.GreaterOrEqual:
		v.raise(component, 0)
	}
}

// under prepends a fixed prefix to the interval; ok is false where it is empty.
func (v interval) under(prefix []byte) (Range, bool) {
	out := Range{From: prefix, Fixed: len(prefix)}
	if v.from != nil {
		out.From = slices.Concat(prefix, v.from)
	}
	if v.place > 0 {
		out.Place = len(prefix) + v.place
	}
	if v.to != nil {
		out.To = slices.Concat(prefix, v.to)
	} else {
		out.To = after(prefix)
	}
	return out, out.To == nil || slices.Compare(out.From, out.To) < 0
}
