package storetest

import (
	"context"
	"errors"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

var transactions = []promise{
	{"writes take effect together at the end, and nobody sees them before", func(t *testing.T, s store.Store) {
		set(t, s, doc, map[string]any{"n": 1})
		must(t, s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			if err := tx.Update(doc, field(2, "n")); err != nil {
				return err
			}
			if err := tx.Create("books/two", map[string]any{}); err != nil {
				return err
			}
			wantFields(t, s, doc, map[string]any{"n": int64(1)}) // from outside, with a ctx of its own
			wantFields(t, s, "books/two", nil)
			return nil
		}))
		wantFields(t, s, doc, map[string]any{"n": int64(2)})
		wantFields(t, s, "books/two", map[string]any{})
	}},
	{"an error of the function is returned as it is and nothing is written", func(t *testing.T, s store.Store) {
		set(t, s, doc, map[string]any{"n": 1})
		own := errors.New("the caller's own")
		err := s.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
			return errors.Join(
				tx.Update(doc, field(2, "n")), tx.Create("books/two", nil), tx.Delete("books/three"),
				tx.Merge("books/four", field(1, "n")), own)
		})
		if !errors.Is(err, own) {
			t.Fatalf("got %v", err)
		}
		wantFields(t, s, doc, map[string]any{"n": int64(1)})
		wantFields(t, s, "books/two", nil)
		wantFields(t, s, "books/four", nil)
		wantIDs(t, s, everyBook.With(), "one")
	}},
	{"a kind of the function's error is kept", func(t *testing.T, s store.Store) {
		own := &fault.Error{Kind: fault.Revoked, Code: "token_expired", Message: "link it again"}
		err := s.Run(t.Context(), func(context.Context, store.Tx) error { return own })
		if kept, ok := err.(*fault.Error); !ok || kept != own { //nolint:errorlint // the very error, wrapped by nothing
			t.Fatalf("got %#v", err)
		}
	}},
	{"a transaction that writes nothing succeeds", func(t *testing.T, s store.Store) {
		must(t, s.Run(t.Context(), func(context.Context, store.Tx) error { return nil }))
		must(t, s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Get(ctx, doc)
			return err
		}))
	}},
	{"a transaction may write what it did not read", func(t *testing.T, s store.Store) {
		set(t, s, doc, map[string]any{"theirs": true})
		run(t, s, func(tx store.Tx) error { return tx.Update(doc, field(1, "mine")) })
		wantFields(t, s, doc, map[string]any{"theirs": true, "mine": int64(1)})
	}},
	{"transactions one after the other see each other", func(t *testing.T, s store.Store) {
		for i := range 5 {
			must(t, s.Run(t.Context(), func(ctx context.Context, tx store.Tx) error {
				got, err := tx.Get(ctx, doc)
				if err != nil {
					return err
				}
				n, _ := got.Data["n"].(int64)
				if n != int64(i) {
					t.Errorf("transaction %d saw %d", i, n)
				}
				return tx.Set(doc, map[string]any{"n": n + 1})
			}))
		}
	}},
	{"a context that has ended changes nothing", func(t *testing.T, s store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		mustBe(t, fault.Unavailable, s.Run(ctx, func(_ context.Context, tx store.Tx) error { return tx.Set(doc, nil) }))
		_, err := s.Get(ctx, doc)
		mustBe(t, fault.Unavailable, err)
		_, err = s.GetAll(ctx, []store.Path{doc})
		mustBe(t, fault.Unavailable, err)
		_, err = s.Query(ctx, everyBook.With())
		mustBe(t, fault.Unavailable, err)
		mustBe(t, fault.Unavailable, s.DeleteTree(ctx, doc))
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("the context's own error is not in %v", err)
		}
		wantFields(t, s, doc, nil)
	}},
	{"a context that ends inside a transaction ends its reads", func(t *testing.T, s store.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Run(ctx, func(ctx context.Context, tx store.Tx) error {
			cancel()
			if _, err := tx.Get(ctx, doc); err != nil {
				return err
			}
			return tx.Set(doc, nil)
		})
		mustBe(t, fault.Unavailable, err)
		wantFields(t, s, doc, nil)
		set(t, s, doc, nil) // and the store goes on
	}},
}

var lifetimes = []promise{
	{"a store that was closed is unavailable", func(t *testing.T, s store.Store) {
		set(t, s, doc, nil)
		must(t, s.Close())
		_, err := s.Get(t.Context(), doc)
		mustBe(t, fault.Unavailable, err)
		_, err = s.GetAll(t.Context(), []store.Path{doc})
		mustBe(t, fault.Unavailable, err)
		_, err = s.Query(t.Context(), everyBook.With())
		mustBe(t, fault.Unavailable, err)
		_, err = s.Query(t.Context(), ofKinds.With([]any{1, 2}).Below(book))
		mustBe(t, fault.Unavailable, err)
		mustBe(t, fault.Unavailable, s.Run(t.Context(), func(context.Context, store.Tx) error { return nil }))
		mustBe(t, fault.Unavailable, s.DeleteTree(t.Context(), doc))
		must(t, s.Close())
	}},
}
