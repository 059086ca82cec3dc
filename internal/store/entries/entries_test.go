package entries_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"questscheduler/internal/store"
	"questscheduler/internal/store/entries"
)

// anyValue draws normalised values of all types, with a liking for those that
// are close to each other.
func anyValue(depth int) *rapid.Generator[any] {
	numbers := []any{
		int64(0), int64(-1), int64(1), int64(1 << 53), int64(1<<53 + 1), int64(-1<<53 - 1), int64(math.MaxInt64),
		int64(math.MaxInt64 - 1), int64(math.MinInt64), int64(math.MinInt64 + 1), 0.0, math.Copysign(0, -1), 1.0, -1.0,
		0.5, float64(1 << 53), float64(1<<53 + 2), float64(1 << 63), -float64(1 << 63), math.Inf(1), math.Inf(-1),
		math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64,
	}
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Map(rapid.Bool(), func(v bool) any { return v }),
		rapid.Map(rapid.Int64(), func(v int64) any { return v }),
		rapid.Map(rapid.Float64(), func(v float64) any { return v }),
		rapid.SampledFrom(numbers),
		rapid.Map(rapid.Int64Range(-62135596800e6, 253402300799e6), func(v int64) any { return time.UnixMicro(v).UTC() }),
		rapid.Map(rapid.String(), func(v string) any { return v }),
		rapid.Map(rapid.StringOfN(rapid.SampledFrom([]rune("\x00\x01ab\u00ff\U0001F3B2")), 0, 4, -1), func(v string) any { return v }),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 3), func(v []any) any { return v }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "a\x00", "ab"}), anyValue(depth-1), 0, 3),
				func(v map[string]any) any { return v }),
		)
	}
	return rapid.OneOf(kinds...)
}

func TestAppendValue_KeysSortAsFirestoreSortsValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValue(2).Draw(t, "a"), anyValue(2).Draw(t, "b")
		got := bytes.Compare(entries.AppendValue(nil, a), entries.AppendValue(nil, b))
		if want := compare(a, b); got != want {
			t.Fatalf("the keys of %#v and %#v compare as %d, want %d", a, b, got, want)
		}
	})
}

func TestAppendValue_NoKeyBeginsAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValue(2).Draw(t, "a"), anyValue(2).Draw(t, "b")
		x, y := entries.AppendValue(nil, a), entries.AppendValue(nil, b)
		if bytes.HasPrefix(x, y) && !bytes.Equal(x, y) {
			t.Fatalf("the key of %#v begins with that of %#v", a, b)
		}
	})
}

func TestAppendValue_NotANumberComesBeforeAllNumbers(t *testing.T) {
	t.Parallel()
	order := []any{true, math.NaN(), math.Inf(-1), int64(0)}
	for i := range len(order) - 1 {
		if bytes.Compare(entries.AppendValue(nil, order[i]), entries.AppendValue(nil, order[i+1])) >= 0 {
			t.Errorf("%v does not come before %v", order[i], order[i+1])
		}
	}
}

// compare is Firestore's order, written as its documentation tells it.
func compare(a, b any) int {
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch x := a.(type) {
	case bool:
		return cmp.Compare(map[bool]int{true: 1}[x], map[bool]int{true: 1}[b.(bool)])
	case int64, float64:
		return exact(a).Cmp(exact(b))
	case time.Time:
		return x.Compare(b.(time.Time))
	case string:
		return strings.Compare(x, b.(string))
	case []any:
		return slices.CompareFunc(x, b.([]any), compare)
	case map[string]any:
		y := b.(map[string]any)
		xs, ys := slices.Sorted(maps.Keys(x)), slices.Sorted(maps.Keys(y))
		for i := range min(len(xs), len(ys)) {
			if c := cmp.Or(cmp.Compare(xs[i], ys[i]), compare(x[xs[i]], y[ys[i]])); c != 0 {
				return c
			}
		}
		return cmp.Compare(len(xs), len(ys))
	}
	return 0
}

func rank(value any) int {
	switch value.(type) {
	case nil:
		return 0
	case bool:
		return 1
	case int64, float64:
		return 2
	case time.Time:
		return 3
	case string:
		return 4
	case []any:
		return 5
	}
	return 6
}

func exact(v any) *big.Float {
	if n, ok := v.(int64); ok {
		return new(big.Float).SetInt64(n)
	}
	return big.NewFloat(v.(float64))
}

func order(names string, descending bool) store.Order {
	return store.Order{Path: strings.Split(names, "/"), Descending: descending}
}

