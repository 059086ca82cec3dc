package storetest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
)

// weaknesses are drivers that break a promise, and the promise that the suite
// must find broken. Each is the memory driver with one thing spoilt; without a
// spoiler, the driver of log_test.go.
var weaknesses = []struct {
	name   string
	spoil  func(store.Store) store.Store
	broken string
}{
	{"reads are outside the transaction", outsideReads(true, true), "no update is lost"},
	{"reads are outside the transaction", outsideReads(true, true), "no two transactions write on what the other disproves (write skew)"},
	{"queries are outside the transaction", outsideReads(false, true), "no two transactions create what both found absent (phantom)"},
	{
		"queries are outside the transaction", outsideReads(false, true),
		"no document comes into a result behind a transaction's back (phantom)",
	},
	{"reads are outside the transaction", outsideReads(true, true), "a read after a write is refused"},
	{"writes are made at once", atOnce, "an error of the function is returned as it is and nothing is written"},
	{"writes are made at once", atOnce, "writes take effect together at the end, and nobody sees them before"},
	{"lists are read one by one", oneByOne, "a list of documents sees one state"},
	{"a nested transaction is let through", nesting, "the store cannot be called inside a transaction"},
	{"an update replaces the document", replacing, "an update leaves fields alone that it does not name"},
	{"an update makes the document", replacing, "update refuses a document that is not there"},
	{"integers become doubles", doubles, "every value comes back as it was given"},
	{"cursors forget the path", pathless, "equal keys are divided between pages by path"},
	{"cursors forget the path", pathless, "pages of any size give the whole result once, in order"},
	{"a tree stays", evergreen, "a tree goes with everything below it and nothing beside it"},
	{"an ended context is ignored", deaf, "a context that has ended changes nothing"},
	{"a function's error is changed", wrapping, "a kind of the function's error is kept"},
	{"a commit is acknowledged before it is kept", nil, "an acknowledged write survives the death of the process"},
	{"a commit is acknowledged before it is kept", nil, "what many wrote at once is there when each has heard so"},
	{"a commit is acknowledged before it is kept", nil, "of a transaction that the process dies in, nothing is left"},
}

// weaknessVariable tells a child process which weakness to run the suite on.
const weaknessVariable = "STORETEST_WEAKNESS"

func TestRun_FindsEachWeakness(t *testing.T) {
	t.Parallel()
	outputs := map[string]string{}
	for _, weakness := range weaknesses {
		if outputs[weakness.name] == "" {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWeakDriver$")
			child.Env = append(os.Environ(), weaknessVariable+"="+weakness.name)
			output, err := child.CombinedOutput()
			if err == nil {
				t.Errorf("the suite passes although %s", weakness.name)
			}
			outputs[weakness.name] = string(output)
		}
		failed := "--- FAIL: TestWeakDriver/" + strings.ReplaceAll(weakness.broken, " ", "_") + " ("
		if !strings.Contains(outputs[weakness.name], failed) {
			t.Errorf("although %s, the suite does not find %q broken:\n%s", weakness.name, weakness.broken, outputs[weakness.name])
		}
	}
}

// TestWeakDriver is what the child processes run; here it has nothing to do.
func TestWeakDriver(t *testing.T) {
	name := os.Getenv(weaknessVariable)
	if name == "" {
		t.Skip("runs in child processes of TestRun_FindsEachWeakness")
	}
	for _, weakness := range weaknesses {
		if weakness.name != name {
			continue
		}
		if weakness.spoil == nil {
			storetest.RunDurable(t, func(*testing.T) storetest.Place { return &log{early: true} })
			return
		}
		storetest.Run(t, func(t *testing.T, queries []*store.Query) store.Store {
			s, err := memorystore.Open(queries)
			if err != nil {
				t.Fatal(err)
			}
			return weakness.spoil(s)
		})
		return
	}
	t.Fatalf("there is no weakness %q", name)
}

// weak is a store whose calls go where the functions say; nil: as they should.
type weak struct {
	store.Store
	around  func(ctx context.Context) context.Context
	tx      func(ctx context.Context, tx store.Tx) store.Tx
	end     func(error) error
	query   func(store.Bound) store.Bound
	get     func(store.Document) store.Document
	rooted  bool
	escaped bool // the function gets the caller's ctx back
}

func (w *weak) context(ctx context.Context) context.Context {
	if w.around != nil {
		return w.around(ctx)
	}
	return ctx
}

func (w *weak) Get(ctx context.Context, path store.Path) (store.Document, error) {
	document, err := w.Store.Get(w.context(ctx), path)
	if w.get != nil {
		document = w.get(document)
	}
	return document, err
}

