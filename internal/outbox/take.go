package outbox

import (
	"context"
	"errors"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// take claims an entry. taken is false, with the time when to try again (zero: the drain will
// find it), where it is not due, is claimed by another run, or its account rests.
func (o *Outbox) take(ctx context.Context, kind *Kind, id string) (item Item, taken bool, again time.Time, err error) {
	path := kind.Path(id)
	if o.inMemory(kind) { // the claim is in memory, so nothing is written
		doc, err := o.Store.Get(ctx, path)
		if err != nil {
			return Item{}, false, time.Time{}, err
		}
		item, taken, again = o.due(kind, id, doc)
		return item, taken, again, nil
	}
	err = o.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, path)
		if err != nil {
			return err
		}
		item, taken, again = o.due(kind, id, doc)
		if !taken {
			return nil
		}
		item.State.Due = store.Instant(o.Now().Add(kind.lease()))
		if kind.CountFirst {
			item.State.Attempts++
		}
		return tx.Update(path, kind.Codec.Encode(item.State)...)
	})
	return item, taken && err == nil, again, err
}

// due is the entry of a document, if it is due and its account does not rest, and otherwise
// when it is due.
func (o *Outbox) due(kind *Kind, id string, doc store.Document) (item Item, due bool, again time.Time) {
	if !doc.Exists() {
		return Item{}, false, time.Time{}
	}
	state, now := kind.Codec.Decode(doc), o.Now()
	switch {
	case state.Due.After(now):
		return Item{}, false, state.Due
	case state.Due.IsZero(), o.rests.resting(kind.account(doc), now):
		return Item{}, false, time.Time{}
	}
	return Item{Kind: kind.Name, ID: id, State: state, Document: doc}, true, time.Time{}
}

// Keep writes progress of a run and renews a stored claim. same is false, and nothing is written,
// where the document is due for a newer change by now, or is gone: the run ends.
func (o *Outbox) Keep(ctx context.Context, item Item, updates ...store.Update) (same bool, err error) {
	kind := o.kind(item.Kind)
	return o.writing(ctx, kind, item, func(tx store.Tx, state State) error {
		if !o.inMemory(kind) {
			state.Due = store.Instant(o.Now().Add(kind.lease()))
		}
		return tx.Update(kind.Path(item.ID), append(kind.Codec.Encode(state), updates...)...)
	})
}

// inMemory reports whether claims of a kind are in memory alone.
func (o *Outbox) inMemory(kind *Kind) bool { return o.Alone && !kind.CountFirst }

// settle writes what became of a run: due is when the entry is due next, zero for never.
func (o *Outbox) settle(ctx context.Context, kind *Kind, item Item, result Result) (due time.Time, same bool, err error) {
	same, err = o.writing(ctx, kind, item, func(tx store.Tx, state State) error {
		state = o.after(kind, state, result)
		due = state.Due
		if due.IsZero() && kind.Remove {
			return tx.Delete(kind.Path(item.ID))
		}
		return tx.Update(kind.Path(item.ID), append(kind.Codec.Encode(state), result.updates...)...)
	})
	return due, same, err
}

// after is the state of an entry after a run.
func (o *Outbox) after(kind *Kind, state State, result Result) State {
	if result.outcome != outcomeFailed {
		state.Due, state.FailedSince, state.Error = result.at, time.Time{}, ""
		if !kind.CountFirst {
			state.Attempts = 0
		}
		if result.outcome == outcomeDone {
			state.Due = time.Time{}
		}
		state.Due = store.Instant(state.Due)
		return state
	}
	if !kind.CountFirst {
		state.Attempts++
	}
	now := store.Instant(o.Now())
	if state.FailedSince.IsZero() {
		state.FailedSince = now
	}
	state.Error = fault.KindOf(result.err).String()
	state.Due = store.Instant(now.Add(kind.Retry.Wait(result.err, state.Attempts)))
	return state
}

// release gives a stored claim back after a run that the end of the program cancelled: the
// entry is due at once, for the next start.
func (o *Outbox) release(ctx context.Context, kind *Kind, item Item) error {
	_, err := o.writing(ctx, kind, item, func(tx store.Tx, state State) error {
		state.Due = store.Instant(o.Now())
		return tx.Update(kind.Path(item.ID), kind.Codec.Encode(state)...)
	})
	return err
}

// writing calls write with the stored state of an entry, while it is for the change that the
// run took.
func (o *Outbox) writing(ctx context.Context, kind *Kind, item Item, write func(tx store.Tx, state State) error) (same bool, err error) {
	err = o.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, kind.Path(item.ID))
		if err != nil {
			return err
		}
		var state State
		same = doc.Exists()
		if same {
			state = kind.Codec.Decode(doc)
			same = state.Ref == item.State.Ref && !state.Due.IsZero()
		}
		if !same {
			return nil
		}
		return write(tx, state)
	})
	if errors.Is(err, store.ErrUnanswered) {
		err = fault.Wrap(fault.Unavailable, err, "The outcome of a run may not be recorded.")
	}
	return same && err == nil, err
}
