package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
)

var byNumber = &store.Query{Name: "by number", Collection: "things", Order: []store.Order{{Path: store.Field("n")}}}

// parts counts how many documents each query was asked for.
type parts struct {
	store.Reader
	asked []int
}

func (p *parts) Query(ctx context.Context, asked store.Bound) ([]store.Document, error) {
	p.asked = append(p.asked, asked.Limit)
	return p.Reader.Query(ctx, asked)
}

func TestWalk_ReadsSmallPages_ReturnsWhereItEnded(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open([]*store.Query{byNumber})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range 25 {
			id := fmt.Sprintf("t%02d", i)
			all = append(all, id)
			if err := tx.Create(store.Doc("things", id), map[string]any{"n": i / 4}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		limit, most int // most: that are taken
		asked       []int
		ended       bool
	}{
		{limit: 0, most: 100, asked: []int{10, 10, 10}, ended: true},
		{limit: 100, most: 100, asked: []int{10, 10, 10}, ended: true},
		{limit: 25, most: 100, asked: []int{10, 10, 5}},
		{limit: 12, most: 100, asked: []int{10, 2}},
		{limit: 3, most: 100, asked: []int{3}},
		{limit: 100, most: 13, asked: []int{10, 10}},
		{limit: 100, most: 10, asked: []int{10, 10}},
		{limit: 100, most: 1, asked: []int{10}},
	} {
		reader := &parts{Reader: documents}
		var taken []string
		next, err := store.Walk(t.Context(), reader, byNumber.With().First(row.limit), asIs, func(doc store.Document) (bool, error) {
			if len(taken) == row.most {
				return false, nil
			}
			taken = append(taken, doc.Path.ID())
			return true, nil
		})
		if err != nil || (next == nil) != row.ended || !slices.Equal(reader.asked, row.asked) {
			t.Errorf("%d at most, %d are taken: queries of %v, ended %t, %v", row.limit, row.most, reader.asked, next == nil, err)
		}
		if want := all[:len(taken)]; !slices.Equal(taken, want) || next != nil && next.Path.ID() != want[len(want)-1] {
			t.Errorf("%d at most, %d are taken: %v, next %v", row.limit, row.most, taken, next)
		}
		if row.ended {
			continue
		}
		rest, err := documents.Query(t.Context(), byNumber.With().From(next))
		if err != nil || len(rest)+len(taken) != len(all) {
			t.Errorf("behind %v are %d, %v", next, len(rest), err)
		}
	}
}

func TestWalk_Failure_IsReturned(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open([]*store.Query{byNumber})
	if err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no answer can be made of it")
	take := func(store.Document) (bool, error) { return true, failed }
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Create(store.Doc("things", "one"), map[string]any{"n": 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Walk(t.Context(), documents, byNumber.With(), asIs, take); !errors.Is(err, failed) {
		t.Errorf("where taking fails: %v", err)
	}
	undeclared := *byNumber
	if _, err := store.Walk(t.Context(), documents, undeclared.With(), asIs, take); !fault.Is(err, fault.Invalid) {
		t.Errorf("an undeclared query: %v", err)
	}
}

func asIs(doc store.Document) store.Document { return doc }

func id(doc store.Document) string { return doc.Path.ID() }

func TestAll_ReadsPageByPage_AsTheLoopGoesOn(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open([]*store.Query{byNumber})
	if err != nil {
		t.Fatal(err)
	}
	var every []string
	err = documents.Run(t.Context(), func(_ context.Context, tx store.Tx) error {
		for i := range 200 {
			name := fmt.Sprintf("t%03d", i)
			every = append(every, name)
			if err := tx.Create(store.Doc("things", name), map[string]any{"n": i / 4}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		limit, most int // most: where the loop ends
		asked       []int
		want        int
	}{
		{limit: 0, most: 1000, asked: []int{100, 100, 100}, want: 200},
		{limit: 200, most: 1000, asked: []int{100, 100}, want: 200},
		{limit: 130, most: 1000, asked: []int{100, 30}, want: 130},
		{limit: 0, most: 100, asked: []int{100}, want: 100},
		{limit: 0, most: 101, asked: []int{100, 100}, want: 101},
	} {
		reader := &parts{Reader: documents}
		all := store.All(t.Context(), reader, byNumber.With().First(row.limit), id)
		for again := range 2 { // an iterator begins anew each time
			reader.asked = nil
			var got []string
			for name, err := range all {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, name)
				if len(got) == row.most {
					break
				}
			}
			if !slices.Equal(got, every[:row.want]) || !slices.Equal(reader.asked, row.asked) {
				t.Errorf("limit %d, loop of %d, time %d: %d yielded by queries of %v", row.limit, row.most, again, len(got), reader.asked)
			}
		}
	}
}

func TestAll_AQueryFails_YieldsTheErrorOnce(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	times := 0
	for _, err := range store.All(t.Context(), documents, byNumber.With(), id) {
		times++
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("yields %v", err)
		}
	}
	if _, err := store.Collect(store.All(t.Context(), documents, byNumber.With(), id)); times != 1 || !fault.Is(err, fault.Invalid) {
		t.Errorf("%d errors, collected: %v", times, err)
	}
}
