package sqlite_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"questscheduler/internal/store"
	"questscheduler/internal/store/sqlite"
)

var events = &store.Query{
	Name: "events by rank", Collection: "events", Order: []store.Order{{Path: store.Field("rank")}},
}

// BenchmarkRun measures durable transactions that each read one document,
// update it and write a small one beside it. An operation is a transaction.
func BenchmarkRun(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d writers", writers), func(b *testing.B) {
			s, err := sqlite.Open(b.Context(), sqlite.Options{
				Path: b.TempDir() + "/data.db", Queries: []*store.Query{events},
			})
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					b.Error(err)
				}
			}()
			var all sync.WaitGroup
			b.ResetTimer()
			for writer := range writers {
				share := b.N / writers
				if writer < b.N%writers {
					share++
				}
				all.Go(func() { write(b, s, writer, share) })
			}
			all.Wait()
		})
	}
}

func write(b *testing.B, s store.Store, writer, count int) {
	poll := store.Doc("polls", strconv.Itoa(writer))
	for i := range count {
		err := s.Run(b.Context(), func(ctx context.Context, tx store.Tx) error {
			if _, err := tx.Get(ctx, poll); err != nil {
				return err
			}
			if err := tx.Merge(poll, store.Update{Path: store.Field("last"), Value: i}); err != nil {
				return err
			}
			return tx.Create(poll.Doc("events", strconv.Itoa(i)), map[string]any{"rank": i, "title": "Session zero"})
		})
		if err != nil {
			b.Error(err)
			return
		}
	}
}

// BenchmarkGet measures a point read outside transactions.
func BenchmarkGet(b *testing.B) {
	s, err := sqlite.Open(b.Context(), sqlite.Options{Path: b.TempDir() + "/data.db", Queries: []*store.Query{events}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	}()
	write(b, s, 0, 100)
	for b.Loop() {
		if _, err := s.Get(b.Context(), "polls/0"); err != nil {
			b.Fatal(err)
		}
	}
}
