// Package storetest is the conformance suite of the store port: every driver
// passes all of it, without exemptions; on an emulator, what that can show.
//
//	func TestConformance(t *testing.T) {
//		storetest.Run(t, func(t *testing.T, queries []*store.Query) store.Store {
//			s, err := memory.Open(queries)
//			…
//		})
//	}
//
// RunDurable is its second part, for drivers that promise to keep what they
// acknowledged.
//
// Beside it are two wrappers for the tests of other packages: Rerun runs each
// transaction's function more than once, and Count counts reads and writes.
package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// Open gives a new, empty store of the driver under test that answers the
// queries. It closes the store when the test ends (closing twice is allowed).
type Open = func(t *testing.T, queries []*store.Query) store.Store

// promise is one thing that the port promises, checked on a store of its own.
type promise struct {
	name  string
	check func(t *testing.T, s store.Store)
}

// Run holds a driver to all that package store promises. Each promise is
// checked on a new store, once as it is and once with every transaction's
// function run again.
func Run(t *testing.T, open Open) {
	t.Helper()
	RunEmulated(t, open)
	check(t, open, snapshots)
}

// RunEmulated is Run for a driver on the emulator of its service. It leaves out
// what the emulator of Firestore does not keep, other than Firestore: there a
// commit becomes visible one document after the other to readers without locks,
// in a request of their own or in a transaction that only reads.
func RunEmulated(t *testing.T, open Open) {
	t.Helper()
	check(t, open, slices.Concat(values, writes, misuses, queries, pages, transactions, contention, trees, lifetimes, histories))
	t.Run("a query that no driver could answer is refused when it is declared", func(t *testing.T) {
		t.Parallel()
		checkDeclarations(t)
	})
}

func check(t *testing.T, open Open, promises []promise) {
	t.Helper()
	for _, p := range promises {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.check(t, open(t, declared))
		})
		t.Run(p.name+", with reruns", func(t *testing.T) {
			t.Parallel()
			p.check(t, Rerun(open(t, declared)))
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustBe demands an error of a kind.
func mustBe(t *testing.T, kind fault.Kind, err error) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Fatalf("got %v, want an error of kind %s", err, kind)
	}
}

func read(t *testing.T, from store.Reader, path store.Path) map[string]any {
	t.Helper()
	document, err := from.Get(t.Context(), path)
	must(t, err)
	if document.Path != path {
		t.Fatalf("the document of %s says it is at %s", path, document.Path)
	}
	return document.Data
}

func wantFields(t *testing.T, s store.Reader, path store.Path, want map[string]any) {
	t.Helper()
	if got := read(t, s, path); !same(got, want) {
		t.Fatalf("%s holds %#v, want %#v", path, got, want)
	}
}

// run is a transaction that only writes and has to succeed.
func run(t *testing.T, s store.Store, write func(tx store.Tx) error) {
	t.Helper()
	must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return write(tx) }))
}

// refused is a transaction that only writes and has to fail with a kind; it
// must leave nothing behind.
func refused(t *testing.T, s store.Store, kind fault.Kind, write func(tx store.Tx) error) {
	t.Helper()
	const witness = store.Path("witnesses/of-a-refused-transaction")
	err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		if err := tx.Set(witness, map[string]any{}); err != nil {
			return err
		}
		return write(tx)
	})
	mustBe(t, kind, err)
	if read(t, s, witness) != nil {
		t.Fatal("a transaction that was refused wrote something")
	}
}

func set(t *testing.T, s store.Store, path store.Path, data map[string]any) {
	t.Helper()
	run(t, s, func(tx store.Tx) error { return tx.Set(path, data) })
}

// persist runs a transaction that may be run again after its effect is
// unknown, until contention lets it through.
func persist(ctx context.Context, s store.Store, fn func(context.Context, store.Tx) error) error {
	var errs []error
	for range 20 {
		err := s.Run(ctx, fn)
		if !fault.Is(err, fault.Unavailable) {
			return err
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func ids(documents []store.Document) []string {
	out := []string{}
	for _, document := range documents {
		out = append(out, document.Path.ID())
	}
	return out
}

func ask(t *testing.T, from store.Reader, query store.Bound) []store.Document {
	t.Helper()
	documents, err := from.Query(t.Context(), query)
	must(t, err)
	return documents
}

func wantIDs(t *testing.T, from store.Reader, query store.Bound, want ...string) {
	t.Helper()
	if got := ids(ask(t, from, query)); !slices.Equal(got, want) {
		t.Fatalf("%q gave %q, want %q", query.Query.Name, got, want)
	}
}
