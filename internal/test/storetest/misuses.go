package storetest

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

var badPaths = map[string]store.Path{
	"empty":                 "",
	"a collection":          "books",
	"below a document":      "books/one/notes",
	"an empty part":         "books//notes/n",
	"a slash at the front":  "/books/one",
	"a slash at the end":    "books/one/",
	"a dot":                 "books/.",
	"two dots":              "books/..",
	"a reserved name":       "books/__id__",
	"a part that is long":   store.Path("books/" + strings.Repeat("x", 1501)),
	"a path that is long":   store.Path(strings.Repeat("books/"+strings.Repeat("x", 1000)+"/", 7) + "books/one"),
	"bytes that no text is": "books/\xff",
}

var badValues = map[string]any{
	"a channel":            make(chan int),
	"a struct":             struct{ A int }{1},
	"an unsigned integer":  uint64(math.MaxUint64),
	"bytes":                []byte("x"),
	"a list in a list":     []any{[]any{1}},
	"a list deep down":     map[string]any{"m": []any{map[string]any{"l": []any{[]any{}}}}},
	"bad text":             "\xff",
	"a nameless field":     map[string]any{"": 1},
	"a reserved name":      map[string]any{"__name__": 1},
	"a name that is long":  map[string]any{strings.Repeat("x", 1501): 1},
	"a name of bad text":   map[string]any{"\xff": 1},
	"a year before 1":      time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC),
	"a year after 9999":    time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
	"a delete mark inside": map[string]any{"a": store.Delete},
	"a delete mark listed": []any{store.Delete},
}

// badUpdates are lists of updates that are refused wherever they are used.
var badUpdates = map[string][]store.Update{
	"no update":                  {},
	"no field":                   {field(1)},
	"an empty name":              {field(1, "a", "")},
	"a reserved name":            {field(1, "__name__")},
	"a field twice":              {field(1, "a"), field(1, "a")},
	"a field and one below it":   {field(1, "a"), field(1, "a", "b")},
	"a field and one above it":   {field(1, "a", "b", "c"), field(1, "x"), field(1, "a", "b")},
	"a deletion and one below":   {field(store.Delete, "a"), field(1, "a", "b")},
	"a good one before a bad":    {field(1, "a"), field([]byte("x"), "b")},
	"a delete mark inside a map": {field(map[string]any{"x": store.Delete}, "a")},
}