func TestDeclare_QueriesOfOneShapeShareAnIndex(t *testing.T) {
	t.Parallel()
	rank := []store.Order{order("rank", false)}
	all := &store.Query{Name: "all", Collection: "notes", Order: rank}
	some := &store.Query{Name: "some", Collection: "notes", Order: rank, Filters: []store.Filter{{Path: store.Field("rank"), Op: store.Less}}}
	down := &store.Query{Name: "down", Collection: "notes", Order: []store.Order{order("rank", true)}}
	dotted := &store.Query{Name: "dotted", Collection: "notes", Order: []store.Order{order("a/b", false)}}
	undotted := &store.Query{Name: "undotted", Collection: "notes", Order: []store.Order{{Path: store.Field("a b")}}}
	group := &store.Query{Name: "group", Collection: "notes", Group: true, Order: rank}
	set, err := entries.Declare([]*store.Query{all, some, down, dotted, undotted, group})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(set.Indexes()); got != 4 {
		t.Fatalf("%d indexes, want 4", got)
	}
}

func TestDeclare_TwoQueriesOfOneName_Refused(t *testing.T) {
	t.Parallel()
	query := store.Query{Name: "all", Collection: "notes"}
	other := query
	if _, err := entries.Declare([]*store.Query{&query, &other}); err == nil {
		t.Fatal("two queries of one name were declared")
	}
}

// goldenKey is the number 1, the text x, true, and, inverted, a microsecond
// after 1970 and the path.
const goldenKey = "30bff00000000000000000" +
	"50780001" +
	"2001" +
	"bf7ffffffffffffffe" +
	"fd9d9090948cfffefd9dfffefd91908b9a8cfffefd91fffefe"

// Definitions and keys are kept in data files: if this key changes, so must the
// version in the definition, or the entries of old files would be believed.
func TestIndex_IsWhatDataFilesKeep(t *testing.T) {
	t.Parallel()
	index := entries.Index{
		Collection: "notes", Group: true,
		Fixed: []store.Filter{{Path: store.Field("kind"), Op: store.Equal}, {Path: store.Field("m", "tags"), Op: store.ArrayContains}},
		Order: []store.Order{order("rank", false), order("at", true)},
	}
	const want = `v1 "notes" group equal "kind" contains "m" "tags" ascending "rank" descending "at"`
	if got := index.Definition(); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	got := index.Entries("books/b/notes/n", map[string]any{
		"kind": int64(1), "m": map[string]any{"tags": []any{"x"}}, "rank": true, "at": time.UnixMicro(1).UTC(),
	})
	if len(got) != 1 || got[0].Parent != "" {
		t.Fatalf("got %v", got)
	}
	if key := hex.EncodeToString(got[0].Key); key != goldenKey {
		t.Fatalf("got  %s\nwant %s", key, goldenKey)
	}
}

// What an index says stays where it is has the same entries before and after.
func TestIndex_Stays_EntriesAreEqual(t *testing.T) {
	t.Parallel()
	index := entries.Index{
		Collection: "notes",
		Fixed:      []store.Filter{{Path: store.Field("kind"), Op: store.Equal}, {Path: store.Field("m", "tags"), Op: store.ArrayContains}},
		Order:      []store.Order{order("at", true)},
	}
	stayed := 0
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(anyValue(1), 1, 2).Draw(t, "values")
		draw := func(label string) map[string]any {
			tags := map[string]any{"tags": []any{rapid.SampledFrom(values).Draw(t, label+" tag"), "x"}}
			data := map[string]any{
				"kind": rapid.SampledFrom(values).Draw(t, label+" kind"), "m": tags,
				"at": rapid.SampledFrom(values).Draw(t, label+" at"),
			}
			if rapid.IntRange(0, 3).Draw(t, label+" lacks") == 0 {
				delete(data, rapid.SampledFrom([]string{"kind", "m", "at"}).Draw(t, label+" lacks what"))
			}
			return data
		}
		before, after := draw("before"), draw("after")
		after["beside"] = rapid.Int64().Draw(t, "beside")
		if !index.Stays(before, after) {
			return
		}
		stayed++
		was, is := index.Entries("notes/n", before), index.Entries("notes/n", after)
		if !slices.EqualFunc(was, is, entries.Entry.Equal) {
			t.Fatalf("%v and then %v is said to stay where it is, and has the entries %v and then %v", before, after, was, is)
		}
	})
	if stayed == 0 {
		t.Error("nothing that was drawn stayed where it is")
	}
	if index.Stays(nil, map[string]any{}) || index.Stays(map[string]any{}, nil) {
		t.Error("a document that comes or goes is said to stay where it is")
	}
}

func TestSet_HoldsADocumentInTheIndexesOfItsCollection(t *testing.T) {
	t.Parallel()
	set, err := entries.Declare([]*store.Query{
		{Name: "notes", Collection: "notes"}, {Name: "books", Collection: "books"},
		{Name: "all notes", Collection: "notes", Group: true}, {Name: "notes again", Collection: "notes"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[store.Path][]int{"books/b/notes/n": {0, 2}, "books/b": {1}, "pens/p": nil} {
		if got := set.Holding(path); !slices.Equal(got, want) {
			t.Errorf("%s may be in the indexes %v, want %v", path, got, want)
		}
	}
}
