package api

import (
	"context"
	"slices"
	"sync"

	"questscheduler/changes"
	"questscheduler/poll"
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
	rounds  int // how often loaded was written after changes
	routing bool
	again   bool // there is more to route
	votes   voteScan
}

// enter has a stream hear of changes until leave.
func (d *dispatcher) enter(f *feed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.feeds) == 0 {
		d.written, d.loaded, d.votes = d.Changes.Listen(), loadedPolls{}, newVoteScan()
	}
	d.feeds, f.written = append(d.feeds, f), d.written
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

// route takes all changes to their streams. If another stream does so already,
// that one does the rest too. After an error the changes stand as before.
func (d *dispatcher) route(ctx context.Context) error {
	if !d.begin() {
		return nil
	}
	ended := false
	defer func() {
		if !ended {
			d.end()
		}
	}()
	for {
		changed, lost := d.written.Take()
		if lost {
			d.lose()
		}
		for len(changed) > 0 {
			some := changed[:min(len(changed), routedAtOnce)]
			if err := d.deliver(ctx, some); err != nil {
				d.written.Add(changed...)
				return err
			}
			changed = changed[len(some):]
		}
		if ended = !d.more(); ended {
			return nil
		}
	}
}

func (d *dispatcher) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.again = d.routing
	if d.routing {
		return false
	}
	d.routing = true
	return true
}

// more tells whether there is more to route, and ends the routing otherwise.
func (d *dispatcher) more() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.routing, d.again = d.again, false
	return d.routing
}

// end ends a routing that failed.
func (d *dispatcher) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.routing, d.again = false, false
}

// deliver reads the polls and hands each to the streams that it concerns, and to
// those that showed it.
func (d *dispatcher) deliver(ctx context.Context, changed []changes.Change) error {
	ids := make([]string, len(changed))
	for i, change := range changed {
		ids[i] = change.Poll
	}
	polls, err := poll.LoadWithGroups(ctx, d.Store, ids)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rounds++
	for i, p := range polls {
		d.loaded.remove(p.ID)
		wanted := false
		for _, f := range d.feeds {
			if f.shown.wants(p.ID) || p.Concerns(f.by.person.ID) {
				f.pending.Add(changed[i])
				wanted = true
			}
		}
		if wanted {
			d.loaded.put(newLoadedPoll(p, true))
		}
	}
	return nil
}

// lose has every stream check all of its polls: changes were lost.
func (d *dispatcher) lose() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rounds++
	d.loaded = loadedPolls{}
	for _, f := range d.feeds {
		f.pending.Lose()
	}
}

// current gives a poll as it was loaded after its last change in this process.
// fits, where not nil, tells whether that is how a recheck found the poll; if it
// is not, another process wrote the poll, which is read again then.
func (d *dispatcher) current(ctx context.Context, id string, fits func(*loadedPoll) bool) (*loadedPoll, error) {
	d.mu.Lock()
	loaded, rounds := d.loaded.byID[id], d.rounds
	d.mu.Unlock()
	if loaded != nil && (fits == nil || fits(loaded)) {
		return loaded, nil
	}
	polls, err := poll.LoadWithGroups(ctx, d.Store, []string{id})
	if err != nil {
		return nil, err
	}
	loaded = newLoadedPoll(polls[0], false)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rounds == rounds { // otherwise this may be older than what is there
		d.loaded.put(loaded)
	}
	if fits != nil && loaded.Poll != nil {
		d.votes.settle(id)
	}
	return loaded, nil
}

// weigh counts a loaded poll anew once its slots and votes were read.
func (d *dispatcher) weigh(l *loadedPoll) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loaded.weigh(l)
}
