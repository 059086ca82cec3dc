package storetest

import (
	"testing"

	"questscheduler/internal/store"
)

func filter(op store.Op, names ...string) store.Filter { return store.Filter{Path: names, Op: op} }

func ascending(names ...string) store.Order { return store.Order{Path: names} }

func descending(names ...string) store.Order { return store.Order{Path: names, Descending: true} }

// The suite's queries: books at the top, notes below them and, as a group,
// below everything.
var (
	everyBook = &store.Query{Name: "every book", Collection: "books"}
	everyNote = &store.Query{Name: "every note of a book", Collection: "notes"}
	byRank    = &store.Query{Name: "notes by rank", Collection: "notes", Order: []store.Order{ascending("rank")}}
	topRank   = &store.Query{Name: "notes from the top rank", Collection: "notes", Order: []store.Order{descending("rank")}}
	ofKind    = &store.Query{
		Name: "notes of a kind", Collection: "notes", Filters: []store.Filter{filter(store.Equal, "kind")},
	}
	ofKindByRank = &store.Query{
		Name: "notes of a kind by rank", Collection: "notes",
		Filters: []store.Filter{filter(store.Equal, "kind")}, Order: []store.Order{ascending("rank")},
	}
	ofKinds = &store.Query{
		Name: "notes of kinds", Collection: "notes", Filters: []store.Filter{filter(store.In, "kind")},
	}
	ofKindsFromTop = &store.Query{
		Name: "notes of kinds from the top rank", Collection: "notes",
		Filters: []store.Filter{filter(store.In, "kind")}, Order: []store.Order{descending("rank")},
	}
	tagged = &store.Query{
		Name: "notes with a tag", Collection: "notes", Filters: []store.Filter{filter(store.ArrayContains, "tags")},
		Order: []store.Order{ascending("rank")},
	}
	taggedOfKinds = &store.Query{
		Name: "notes with a tag, of kinds", Collection: "notes",
		Filters: []store.Filter{filter(store.ArrayContains, "tags"), filter(store.In, "kind")},
		Order:   []store.Order{descending("rank")},
	}
	between = &store.Query{
		Name: "notes between ranks", Collection: "notes",
		Filters: []store.Filter{filter(store.GreaterOrEqual, "rank"), filter(store.Less, "rank")},
		Order:   []store.Order{ascending("rank")},
	}
	withinFromTop = &store.Query{
		Name: "notes within ranks from the top", Collection: "notes",
		Filters: []store.Filter{filter(store.Greater, "rank"), filter(store.LessOrEqual, "rank")},
		Order:   []store.Order{descending("rank")},
	}
	ofKindsAbove = &store.Query{
		Name: "notes of kinds above a rank", Collection: "notes",
		Filters: []store.Filter{filter(store.In, "kind"), filter(store.Greater, "rank")},
		Order:   []store.Order{ascending("rank")},
	}
	byKindAndRank = &store.Query{
		Name: "notes by kind and from the top rank", Collection: "notes",
		Order: []store.Order{ascending("kind"), descending("rank")},
	}
	inside = &store.Query{
		Name: "notes by a nested field", Collection: "notes",
		Filters: []store.Filter{filter(store.Equal, "meta", "a-b.c")}, Order: []store.Order{ascending("meta", "at")},
	}
	everywhere = &store.Query{
		Name: "notes everywhere by rank", Collection: "notes", Group: true, Order: []store.Order{ascending("rank")},
	}
	ofKindEverywhere = &store.Query{
		Name: "notes of a kind everywhere", Collection: "notes", Group: true,
		Filters: []store.Filter{filter(store.Equal, "kind")},
	}
	declared = []*store.Query{
		everyBook, everyNote, byRank, topRank, ofKind, ofKindByRank, ofKinds, ofKindsFromTop, tagged, taggedOfKinds,
		between, withinFromTop, ofKindsAbove, byKindAndRank, inside, everywhere, ofKindEverywhere,
	}
	undeclared = &store.Query{Name: "books that nobody declared", Collection: "books"}
)

// badDeclarations are queries that some driver could not answer.
var badDeclarations = map[string]*store.Query{
	"no query":            nil,
	"no name":             {Collection: "notes"},
	"no collection":       {Name: "q"},
	"a filter of nothing": {Name: "q", Collection: "notes", Filters: []store.Filter{{Op: store.Equal}}},
	"no operator":         {Name: "q", Collection: "notes", Filters: []store.Filter{filter(0, "a")}},
	"an unknown operator": {Name: "q", Collection: "notes", Filters: []store.Filter{filter(store.GreaterOrEqual+1, "a")}},
	"ranges on two fields": {
		Name: "q", Collection: "notes",
		Filters: []store.Filter{filter(store.Less, "a"), filter(store.Less, "b")}, Order: []store.Order{ascending("a")},
	},
	"a range that is not ordered by": {
		Name: "q", Collection: "notes", Filters: []store.Filter{filter(store.Less, "a")},
	},
	"a range that is ordered by second": {
		Name: "q", Collection: "notes",
		Filters: []store.Filter{filter(store.Less, "a")}, Order: []store.Order{ascending("b"), ascending("a")},
	},
	"two lists": {
		Name: "q", Collection: "notes",
		Filters: []store.Filter{filter(store.ArrayContains, "a"), filter(store.ArrayContains, "b")},
	},
	"an order of nothing": {Name: "q", Collection: "notes", Order: []store.Order{{}}},
	"an order twice":      {Name: "q", Collection: "notes", Order: []store.Order{ascending("a"), descending("a")}},
}

func checkDeclarations(t *testing.T) {
	for name, query := range badDeclarations {
		wantInvalid(t, "Check", name, query.Check())
	}
	for _, query := range declared {
		must(t, query.Check())
	}
}
