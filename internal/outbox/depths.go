package outbox

import (
	"context"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// MostCounted is the most documents of a kind that Depths reads, those due first.
const MostCounted = 250

// Depth is the state of one kind's work, counted over its first MostCounted entries.
type Depth struct {
	Kind, Does string
	// Due counts the entries that are due or under way.
	Due int
	// Oldest is the earliest due time of those; zero: none is due.
	Oldest time.Time
	// Failing are the entries that need a person: they failed Retry.Error times in a row.
	Failing []FailingEntry
}

// FailingEntry is an entry that keeps failing.
type FailingEntry struct {
	// ID is for Retry: the kind and the id of the document, joined by a colon.
	ID, Kind string
	// Error is the kind of the last failure (fault.Kind).
	Error       string
	Attempts    int64
	FailedSince time.Time
	Due         time.Time // of the next attempt
}

// Depths reads the state of each kind, in the order in which they were added. A kind without
// documents has none, and of one that rests or observes nothing is counted. It costs one query of
// each kind, of MostCounted documents at most besides some thousands that rest
// (Kind.Rests). The errors are the store's.
func (o *Outbox) Depths(ctx context.Context) (depths []Depth, err error) {
	for _, kind := range o.kinds {
		if kind.Due == nil {
			continue
		}
		depth, err := o.depth(ctx, kind)
		if err != nil {
			return nil, err
		}
		depths = append(depths, depth)
	}
	return depths, nil
}

// depth reads ahead as far as the longest wait of a failure, since an entry that fails is due
// later than now.
func (o *Outbox) depth(ctx context.Context, kind *Kind) (Depth, error) {
	depth, read, rested, now := Depth{Kind: kind.Name, Does: kind.Does}, 0, 0, o.Now()
	if kind.mode() != Works {
		return depth, nil // what is due stays so, as the settings say
	}
	ahead := now.Add(longest)
	if kind.Planned {
		ahead = now
	}
	for doc, err := range kind.Due(ctx, o.Store, ahead) {
		if err != nil {
			return Depth{}, err
		}
		if kind.Rests != nil && rested < drainRead && kind.Rests(doc, now) {
			rested++
			continue
		}
		read++
		if read > MostCounted {
			break
		}
		state := kind.Codec.Decode(doc)
		if !state.Due.After(now) {
			depth.Due++
			if depth.Oldest.IsZero() || state.Due.Before(depth.Oldest) {
				depth.Oldest = state.Due
			}
		}
		if state.Attempts >= kind.Retry.withDefaults().Error && !state.FailedSince.IsZero() {
			depth.Failing = append(depth.Failing, FailingEntry{
				ID: kind.Name + ":" + kind.id(doc), Kind: kind.Name, Error: state.Error,
				Attempts: state.Attempts, FailedSince: state.FailedSince, Due: state.Due,
			})
		}
	}
	return depth, nil
}

// Retry has an entry tried now that waits for a later time, by its FailingEntry.ID. NotFound: there is
// no such entry, nothing is pending in it, or it is due already.
func (o *Outbox) Retry(ctx context.Context, id string) error {
	unknown := fault.New(fault.NotFound, "There is no such work, or it is done. List what fails again.")
	name, id, _ := strings.Cut(id, ":")
	kind := o.kind(name)
	if kind == nil || kind.Due == nil || !kind.named(id) {
		return unknown
	}
	err := o.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, kind.Path(id))
		if err != nil {
			return err
		}
		if !doc.Exists() {
			return unknown
		}
		state := kind.Codec.Decode(doc)
		if !state.Due.After(o.Now()) {
			return unknown
		}
		state.Due = store.Instant(o.Now())
		return tx.Update(kind.Path(id), kind.Codec.Encode(state)...)
	})
	if err == nil {
		o.Soon(ctx, name, id, o.Now())
	}
	return err
}