var misuses = []promise{
	{"a bad path is refused by every call", func(t *testing.T, s store.Store) {
		for name, path := range badPaths {
			_, err := s.Get(t.Context(), path)
			wantInvalid(t, "Get", name, err)
			_, err = s.GetAll(t.Context(), []store.Path{doc, path})
			wantInvalid(t, "GetAll", name, err)
			wantInvalid(t, "DeleteTree", name, s.DeleteTree(t.Context(), path))
			for call, use := range pathUses {
				err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error { return use(ctx, tx, path) })
				wantInvalid(t, call+" in a transaction", name, err)
			}
		}
	}},
	{"a bad value is refused by every write", func(t *testing.T, s store.Store) {
		set(t, s, doc, map[string]any{"n": 1})
		for name, value := range badValues {
			for call, use := range map[string]func(store.Tx) error{
				"Create": func(tx store.Tx) error { return tx.Create("books/two", map[string]any{"v": value}) },
				"Set":    func(tx store.Tx) error { return tx.Set(doc, map[string]any{"v": value}) },
				"Update": func(tx store.Tx) error { return tx.Update(doc, field(value, "v")) },
				"Merge":  func(tx store.Tx) error { return tx.Merge(doc, field(value, "v")) },
			} {
				err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return use(tx) })
				wantInvalid(t, call, name, err)
			}
		}
		wantFields(t, s, doc, map[string]any{"n": int64(1)})
	}},
	{"updates that conflict or name no field are refused", func(t *testing.T, s store.Store) {
		set(t, s, doc, map[string]any{"n": 1})
		for name, updates := range badUpdates {
			err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Update(doc, updates...) })
			wantInvalid(t, "Update", name, err)
			err = s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Merge(doc, updates...) })
			wantInvalid(t, "Merge", name, err)
		}
		wantFields(t, s, doc, map[string]any{"n": int64(1)})
	}},
	{"a read after a write is refused", func(t *testing.T, s store.Store) {
		reads := map[string]func(context.Context, store.Tx) error{
			"Get":    func(ctx context.Context, tx store.Tx) error { _, err := tx.Get(ctx, doc); return err },
			"GetAll": func(ctx context.Context, tx store.Tx) error { _, err := tx.GetAll(ctx, []store.Path{doc}); return err },
			"Query":  func(ctx context.Context, tx store.Tx) error { _, err := tx.Query(ctx, everyBook.With()); return err },
		}
		for call, reading := range reads {
			for writing, write := range pathUses {
				if writing == "Get" || writing == "GetAll" {
					continue
				}
				err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
					if err := write(ctx, tx, "books/two"); err != nil {
						return err
					}
					return reading(ctx, tx)
				})
				wantInvalid(t, call, "after "+writing, err)
			}
		}
		wantFields(t, s, "books/two", nil)
	}},
	{"a misuse ends a transaction even where its function goes on", func(t *testing.T, s store.Store) {
		slips := map[string]func(context.Context, store.Tx) error{
			"a bad path":         func(_ context.Context, tx store.Tx) error { return tx.Set("books", nil) },
			"a bad value":        func(_ context.Context, tx store.Tx) error { return tx.Set(doc, map[string]any{"v": []byte{}}) },
			"a bad update":       func(_ context.Context, tx store.Tx) error { return tx.Update(doc) },
			"a late read":        func(ctx context.Context, tx store.Tx) error { _, err := tx.Get(ctx, doc); return err },
			"an undeclared read": func(ctx context.Context, tx store.Tx) error { _, err := tx.Query(ctx, undeclared.With()); return err },
		}
		for name, slip := range slips {
			err := s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
				if err := tx.Set("books/two", nil); err != nil {
					return err
				}
				if err := slip(ctx, tx); err == nil {
					t.Errorf("%s was let through", name)
				}
				return nil
			})
			wantInvalid(t, "Run", "after "+name, err)
		}
		wantFields(t, s, "books/two", nil)
	}},
	{"the store cannot be called inside a transaction", func(t *testing.T, s store.Store) {
		calls := map[string]func(context.Context) error{
			"Run": func(ctx context.Context) error {
				return s.Run(ctx, func(context.Context, store.Tx) error { return nil })
			},
			"Get":        func(ctx context.Context) error { _, err := s.Get(ctx, doc); return err },
			"GetAll":     func(ctx context.Context) error { _, err := s.GetAll(ctx, []store.Path{doc}); return err },
			"Query":      func(ctx context.Context) error { _, err := s.Query(ctx, everyBook.With()); return err },
			"DeleteTree": func(ctx context.Context) error { return s.DeleteTree(ctx, doc) },
		}
		for name, call := range calls {
			err := s.Run(t.Context(), func(ctx context.Context, _ store.Tx) error { return call(ctx) })
			wantInvalid(t, name, "inside a transaction", err)
		}
		set(t, s, doc, nil) // the store goes on
	}},
	{"a transaction is of no use after its end", func(t *testing.T, s store.Store) {
		var kept store.Tx
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { kept = tx; return nil }))
		for call, use := range pathUses {
			wantInvalid(t, call, "after the transaction's end", use(t.Context(), kept, doc))
		}
		wantFields(t, s, doc, nil)
	}},
}

// pathUses are all calls of a transaction that take a path.
var pathUses = map[string]func(context.Context, store.Tx, store.Path) error{
	"Get": func(ctx context.Context, tx store.Tx, p store.Path) error { _, err := tx.Get(ctx, p); return err },
	"GetAll": func(ctx context.Context, tx store.Tx, p store.Path) error {
		_, err := tx.GetAll(ctx, []store.Path{p})
		return err
	},
	"Create": func(_ context.Context, tx store.Tx, p store.Path) error { return tx.Create(p, nil) },
	"Set":    func(_ context.Context, tx store.Tx, p store.Path) error { return tx.Set(p, nil) },
	"Update": func(_ context.Context, tx store.Tx, p store.Path) error { return tx.Update(p, field(1, "a")) },
	"Merge":  func(_ context.Context, tx store.Tx, p store.Path) error { return tx.Merge(p, field(1, "a")) },
	"Delete": func(_ context.Context, tx store.Tx, p store.Path) error { return tx.Delete(p) },
}

func wantInvalid(t *testing.T, call, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("%s, %s: got %v, want Invalid", call, what, err)
	}
}
