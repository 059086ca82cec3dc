package backfill

import (
	"context"

	"questscheduler/internal/store"
)

// markPath is the document of a job's progress, closed to clients. It exists only while
// the job is unfinished.
func markPath(name string) store.Path { return store.Doc("backfills", name) }

// loadProgress returns where a job continues, and what it did before.
func loadProgress(ctx context.Context, documents store.Reader, name string, dryRun bool) (done Done, after *store.Cursor, err error) {
	done = Done{Counts: map[Outcome]int{}}
	if dryRun {
		return done, nil, nil
	}
	doc, err := documents.Get(ctx, markPath(name))
	if err != nil || !doc.Exists() {
		return done, nil, err
	}
	f := store.Fields(doc.Data)
	done.Read, done.Problems = int(f.Int("seen")), int(f.Int("problems"))
	counts := f.Map("counts")
	for outcome := range counts {
		done.Counts[Outcome(outcome)] = int(counts.Int(outcome))
	}
	values, _ := doc.Data["values"].([]any)
	return done, &store.Cursor{Values: values, Path: store.Path(f.String("path"))}, nil
}

// saveProgress stores a job's progress, and deletes it at the end, so that the next run
// starts over.
func saveProgress(ctx context.Context, documents store.Store, name string, done Done, next *store.Cursor) error {
	counts := map[string]any{}
	for outcome, count := range done.Counts {
		counts[string(outcome)] = count
	}
	return documents.Run(ctx, func(_ context.Context, tx store.Tx) error {
		if next == nil {
			return tx.Delete(markPath(name))
		}
		values := next.Values
		if values == nil {
			values = []any{}
		}
		return tx.Set(markPath(name), map[string]any{
			"values": values, "path": string(next.Path), "seen": done.Read, "problems": done.Problems, "counts": counts,
		})
	})
}
