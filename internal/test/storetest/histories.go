package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"questscheduler/internal/store"
)

var histories = []promise{
	{"a long random history agrees with a plain model", func(t *testing.T, s store.Store) {
		for seed := range uint64(2) {
			h := &history{rand: rand.New(rand.NewPCG(seed, 0)), model: model{}, root: store.Doc("shelves", fmt.Sprint(seed))}
			for step := range 40 {
				h.write(t, s)
				if step%2 == 1 {
					h.ask(t, s, seed, step)
				}
			}
		}
	}},
}

// history writes at random to a store and a model alike, and compares what
// they answer. Its documents lie below a root of its own.
type history struct {
	rand  *rand.Rand
	model model
	root  store.Path
}

var (
	historyKinds = []any{"k", "l", int64(1), 1.0, nil, true, []any{"k"}}
	historyRanks = []any{int64(0), int64(1), 1.0, 1.5, int64(2), "1", "a", "ab", nil, false, instant(1000)}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func (h *history) parent() store.Path {
	return h.root.Doc("books", pick(h.rand, []string{"a", "a-", "b"}))
}

func (h *history) fields() map[string]any {
	out := map[string]any{}
	if h.rand.IntN(5) > 0 {
		out["kind"] = pick(h.rand, historyKinds)
	}
	if h.rand.IntN(6) > 0 {
		out["rank"] = pick(h.rand, historyRanks)
	}
	if h.rand.IntN(3) > 0 {
		out["tags"] = []any{pick(h.rand, []any{"x", "y"}), pick(h.rand, []any{"x", int64(1), 1.0})}
	}
	if h.rand.IntN(2) > 0 {
		out["meta"] = map[string]any{"a-b.c": pick(h.rand, []any{"v", "w"}), "at": pick(h.rand, historyRanks)}
	}
	return out
}

// write does one to three writes in one transaction.
func (h *history) write(t *testing.T, s store.Store) {
	t.Helper()
	type step struct {
		path   store.Path
		kind   int
		fields map[string]any
	}
	steps := make([]step, 1+h.rand.IntN(3))
	for i := range steps {
		path := h.parent().Doc("notes", pick(h.rand, []string{"1", "2", "3", "4", "é", "a b"}))
		steps[i] = step{path, h.rand.IntN(5), h.fields()}
	}
	run(t, s, func(tx store.Tx) error {
		for _, step := range steps {
			var err error
			switch step.kind {
			case 0:
				err = tx.Delete(step.path)
			case 1:
				err = tx.Merge(step.path, field(step.fields["rank"], "rank"), field(store.Delete, "kind"))
			default:
				err = tx.Set(step.path, step.fields)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, step := range steps {
		switch step.kind {
		case 0:
			delete(h.model, step.path)
		case 1:
			merged := map[string]any{}
			for name, value := range h.model[step.path] {
				if name != "kind" {
					merged[name] = value
				}
			}
			merged["rank"] = step.fields["rank"]
			h.model[step.path] = merged
		default:
			h.model[step.path] = step.fields
		}
	}
}

// ask binds every query at random, and compares pages, outside and inside a
// transaction.
func (h *history) ask(t *testing.T, s store.Store, seed uint64, step int) {
	t.Helper()
	for _, query := range declared {
		if query.Group || query == everyBook {
			continue // these see the other histories too
		}
		bound := h.bind(query)
		want := h.model.answer(bound)
		got := ask(t, s, bound)
		if step%4 == 1 {
			must(t, s.Run(t.Context(), func(ctx context.Context, tx store.Tx) (err error) {
				got, err = tx.Query(ctx, bound)
				return err
			}))
		}
		var paths []store.Path
		for _, document := range got {
			paths = append(paths, document.Path)
			if !same(document.Data, h.model[document.Path]) {
				t.Fatalf("seed %d, step %d: %s holds %v, want %v", seed, step, document.Path, document.Data, h.model[document.Path])
			}
		}
		if !slices.Equal(paths, want) {
			t.Fatalf("seed %d, step %d: %q with %v after %v gave\n%q, want\n%q",
				seed, step, query.Name, bound.Args, bound.After, paths, want)
		}
	}
}

func (h *history) bind(query *store.Query) store.Bound {
	var args []any
	for _, filter := range query.Filters {
		switch filter.Op {
		case store.In:
			args = append(args, []any{pick(h.rand, []any{"k", "l"}), pick(h.rand, []any{int64(1), true, "k"})})
		case store.ArrayContains:
			args = append(args, pick(h.rand, []any{"x", int64(1)}))
		case store.Equal:
			args = append(args, pick(h.rand, []any{"k", 1.0, nil, "v", []any{"k"}}))
		default:
			args = append(args, pick(h.rand, []any{int64(0), 1.0, 1.25, "a", "1", false, instant(1000)}))
		}
	}
	bound := query.With(args...).Below(h.parent()).First(h.rand.IntN(4))
	if all := h.model.answer(bound.First(0)); len(all) > 0 && h.rand.IntN(2) == 0 {
		path := pick(h.rand, all)
		bound = bound.From(query.CursorAt(store.Document{Path: path, Data: h.model[path]}))
	}
	return bound
}
