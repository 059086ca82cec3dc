package firestore_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/store/firestore"
)

func filter(op store.Op, names ...string) store.Filter { return store.Filter{Path: names, Op: op} }

func order(descending bool, names ...string) store.Order {
	return store.Order{Path: names, Descending: descending}
}

func TestIndexes_Definitions(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		query store.Query
		want  string // the definitions without white space and names of keys
	}{
		"no field": {store.Query{}, `[] []`},
		"one field is kept by Firestore itself": {
			store.Query{Filters: []store.Filter{filter(store.Less, "a")}, Order: []store.Order{order(true, "a")}}, `[] []`,
		},
		"equality and order": {
			store.Query{Filters: []store.Filter{filter(store.Equal, "b"), filter(store.Equal, "a")}, Order: []store.Order{order(true, "c")}},
			`[notes COLLECTION a ASCENDING b ASCENDING c DESCENDING] []`,
		},
		"equalities alone": {
			store.Query{Filters: []store.Filter{filter(store.Equal, "a"), filter(store.In, "b")}},
			`[notes COLLECTION a ASCENDING b ASCENDING] []`,
		},
		"an element and an order": {
			store.Query{Filters: []store.Filter{filter(store.ArrayContains, "l")}, Order: []store.Order{order(false, "c")}},
			`[notes COLLECTION l CONTAINS c ASCENDING] []`,
		},
		"two orders": {
			store.Query{Order: []store.Order{order(false, "z"), order(true, "a")}}, `[notes COLLECTION z ASCENDING a DESCENDING] []`,
		},
		"names between backquotes": {
			store.Query{Filters: []store.Filter{filter(store.Equal, "m", "a-b.c")}, Order: []store.Order{order(false, "m", "at")}},
			"[notes COLLECTION m.`a-b.c` ASCENDING m.at ASCENDING] []",
		},
		"a group of one field": {
			store.Query{Group: true, Order: []store.Order{order(true, "a")}},
			`[] [notes a ASCENDING COLLECTION DESCENDING COLLECTION CONTAINS COLLECTION DESCENDING COLLECTION_GROUP]`,
		},
		"a group of two": {
			store.Query{Group: true, Filters: []store.Filter{filter(store.Equal, "a")}, Order: []store.Order{order(true, "b")}},
			`[notes COLLECTION_GROUP a ASCENDING b DESCENDING] []`,
		},
	} {
		row.query.Name, row.query.Collection = name, "notes"
		text, err := firestore.Indexes([]*store.Query{&row.query}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := bare(string(text)); got != row.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, row.want)
		}
	}
}

// bare leaves of a definition what distinguishes it.
func bare(text string) string {
	for _, key := range []string{"indexes", "fieldOverrides", "collectionGroup", "queryScope", "fields", "fieldPath", "order", "arrayConfig"} {
		text = strings.ReplaceAll(text, `"`+key+`":`, " ")
	}
	text = strings.NewReplacer(`"`, "", ",", " ", "{", " ", "}", " ").Replace(text)
	text = strings.NewReplacer("[ ", "[", " ]", "]").Replace(strings.Join(strings.Fields(text), " "))
	// The lists inside the two lists tell nothing.
	inner := strings.NewReplacer("[", "", "]", "")
	first, second, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), "] [")
	return "[" + strings.TrimSpace(inner.Replace(first)) + "] [" + strings.TrimSpace(inner.Replace(second)) + "]"
}

func TestIndexes_OneShape_IsThereOnce(t *testing.T) {
	t.Parallel()
	one := &store.Query{Name: "one", Collection: "notes", Filters: []store.Filter{filter(store.Equal, "a"), filter(store.Equal, "b")}}
	other := &store.Query{Name: "other", Collection: "notes", Filters: []store.Filter{filter(store.In, "b"), filter(store.Equal, "a")}}
	text, err := firestore.Indexes([]*store.Query{one, other}, nil)
	if err != nil || strings.Count(string(text), "queryScope") != 1 {
		t.Fatalf("%s%v", text, err)
	}
	again, err := firestore.Indexes([]*store.Query{other, one}, nil)
	if err != nil || string(again) != string(text) {
		t.Fatalf("in another order they give %s%v", again, err)
	}
}

func TestIndexes_Exemptions(t *testing.T) {
	t.Parallel()
	single := &store.Query{Name: "single", Collection: "notes", Order: []store.Order{order(false, "a", "b")}}
	both := &store.Query{
		Name: "both", Collection: "notes", Filters: []store.Filter{filter(store.Equal, "k")},
		Order: []store.Order{order(false, "c")},
	}
	queries := []*store.Query{single, both}
	for name, row := range map[string]struct {
		exempt  []firestore.Exemption
		refused bool
	}{
		"of a field that no query uses":    {[]firestore.Exemption{{"notes", store.Field("x")}}, false},
		"of a field used with another":     {[]firestore.Exemption{{"notes", store.Field("c")}}, false},
		"of a field of another collection": {[]firestore.Exemption{{"books", store.Field("a", "b")}}, false},
		"of a field that a query asks for": {[]firestore.Exemption{{"notes", store.Field("a", "b")}}, true},
		"of the map above that field":      {[]firestore.Exemption{{"notes", store.Field("a")}}, true},
		"twice":                            {[]firestore.Exemption{{"notes", store.Field("x")}, {"notes", store.Field("x")}}, true},
		"of a field beside that field":     {[]firestore.Exemption{{"notes", store.Field("a", "c")}}, false},
	} {
		text, err := firestore.Indexes(queries, row.exempt)
		if row.refused != fault.Is(err, fault.Invalid) || !row.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !row.refused && !strings.Contains(string(text), `"indexes": []`) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestUnindexed_ListsUnanswerableQueries(t *testing.T) {
	t.Parallel()
	ranged := &store.Query{
		Name: "ranged", Collection: "a", Filters: []store.Filter{filter(store.Less, "x")},
		Order: []store.Order{order(true, "x")},
	}
	every := &store.Query{
		Name: "every", Collection: "b", Group: true,
		Filters: []store.Filter{filter(store.In, "x"), filter(store.ArrayContains, "y")},
	}
	server := (&scripted{}).fail("query", 1, codes.Unavailable, "").fail("query", 1, codes.FailedPrecondition, "The query requires an index.")
	s := server.start(t, firestore.Options{Queries: []*store.Query{ranged, every}})
	names, err := s.Unindexed(t.Context(), time.Minute)
	if err != nil || !slices.Equal(names, []string{"ranged"}) {
		t.Fatalf("%v, %v", names, err)
	}
	missing := (&scripted{}).fail("query", 1, codes.PermissionDenied, "")
	documents := missing.start(t, firestore.Options{Queries: []*store.Query{every}})
	if _, err := documents.Unindexed(t.Context(), time.Minute); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("got %v", err)
	}
}
