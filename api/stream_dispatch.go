package api

import (
	"context"
	"slices"
	"sync"

	"questscheduler/internal/poll"
	"questscheduler/internal/store/changes"
)

// routedAtOnce is how many changed polls are read together.
const routedAtOnce = 100

// dispatcher takes the changes of the process to the streams that they concern.
// It reads each changed poll and its group once, and what a stream shows of it
// once for all streams.
//
// It has no goroutine: a change wakes any one stream, which reads for all of
// them. If that stream ends before it is done, another is woken.
type dispatcher struct {
	*server

	mu      sync.Mutex // not held while anything is read
	feeds   []*feed
	written *changes.Listener // nil while no stream is open
	loaded  loadedPolls
	routing bool
	votes   voteScan
}

// enter has a stream hear of changes until leave.
func (d *dispatcher) enter(f *feed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.feeds) == 0 {
		d.written, d.loaded, d.votes = d.Changes.Listen(), loadedPolls{}, newVoteScan(d.Now())
	}
	d.feeds, f.written, f.scans = append(d.feeds, f), d.written, d.votes.scans
}

func (d *dispatcher) leave(f *feed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.feeds = slices.DeleteFunc(d.feeds, func(other *feed) bool { return other == f })
	if len(d.feeds) == 0 {
		d.written.Close()
		d.loaded = loadedPolls{}
	}
}

// route takes the changes that there are to their streams, unless another stream
// does so. For what comes in the meantime, and for what an error left, a stream is
// woken after the routing has ended.
func (d *dispatcher) route(ctx context.Context) error {
	if !d.begin() {
		return nil
	}
	changed, lost := d.written.Take()
	if lost {
		d.lose()
	}
	var err error
	for err == nil && len(changed) > 0 {
		some := changed[:min(len(changed), routedAtOnce)]
		if err = d.deliver(ctx, some); err == nil {
			changed = changed[len(some):]
		}
	}
	d.end()
	d.written.Add(changed...)
	return err
}

func (d *dispatcher) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	begun := !d.routing
	d.routing = true
	return begun
}

func (d *dispatcher) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.routing = false
}

// deliver reads the polls and hands each to the streams that it concerns, and to
// those that showed it.
func (d *dispatcher) deliver(ctx context.Context, changed []changes.Change) error {
	polls, err := poll.LoadWithGroups(ctx, d.Store, d.outdate(changed))
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Now()
	for i, p := range polls {
		wanted := false
		for _, f := range d.feeds {
			if f.shown.wants(changed[i]) || p.Concerns(f.by.person.ID) {
				f.pending.Add(changed[i])
				wanted = true
			}
		}
		if !wanted {
			continue
		}
		if d.loaded.byID[p.ID] == nil { // otherwise a stream has read it since
			l := newLoadedPoll(p.ID)
			l.fill(p)
			d.loaded.put(l)
		}
		if isNew(p.Poll, now) {
			d.votes.settle(p.Poll)
		}
	}
	return nil
}

// outdate forgets how polls were loaded before these changes, and gives their ids.
func (d *dispatcher) outdate(changed []changes.Change) (ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, change := range changed {
		d.loaded.remove(change.Poll)
		ids = append(ids, change.Poll)
	}
	return ids
}

// lose has every stream compare its polls, and the next scan find votes again:
// changes were lost.
func (d *dispatcher) lose() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loaded = loadedPolls{}
	d.votes.again()
	for _, f := range d.feeds {
		f.pending.Lose()
	}
}

// current gives a poll as it was loaded after its last change in this process.
// fits, where not nil, tells whether that is how a recheck found the poll; if it
// is not, another process wrote the poll, which is read again then. Of several
// streams one reads.
func (d *dispatcher) current(ctx context.Context, id string, fits func(*loadedPoll) bool) (*loadedPoll, error) {
	var old *loadedPoll
	for {
		l := d.entry(id, old)
		read, err := l.load(ctx, d.Store)
		if err != nil {
			return nil, err
		}
		if read {
			d.settle(l.Poll)
			d.weigh(l)
		}
		if read || fits == nil || fits(l) {
			return l, nil
		}
		old = l
	}
}

// entry gives a poll that was loaded or is about to be; a new one where there is
// none but old.
func (d *dispatcher) entry(id string, old *loadedPoll) *loadedPoll {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.loaded.byID[id]; l != nil && l != old {
		return l
	}
	l := newLoadedPoll(id)
	d.loaded.put(l)
	return l
}

// weigh counts a poll anew once it was read, or its slots and votes were.
func (d *dispatcher) weigh(l *loadedPoll) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loaded.weigh(l)
}