func (w *weak) Query(ctx context.Context, bound store.Bound) ([]store.Document, error) {
	if w.query != nil {
		bound = w.query(bound)
	}
	return w.Store.Query(w.context(ctx), bound)
}

func (w *weak) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	err := w.Store.Run(w.context(ctx), func(inside context.Context, tx store.Tx) error {
		if w.tx != nil {
			tx = w.tx(ctx, tx)
		}
		if w.escaped {
			inside = ctx
		}
		return fn(inside, tx)
	})
	if w.end != nil {
		err = w.end(err)
	}
	return err
}

func (w *weak) DeleteTree(ctx context.Context, path store.Path) error {
	if w.rooted {
		return nil
	}
	return w.Store.DeleteTree(w.context(ctx), path)
}

// outsideTx reads, or asks, past its transaction.
type outsideTx struct {
	store.Tx
	outside   store.Store
	ctx       context.Context
	gets, ask bool
}

func outsideReads(gets, ask bool) func(store.Store) store.Store {
	return func(s store.Store) store.Store {
		return &weak{Store: s, tx: func(ctx context.Context, tx store.Tx) store.Tx {
			return &outsideTx{tx, s, ctx, gets, ask}
		}}
	}
}

func (o *outsideTx) Get(ctx context.Context, path store.Path) (store.Document, error) {
	if o.gets {
		return o.outside.Get(o.ctx, path)
	}
	return o.Tx.Get(ctx, path)
}

func (o *outsideTx) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	if o.gets {
		return o.outside.GetAll(o.ctx, paths)
	}
	return o.Tx.GetAll(ctx, paths)
}

func (o *outsideTx) Query(ctx context.Context, bound store.Bound) ([]store.Document, error) {
	if o.ask {
		return o.outside.Query(o.ctx, bound)
	}
	return o.Tx.Query(ctx, bound)
}

// eagerTx makes each write in a transaction of its own.
type eagerTx struct {
	store.Tx
	outside store.Store
	ctx     context.Context
}

func atOnce(s store.Store) store.Store {
	return &weak{Store: s, tx: func(ctx context.Context, tx store.Tx) store.Tx { return &eagerTx{tx, s, ctx} }}
}

func (e *eagerTx) Create(path store.Path, data map[string]any) error {
	return e.outside.Run(e.ctx, func(_ context.Context, tx store.Tx) error { return tx.Create(path, data) })
}

func (e *eagerTx) Update(path store.Path, updates ...store.Update) error {
	return e.outside.Run(e.ctx, func(_ context.Context, tx store.Tx) error { return tx.Update(path, updates...) })
}

func nesting(s store.Store) store.Store { return &weak{Store: s, escaped: true} }

// replacingTx writes whole documents where fields were meant.
type replacingTx struct{ store.Tx }

func replacing(s store.Store) store.Store {
	return &weak{Store: s, tx: func(_ context.Context, tx store.Tx) store.Tx { return replacingTx{tx} }}
}

func (r replacingTx) Update(path store.Path, updates ...store.Update) error {
	data := map[string]any{}
	if err := store.CheckUpdates(updates); err != nil {
		return r.Tx.Update(path, updates...)
	}
	if err := store.ApplyUpdates(data, updates); err != nil {
		return err
	}
	return r.Set(path, data)
}

func doubles(s store.Store) store.Store {
	return &weak{Store: s, get: func(document store.Document) store.Document {
		for name, value := range document.Data {
			if n, ok := value.(int64); ok {
				document.Data[name] = float64(n)
			}
		}
		return document
	}}
}

func pathless(s store.Store) store.Store {
	return &weak{Store: s, query: func(bound store.Bound) store.Bound {
		if bound.After != nil && len(bound.After.Values) > 0 && bound.After.Path.Valid() == nil {
			last := "\U0010FFFF"
			if orders := bound.Query.Order; orders[len(orders)-1].Descending {
				last = "\x00"
			}
			path := bound.After.Path.Parent().Doc(bound.After.Path.Collection(), last)
			bound.After = &store.Cursor{Values: bound.After.Values, Path: path}
		}
		return bound
	}}
}

func evergreen(s store.Store) store.Store { return &weak{Store: s, rooted: true} }

func deaf(s store.Store) store.Store { return &weak{Store: s, around: context.WithoutCancel} }

func wrapping(s store.Store) store.Store {
	return &weak{Store: s, end: func(err error) error {
		if err == nil {
			return nil
		}
		return &changed{err}
	}}
}

type changed struct{ error }

func (c *changed) Unwrap() error { return c.error }
