package outbox

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"questscheduler/internal/store"
)

const (
	// DrainMost is how many entries of a kind one drain wakes. What is left is due longest at
	// the next.
	DrainMost = 500
	// drainRead is how many documents of a kind one drain reads for that, of which some may be
	// of accounts that rest.
	drainRead = 2000
)

// Woken is how many entries of a kind a drain woke.
type Woken struct {
	Kind, Does string
	N          int
}

// Drain wakes what is due, kind by kind: what a crash or the waker forgot, and what was due too
// late to be woken with its commit. A task of it has a name of its own each minute, since one that
// ended may hold its name. Entries that are under way are not due, and a kind that rests or
// observes is left out. A kind that fails is tried once more by the next drain, and the others
// are woken; the error is the first.
func (o *Outbox) Drain(ctx context.Context) (woken []Woken, err error) {
	for _, kind := range o.kinds {
		if kind.mode() != Works {
			continue
		}
		n, failed := o.drain(ctx, kind)
		woken = append(woken, Woken{kind.Name, kind.Does, n})
		if failed != nil && err == nil {
			err = fmt.Errorf("drain %s: %w", kind.Name, failed)
		}
	}
	return woken, err
}

func (o *Outbox) drain(ctx context.Context, kind *Kind) (woken int, err error) {
	now, read := o.Now(), 0
	minute := "/" + strconv.FormatInt(now.Unix()/60, 10)
	for doc, err := range kind.Due(ctx, o.Store, now) {
		if err != nil {
			return woken, err
		}
		if read++; woken == DrainMost || read > drainRead {
			break
		}
		if o.rests.resting(kind.account(doc), now) {
			continue
		}
		id := kind.id(doc)
		if err := o.Waker.Wake(ctx, kind.Name, id, id+"/"+kind.dueOf(doc)+minute, time.Time{}); err != nil {
			return woken, err
		}
		woken++
	}
	return woken, nil
}

// dueOf is the due time of a document as a part of a name; "" in an unclaimed kind.
func (k *Kind) dueOf(doc store.Document) string {
	if k.Unclaimed {
		return ""
	}
	return strconv.FormatInt(k.Codec.Decode(doc).Due.UnixMicro(), 10)
}
