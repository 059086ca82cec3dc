package api

import (
	"context"
	"slices"
	"sync"

	"questscheduler/internal/poll"
	"questscheduler/internal/store/changes"
)

// routeBatch is how many changed polls are read together.
const routeBatch = 100

// dispatcher hands the changes in this process to the streams that they concern. It
// reads each changed poll and its group once for all streams.
//
// It has no goroutine: a change wakes any one stream, which reads for all. If that
// stream ends first, another is woken.
type dispatcher struct {
	*server

	mu      sync.Mutex // not held during reads
	feeds   []*feed
	written *changes.Listener // nil while no stream is open
	cache   pollCache
	routing bool
	votes   voteScan
}

// enter adds a stream until leave. RATE_LIMITED: the person has maxStreams open.
func (d *dispatcher) enter(f *feed) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	open := 0
	for _, other := range d.feeds {
		if other.by.person.ID == f.by.person.ID {
			open++
		}
	}
	if open >= maxStreams {
		return errTooFast(recheckEvery)
	}
	if len(d.feeds) == 0 {
		d.written, d.cache, d.votes = d.Changes.Listen(), pollCache{}, newVoteScan(d.Now())
	}
	d.feeds, f.written, f.scans = append(d.feeds, f), d.written, d.votes.scans
	return nil
}

func (d *dispatcher) leave(f *feed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.feeds = slices.DeleteFunc(d.feeds, func(other *feed) bool { return other == f })
	if len(d.feeds) == 0 {
		d.written.Close()
		d.cache = pollCache{}
	}
}

// route hands the changes so far to their streams, unless another stream does. After
// it, a stream is woken for later changes and for those that an error left.
func (d *dispatcher) route(ctx context.Context) error {
	begun := false
	d.locked(func() { begun, d.routing = !d.routing, true })
	if !begun {
		return nil
	}
	changed, lost := d.written.Take()
	if lost {
		d.lose()
	}
	var err error
	for err == nil && len(changed) > 0 {
		batch := changed[:min(len(changed), routeBatch)]
		err = d.deliver(ctx, batch)
		if err == nil {
			changed = changed[len(batch):]
		}
	}
	d.locked(func() { d.routing = false })
	d.written.Add(changed...)
	return err
}

func (d *dispatcher) locked(do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	do()
}

// deliver reads the polls and hands each to the streams that it concerns or that
// sent it before.
func (d *dispatcher) deliver(ctx context.Context, changed []changes.Change) error {
	polls, err := poll.LoadWithGroups(ctx, d.Store, d.invalidate(changed))
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Now()
	for i, p := range polls {
		wanted := false
		for _, f := range d.feeds {
			if f.sent.wants(changed[i]) || p.Concerns(f.by.person.ID) {
				f.pending.Add(changed[i])
				wanted = true
			}
		}
		if !wanted {
			continue
		}
		if d.cache.byID[p.ID] == nil { // otherwise a stream has read it since
			cached := newCachedPoll(p.ID)
			cached.fill(p)
			d.cache.put(cached)
		}
		if isNew(p.Poll, now) {
			d.votes.readAgain(p.Poll)
		}
	}
	return nil
}

// invalidate drops the changed polls from the cache and returns their ids.
func (d *dispatcher) invalidate(changed []changes.Change) (ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, change := range changed {
		d.cache.remove(change.Poll)
		ids = append(ids, change.Poll)
	}
	return ids
}

// lose handles lost changes: every stream rechecks its polls, and the next scan
// finds its votes again.
func (d *dispatcher) lose() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cache = pollCache{}
	d.votes.restart()
	for _, f := range d.feeds {
		f.pending.Lose()
	}
}

// load returns a poll as of its last change in this process. If current (nil:
// always true) reports that a recheck read another version, another process wrote
// the poll, and it is read again. Of several streams one reads.
func (d *dispatcher) load(ctx context.Context, id string, current func(*cachedPoll) bool) (*cachedPoll, error) {
	var old *cachedPoll
	for {
		cached := d.entry(id, old)
		read, err := cached.load(ctx, d.Store)
		if err != nil {
			return nil, err
		}
		if read {
			d.readAgain(cached.Poll)
			d.weigh(cached)
		}
		if read || current == nil || current(cached) {
			return cached, nil
		}
		old = cached
	}
}

// entry returns the poll of the cache, or puts a new one there if it is old.
func (d *dispatcher) entry(id string, old *cachedPoll) *cachedPoll {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cached := d.cache.byID[id]; cached != nil && cached != old {
		return cached
	}
	cached := newCachedPoll(id)
	d.cache.put(cached)
	return cached
}

func (d *dispatcher) weigh(cached *cachedPoll) { d.locked(func() { d.cache.weigh(cached) }) }
