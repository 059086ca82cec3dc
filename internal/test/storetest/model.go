package storetest

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/store"
)

// model is the plainest store there is: what drivers are compared with. It
// shares no code with them; values are compared as the port's comments say.
type model map[store.Path]map[string]any

// answer gives the paths that a query selects, in its order.
func (m model) answer(bound store.Bound) []store.Path {
	var out []store.Path
	for path, data := range m {
		if selects(bound, path, data) {
			out = append(out, path)
		}
	}
	slices.SortFunc(out, func(a, b store.Path) int {
		return comparePlaces(bound.Query, placeOf(bound.Query, a, m[a]), placeOf(bound.Query, b, m[b]))
	})
	if bound.After != nil {
		out = slices.DeleteFunc(out, func(p store.Path) bool {
			return comparePlaces(bound.Query, placeOf(bound.Query, p, m[p]), *bound.After) <= 0
		})
	}
	if bound.Limit > 0 && len(out) > bound.Limit {
		out = out[:bound.Limit]
	}
	return out
}

func selects(bound store.Bound, path store.Path, data map[string]any) bool {
	query := bound.Query
	if path.Collection() != query.Collection || (!query.Group && path.Parent() != bound.Parent) {
		return false
	}
	for _, order := range query.Order {
		if _, ok := order.Path.Lookup(data); !ok {
			return false
		}
	}
	for i, filter := range query.Filters {
		value, ok := filter.Path.Lookup(data)
		if !ok || !holds(filter.Op, value, bound.Args[i]) {
			return false
		}
	}
	return true
}

func holds(op store.Op, value, arg any) bool {
	equal := func(other any) bool { return compare(value, other) == 0 }
	alike := typeRank(value) == typeRank(arg)
	switch op {
	case store.Equal:
		return equal(arg)
	case store.In:
		return slices.ContainsFunc(arg.([]any), equal)
	case store.ArrayContains:
		list, _ := value.([]any)
		return slices.ContainsFunc(list, func(item any) bool { return compare(item, arg) == 0 })
	case store.Less:
		return alike && compare(value, arg) < 0
	case store.LessOrEqual:
		return alike && compare(value, arg) <= 0
	case store.Greater:
		return alike && compare(value, arg) > 0
	default:
		return alike && compare(value, arg) >= 0
	}
}

func placeOf(query *store.Query, path store.Path, data map[string]any) store.Cursor {
	return *query.CursorAt(store.Document{Path: path, Data: data})
}

func comparePlaces(query *store.Query, a, b store.Cursor) int {
	sign := 1
	for i, order := range query.Order {
		sign = 1
		if order.Descending {
			sign = -1
		}
		if c := compare(a.Values[i], b.Values[i]); c != 0 {
			return c * sign
		}
	}
	return sign * slices.Compare(strings.Split(string(a.Path), "/"), strings.Split(string(b.Path), "/"))
}

func typeRank(value any) int {
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
	default:
		return 6
	}
}

// compare orders normalised values; not-a-number is not among the suite's.
func compare(a, b any) int {
	if c := cmp.Compare(typeRank(a), typeRank(b)); c != 0 {
		return c
	}
	switch x := a.(type) {
	case bool:
		y := b.(bool)
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case int64, float64:
		return exact(a).Cmp(exact(b))
	case time.Time:
		return x.Compare(b.(time.Time))
	case string:
		return strings.Compare(x, b.(string))
	case []any:
		return slices.CompareFunc(x, b.([]any), compare)
	case map[string]any:
		return compareMaps(x, b.(map[string]any))
	}
	return 0
}

func exact(number any) *big.Float {
	if n, ok := number.(int64); ok {
		return new(big.Float).SetInt64(n)
	}
	return big.NewFloat(number.(float64))
}

// compareMaps compares the first names, then their values, then the next.
func compareMaps(a, b map[string]any) int {
	x, y := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	for i := range min(len(x), len(y)) {
		if c := cmp.Or(strings.Compare(x[i], y[i]), compare(a[x[i]], b[y[i]])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// same is equality of type and value: 1 and 1.0 are not the same, and two
// instants are if they are equal and both in UTC.
func same(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && (x == nil) == (y == nil) && maps.EqualFunc(x, y, same)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, same)
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y) && x.Location() == y.Location()
	default:
		return a == b
	}
}
