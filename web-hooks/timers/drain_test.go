package timers_test

import (
	"context"
	"iter"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/web-hooks/timers"
)

// backlog is work that is due and a waker for it, which does some of it every second: as many
// as the rate says.
type backlog struct {
	began      time.Time
	rate, left int
	wakes      int
}

func (b *backlog) done() int { return min(int(time.Since(b.began).Seconds())*b.rate, b.left) }

// Wake implements outbox.Waker.
func (b *backlog) Wake(context.Context, string, string, string, time.Time) error {
	b.wakes++
	return nil
}

func (b *backlog) due(context.Context, store.Reader, time.Time) iter.Seq2[store.Document, error] {
	return func(yield func(store.Document, error) bool) {
		for i := b.done(); i < b.left; i++ {
			if !yield(store.Document{Path: store.Doc("jobs", strconv.Itoa(i))}, nil) {
				return
			}
		}
	}
}

// timers are those of an outbox with the backlog.
func (b *backlog) timers() *timers.Timers {
	work := &outbox.Outbox{Waker: b, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	work.Add(outbox.Kind{
		Name: "job", Path: func(id string) store.Path { return store.Doc("jobs", id) }, Due: b.due, Codec: outbox.Fields,
		Handle: func(context.Context, outbox.Item) outbox.Result { return outbox.Done() },
	})
	return &timers.Timers{Outbox: work, Now: time.Now}
}

// A drain that Cloud Scheduler asks for goes on while what it woke is done, or a backlog would
// take hours of which each minute does a few seconds' work.
func TestHandOver_OfADrainThatLeavesSome_GoesOnWithinItsMinute(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ rate, left, most int }{
		"what fits into one":         {rate: 0, left: outbox.DrainMost, most: outbox.DrainMost},
		"as fast as it is done":      {rate: 100, left: 3000, most: 3000},
		"a queue that is held":       {rate: 0, left: 3000, most: 10 * outbox.DrainMost},
		"more than a minute can do":  {rate: 100, left: 100_000, most: 10 * outbox.DrainMost},
		"nothing, which asks nobody": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := &backlog{began: time.Now(), rate: row.rate, left: row.left}
				must(t, b.timers().HandOver(t.Context(), timers.Drain))
				took := time.Since(b.began)
				if row.left <= 3000 && row.rate > 0 && b.wakes < row.left || row.left > 3000 && b.done() < 3000 {
					t.Errorf("%d wakes in %v", b.wakes, took)
				}
				if b.wakes > row.most || took > 50*time.Second || row.most <= outbox.DrainMost && took > 0 {
					t.Errorf("%d wakes in %v", b.wakes, took)
				}
			})
		})
	}
}

// Who asked may be gone.
func TestHandOver_OfADrainWhoseCallerIsGone_Ends(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &backlog{began: time.Now(), left: 3000}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := b.timers().HandOver(ctx, timers.Drain)
		if took := time.Since(b.began); err == nil || took != time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}
