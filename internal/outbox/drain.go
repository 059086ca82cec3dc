package outbox

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"time"

	"questscheduler/internal/store"
)

const (
	// DrainMost is how many entries of a kind one drain wakes, earliest due time first. What is
	// left is for the next drain, which may follow at once (Woken.Cut).
	DrainMost = 500
	// drainRead is how many documents of a kind one drain reads for that, of which some may be
	// of accounts that rest.
	drainRead = 2000
)

// Woken is how many entries of a kind a drain woke.
type Woken struct {
	Kind, Does string
	N          int
	// Cut: more may be due.
	Cut bool
}

// lastDrain is when a drain last woke all that it found, and where drains stopped before the end.
type lastDrain struct {
	mu sync.Mutex
	at time.Time
	// ends are by kind. The next drain of this process goes on there, if the kind has DueBehind: those
	// behind any number that rest are woken in time.
	ends map[string]*store.Cursor
}

// end takes where the last drain of a kind stopped; nil: it came to the end.
func (l *lastDrain) end(kind *Kind) *store.Cursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := l.ends[kind.Name]
	delete(l.ends, kind.Name)
	return end
}

// stopped records where one stopped.
func (l *lastDrain) stopped(kind *Kind, end *store.Cursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ends == nil {
		l.ends = map[string]*store.Cursor{}
	}
	l.ends[kind.Name] = end
}

// LastDrain is when this process last drained every kind; zero: it did not yet.
func (o *Outbox) LastDrain() time.Time {
	o.last.mu.Lock()
	defer o.last.mu.Unlock()
	return o.last.at
}

// Drain wakes what is due, kind by kind: what a crash or the waker forgot, and what was due too
// late to be woken with its commit. Each wake is named by the entry, its due time and the
// minute, so that two drains wake it once, and a name that an ended task holds hides it for a
// minute at most. A kind that rests or observes is left out. A kind that fails is tried once
// more by the next drain, and the others are woken; the error is the first.
func (o *Outbox) Drain(ctx context.Context) (woken []Woken, err error) { return o.drainAhead(ctx, 0) }

// drainAhead also wakes, for its time, what is due within a time from now.
func (o *Outbox) drainAhead(ctx context.Context, ahead time.Duration) (woken []Woken, err error) {
	for _, kind := range o.kinds {
		if !kind.drains() {
			continue
		}
		did, failed := o.drain(ctx, kind, ahead)
		woken = append(woken, did)
		if failed != nil && err == nil {
			err = fmt.Errorf("drain %s: %w", kind.Name, failed)
		}
	}
	if err == nil {
		o.last.mu.Lock()
		defer o.last.mu.Unlock()
		o.last.at = o.Now()
	}
	return woken, err
}

func (o *Outbox) drain(ctx context.Context, kind *Kind, ahead time.Duration) (did Woken, err error) {
	did = Woken{Kind: kind.Name, Does: kind.Does}
	now, read := o.Now(), 0
	var last *store.Cursor
	for doc, err := range kind.dueBehind(ctx, o.Store, now.Add(ahead), o.last.end(kind)) {
		if err != nil {
			return did, err
		}
		read++
		if did.N == DrainMost || read > drainRead {
			did.Cut = true
			o.last.stopped(kind, last)
			break
		}
		id, due := kind.id(doc), kind.Codec.Decode(doc).Due
		last = &store.Cursor{Values: []any{due}, Path: doc.Path}
		if o.rests.resting(kind.account(doc), now) || kind.Rests != nil && kind.Rests(doc, now) {
			continue
		}
		name := id + "/" + strconv.FormatInt(due.UnixMicro(), 10) + "/" + strconv.FormatInt(now.Unix()/60, 10)
		if !due.After(now) {
			due = time.Time{} // at once, by any clock
		}
		if err := o.Waker.Wake(ctx, kind.Name, id, name, due); err != nil {
			return did, err
		}
		did.N++
	}
	return did, nil
}

// dueBehind is DueBehind, or Due where the kind has none.
func (k *Kind) dueBehind(ctx context.Context, reader store.Reader, now time.Time, end *store.Cursor) iter.Seq2[store.Document, error] {
	if k.DueBehind == nil {
		return k.Due(ctx, reader, now)
	}
	return k.DueBehind(ctx, reader, now, end)
}
