package store

import (
	"math"
	"slices"

	"questscheduler/fault"
)

// Op is how a filter compares a field with its argument.
type Op uint8

// The operators. In takes a list of 1 to 30 values; ArrayContains selects list fields that
// contain the value. A query has range operators on one field at most, which is then first
// in its order.
const (
	Equal Op = iota + 1
	In
	ArrayContains
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
)

// Filter is one condition of a query; its argument is bound later.
type Filter struct {
	Path FieldPath
	Op   Op
}

// Order is one key of a query's order.
type Order struct {
	Path       FieldPath
	Descending bool
}

// Query declares a query without its arguments. Queries are package variables: a driver is
// opened with all of them and refuses others, and index definitions are generated from
// them.
type Query struct {
	// Name is unique in the program, such as "journal by time".
	Name       string
	Collection string
	// Group selects from the collections of that name below every document.
	Group bool
	// Filters must all match.
	Filters []Filter
	// Order sorts; ties are broken by path, in the direction of the last key.
	Order []Order
}

// Bound is a declared query with its arguments.
type Bound struct {
	Query *Query
	// Parent holds the collection; "" for one at the top level.
	Parent Path
	// Args are the filters' arguments, in their order.
	Args []any
	// Limit is the most documents wanted; 0: all.
	Limit int
	// After starts behind that document; nil: at the beginning.
	After *Cursor
}

// Cursor is a position in a query's order: a document's ordered fields and its path.
type Cursor struct {
	Values []any
	Path   Path
}

// With binds arguments to the query's filters, in their order.
func (q *Query) With(args ...any) Bound { return Bound{Query: q, Args: args} }

// Below sets the document that holds the collection.
func (b Bound) Below(parent Path) Bound { b.Parent = parent; return b }

// First limits the number of documents.
func (b Bound) First(limit int) Bound { b.Limit = limit; return b }

// From starts behind a cursor; nil starts at the beginning.
func (b Bound) From(after *Cursor) Bound { b.After = after; return b }

// CursorAt is the cursor of a document of the query's result.
func (q *Query) CursorAt(doc Document) *Cursor {
	cursor := &Cursor{Path: doc.Path}
	for _, order := range q.Order {
		value, _ := order.Path.Lookup(doc.Data) // a selected document has its ordered fields
		cursor.Values = append(cursor.Values, value)
	}
	return cursor
}

// Check is Invalid where the binding does not fit its declaration.
func (b Bound) Check() error {
	switch {
	case b.Query == nil:
		return fault.New(fault.Invalid, "no query is bound")
	case len(b.Args) != len(b.Query.Filters):
		return fault.Newf(fault.Invalid, "query %q takes %d arguments, not %d", b.Query.Name, len(b.Query.Filters), len(b.Args))
	case b.Query.Group && b.Parent != "":
		return fault.Newf(fault.Invalid, "query %q is for a collection group and takes no parent", b.Query.Name)
	case b.After != nil && len(b.After.Values) != len(b.Query.Order):
		return fault.Newf(fault.Invalid, "a cursor of query %q needs %d values", b.Query.Name, len(b.Query.Order))
	case b.Limit < 0:
		return fault.Newf(fault.Invalid, "query %q has a limit below zero", b.Query.Name)
	}
	if b.Parent != "" {
		if err := b.Parent.Valid(); err != nil {
			return err
		}
	}
	return b.checkArgs()
}

// checkArgs enforces Firestore's limits: null and NaN only for Equal, and at most 30
// combinations of the In filters' lists.
func (b Bound) checkArgs() error {
	combinations := 1
	for i, filter := range b.Query.Filters {
		arg, err := NormalizeValue(b.Args[i])
		if err != nil {
			return err
		}
		asked := []any{arg}
		if filter.Op == In {
			list, ok := arg.([]any)
			if !ok || len(list) == 0 || len(list) > 30 {
				return fault.Newf(fault.Invalid, "query %q: %s takes a list of 1 to 30 values", b.Query.Name, filter.Path)
			}
			asked = list
			combinations *= len(list)
		}
		if filter.Op != Equal && slices.ContainsFunc(asked, incomparable) {
			return fault.Newf(fault.Invalid, "query %q: %s cannot be compared with null or not-a-number", b.Query.Name, filter.Path)
		}
	}
	if combinations > 30 {
		return fault.Newf(fault.Invalid, "query %q: its lists make more than 30 combinations", b.Query.Name)
	}
	return nil
}

func incomparable(value any) bool {
	double, isDouble := value.(float64)
	return value == nil || (isDouble && math.IsNaN(double))
}

// Check is Invalid for a declaration that some driver could not answer.
func (q *Query) Check() error {
	if q == nil || q.Name == "" || q.Collection == "" {
		return fault.New(fault.Invalid, "a query needs a name and a collection")
	}
	if err := q.checkFilters(); err != nil {
		return err
	}
	for i, order := range q.Order {
		same := func(other Order) bool { return slices.Equal(other.Path, order.Path) }
		if len(order.Path) == 0 || slices.ContainsFunc(q.Order[:i], same) {
			return fault.Newf(fault.Invalid, "query %q is ordered by no field, or twice by one", q.Name)
		}
	}
	return nil
}

func (q *Query) checkFilters() error {
	var ranged FieldPath
	contains := 0
	for _, filter := range q.Filters {
		switch {
		case len(filter.Path) == 0 || filter.Op < Equal || filter.Op > GreaterOrEqual:
			return fault.Newf(fault.Invalid, "query %q has a filter without field or operator", q.Name)
		case filter.Op == ArrayContains:
			contains++
		case filter.Op >= Less && ranged != nil && !slices.Equal(ranged, filter.Path):
			return fault.Newf(fault.Invalid, "query %q has ranges on two fields", q.Name)
		case filter.Op >= Less:
			ranged = filter.Path
		}
	}
	if contains > 1 {
		return fault.Newf(fault.Invalid, "query %q asks for elements of two lists", q.Name)
	}
	if ranged != nil && (len(q.Order) == 0 || !slices.Equal(q.Order[0].Path, ranged)) {
		return fault.Newf(fault.Invalid, "query %q must be ordered by %s first", q.Name, ranged)
	}
	return nil
}
