package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/test/docs"
)

const indexFile = "firestore.indexes.json"

func TestPage_Indexes_AreCurrent(t *testing.T) {
	t.Parallel()
	text, err := indexes()
	if err != nil {
		t.Fatal(err)
	}
	docs.CheckFile(t, indexFile, string(text))
}

// deployed is firestore.indexes.json, read as Firestore's documentation specifies.
type deployed struct {
	Indexes []struct {
		CollectionGroup, QueryScope string
		Fields                      []struct{ FieldPath, Order, ArrayConfig string }
	}
	FieldOverrides []struct {
		CollectionGroup, FieldPath string
		Indexes                    []struct{ Order, ArrayConfig, QueryScope string }
	}
}

// TestEveryQuery_HasItsIndex: production refuses a query without an index; the emulator
// accepts it.
func TestEveryQuery_HasItsIndex(t *testing.T) {
	t.Parallel()
	var file deployed
	if err := json.Unmarshal([]byte(docs.Read(t, indexFile)), &file); err != nil {
		t.Fatal(err)
	}
	for _, query := range queries() {
		if !file.answers(query) {
			t.Errorf("no index answers %q", query.Name)
		}
	}
}

func TestAnswers_WithoutTheIndex_No(t *testing.T) {
	t.Parallel()
	var file deployed
	if err := json.Unmarshal([]byte(`{"indexes": [{"collectionGroup": "notes", "queryScope": "COLLECTION", "fields": [
		{"fieldPath": "kind", "order": "ASCENDING"}, {"fieldPath": "rank", "order": "DESCENDING"}]}],
		"fieldOverrides": [{"collectionGroup": "notes", "fieldPath": "large", "indexes": []}]}`), &file); err != nil {
		t.Fatal(err)
	}
	equal := func(name string) store.Filter { return store.Filter{Path: store.Field(name), Op: store.Equal} }
	by := func(name string, descending bool) []store.Order {
		return []store.Order{{Path: store.Field(name), Descending: descending}}
	}
	for name, row := range map[string]struct {
		query store.Query
		want  bool
	}{
		"nothing asked":            {store.Query{}, true},
		"one field":                {store.Query{Filters: []store.Filter{equal("kind")}}, true},
		"one order":                {store.Query{Order: by("rank", false)}, true},
		"both":                     {store.Query{Filters: []store.Filter{equal("kind")}, Order: by("rank", true)}, true},
		"both the other way round": {store.Query{Filters: []store.Filter{equal("kind")}, Order: by("rank", false)}, false},
		"another field":            {store.Query{Filters: []store.Filter{equal("sort")}, Order: by("rank", true)}, false},
		"one field more":           {store.Query{Filters: []store.Filter{equal("kind"), equal("sort")}, Order: by("rank", true)}, false},
		"everywhere":               {store.Query{Group: true, Filters: []store.Filter{equal("kind")}}, false},
		"an exempt field":          {store.Query{Order: by("large", false)}, false},
	} {
		row.query.Collection = "notes"
		if got := file.answers(&row.query); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// answers reports whether a query has an index: for a single field the automatic one
// of Firestore, unless the file exempts it; for several fields one of the file.
func (d deployed) answers(query *store.Query) bool {
	equal, ordered := map[string]string{}, [][2]string{}
	for _, filter := range query.Filters {
		switch filter.Op {
		case store.Equal, store.In:
			equal[quoted(filter.Path)] = "ASCENDING"
		case store.ArrayContains:
			equal[quoted(filter.Path)] = "CONTAINS"
		}
	}
	for _, order := range query.Order {
		direction := "ASCENDING"
		if order.Descending {
			direction = "DESCENDING"
		}
		ordered = append(ordered, [2]string{quoted(order.Path), direction})
	}
	scope := "COLLECTION"
	if query.Group {
		scope = "COLLECTION_GROUP"
	}
	switch len(equal) + len(ordered) {
	case 0:
		return true
	case 1:
		for path, how := range equal {
			return d.keepsSingle(query.Collection, path, how, scope)
		}
		return d.keepsSingle(query.Collection, ordered[0][0], ordered[0][1], scope)
	}
	for _, index := range d.Indexes {
		if index.CollectionGroup != query.Collection || index.QueryScope != scope || len(index.Fields) != len(equal)+len(ordered) {
			continue
		}
		fits := true
		for i, field := range index.Fields {
			how := field.Order + field.ArrayConfig
			if i < len(equal) {
				fits = fits && equal[field.FieldPath] == how
			} else {
				fits = fits && ordered[i-len(equal)] == [2]string{field.FieldPath, how}
			}
		}
		if fits {
			return true
		}
	}
	return false
}

// keepsSingle reports whether Firestore keeps an automatic index of one field.
func (d deployed) keepsSingle(collection, path, how, scope string) bool {
	for _, override := range d.FieldOverrides {
		below := path == override.FieldPath || strings.HasPrefix(path, override.FieldPath+".")
		if override.CollectionGroup != collection || !below {
			continue
		}
		return slices.ContainsFunc(override.Indexes, func(index struct{ Order, ArrayConfig, QueryScope string }) bool {
			return index.Order+index.ArrayConfig == how && index.QueryScope == scope
		})
	}
	return scope == "COLLECTION"
}

// quoted is a field path as the file quotes it; declared queries have plain names only.
func quoted(path store.FieldPath) string { return strings.Join(path, ".") }
