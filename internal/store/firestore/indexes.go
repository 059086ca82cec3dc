package firestore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
)

// Exemption turns the single-field index of a field, and of those below it, off in all
// collections of a name: for values that only grow, which limit a collection to 500 writes
// a second, and for large fields that no query uses. Indexes of several fields may still
// contain it.
type Exemption struct {
	Collection string
	Path       store.FieldPath
}

const (
	ascending       = "ASCENDING"
	descending      = "DESCENDING"
	contains        = "CONTAINS"
	scopeCollection = "COLLECTION"
	scopeGroup      = "COLLECTION_GROUP"
)

// definitions is the file that `firebase deploy --only firestore:indexes` takes.
type definitions struct {
	Indexes   []composite `json:"indexes"`
	Overrides []override  `json:"fieldOverrides"`
}

type composite struct {
	Collection string         `json:"collectionGroup"`
	Scope      string         `json:"queryScope"`
	Fields     []indexedField `json:"fields"`
}

type indexedField struct {
	Path  string `json:"fieldPath"`
	Order string `json:"order,omitempty"`
	Array string `json:"arrayConfig,omitempty"`
}

type override struct {
	Collection string        `json:"collectionGroup"`
	Path       string        `json:"fieldPath"`
	Indexes    []singleIndex `json:"indexes"`
}

type singleIndex struct {
	Order string `json:"order,omitempty"`
	Array string `json:"arrayConfig,omitempty"`
	Scope string `json:"queryScope"`
}

// Indexes is the text of firestore.indexes.json for declared queries: composite indexes,
// single-field indexes of collection groups, and the exemptions. Equal declarations give
// equal text. Invalid: a query that cannot be answered, and an exemption of a field whose
// single-field index a query needs.
func Indexes(queries []*store.Query, exempt []Exemption) ([]byte, error) {
	if _, err := entries.Declare(queries); err != nil {
		return nil, err
	}
	out := definitions{Indexes: []composite{}, Overrides: []override{}}
	for _, query := range queries {
		index := entries.IndexOf(query) // Firestore reads none backward
		fields := fieldsOf(index)
		switch {
		case len(fields) > 1:
			one := composite{Collection: index.Collection, Scope: scopeOf(index), Fields: fields}
			if !slices.ContainsFunc(out.Indexes, one.equal) {
				out.Indexes = append(out.Indexes, one)
			}
		case len(fields) == 1:
			if err := checkNotExempt(index, exempt); err != nil {
				return nil, err
			}
			if index.Group {
				out.addToGroup(index.Collection, fields[0])
			}
		}
	}
	for _, e := range exempt {
		out.Overrides = append(out.Overrides, override{Collection: e.Collection, Path: fieldName(e.Path), Indexes: []singleIndex{}})
	}
	return out.text()
}

func scopeOf(index entries.Index) string {
	if index.Group {
		return scopeGroup
	}
	return scopeCollection
}

// fieldsOf are the fields of an index: those compared for equality, sorted since their
// order does not matter, then those of the order. Firestore appends the document's name.
func fieldsOf(index entries.Index) []indexedField {
	var fixed []indexedField
	for _, filter := range index.Fixed {
		one := indexedField{Path: fieldName(filter.Path), Order: ascending}
		if filter.Op == store.ArrayContains {
			one = indexedField{Path: one.Path, Array: contains}
		}
		if !slices.Contains(fixed, one) {
			fixed = append(fixed, one)
		}
	}
	slices.SortFunc(fixed, func(a, b indexedField) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Array, b.Array))
	})
	for _, order := range index.Order {
		one := indexedField{Path: fieldName(order.Path), Order: ascending}
		if order.Descending {
			one.Order = descending
		}
		fixed = append(fixed, one)
	}
	return fixed
}

func (c composite) equal(other composite) bool {
	return c.Collection == other.Collection && c.Scope == other.Scope && slices.Equal(c.Fields, other.Fields)
}

func checkNotExempt(index entries.Index, exempt []Exemption) error {
	var path store.FieldPath
	if len(index.Fixed) > 0 {
		path = index.Fixed[0].Path
	} else {
		path = index.Order[0].Path
	}
	for _, e := range exempt {
		if e.Collection == index.Collection && path.HasPrefix(e.Path) {
			return fault.Newf(fault.Invalid, "%s.%s is exempt from indexes, but a query needs one of it", e.Collection, path)
		}
	}
	return nil
}

// addToGroup adds a single-field index over a collection group, which Firestore has none of
// by default. An override replaces the default ones.
func (d *definitions) addToGroup(collection string, field indexedField) {
	wanted := singleIndex{Order: field.Order, Array: field.Array, Scope: scopeGroup}
	for i, o := range d.Overrides {
		if o.Collection == collection && o.Path == field.Path {
			if !slices.Contains(o.Indexes, wanted) {
				d.Overrides[i].Indexes = append(o.Indexes, wanted)
			}
			return
		}
	}
	d.Overrides = append(d.Overrides, override{Collection: collection, Path: field.Path, Indexes: []singleIndex{
		{Order: ascending, Scope: scopeCollection}, {Order: descending, Scope: scopeCollection},
		{Array: contains, Scope: scopeCollection}, wanted,
	}})
}

// text sorts the definitions and writes them.
func (d *definitions) text() ([]byte, error) {
	slices.SortFunc(d.Indexes, func(a, b composite) int {
		return cmp.Or(strings.Compare(a.Collection, b.Collection), strings.Compare(a.Scope, b.Scope),
			slices.CompareFunc(a.Fields, b.Fields, compareFields))
	})
	slices.SortFunc(d.Overrides, func(a, b override) int {
		return cmp.Or(strings.Compare(a.Collection, b.Collection), strings.Compare(a.Path, b.Path))
	})
	for i := 1; i < len(d.Overrides); i++ {
		if a, b := d.Overrides[i-1], d.Overrides[i]; a.Collection == b.Collection && a.Path == b.Path {
			return nil, fault.Newf(fault.Invalid, "%s.%s is exempt from indexes twice", a.Collection, a.Path)
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(d)
	return text.Bytes(), err
}

func compareFields(a, b indexedField) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Order, b.Order), strings.Compare(a.Array, b.Array))
}

// Unindexed runs each declared query, for one document, and returns the names of those
// whose index is not deployed or still being built. Each costs a read and may take as long
// as given; the first that gets no answer is the error. An emulator answers all.
func (s *Store) Unindexed(ctx context.Context, each time.Duration) (names []string, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	for _, query := range s.declared {
		bound := query.With(probes(query)...).First(1)
		patient, cancel := context.WithTimeout(ctx, each)
		err := s.patiently(patient, func(ctx context.Context) error {
			_, err := s.query(ctx, &session{}, bound)
			if answer, _ := status.FromError(err); err != nil && answer.Code() == codes.FailedPrecondition {
				names = append(names, query.Name)
				return nil
			}
			return err
		})
		cancel()
		if err != nil {
			return nil, fmt.Errorf("try the indexes: %w", err)
		}
	}
	return names, nil
}

// probes are arbitrary valid arguments for a query.
func probes(query *store.Query) []any {
	args := make([]any, len(query.Filters))
	for i, filter := range query.Filters {
		args[i] = ""
		if filter.Op == store.In {
			args[i] = []any{""}
		}
	}
	return args
}
