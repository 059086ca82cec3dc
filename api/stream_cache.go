package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// cachedPoll is a poll that is read once for all streams: first itself and its
// group, then its slots and votes if a stream needs them.
type cachedPoll struct {
	poll.WithGroup                        // the id alone until it is read
	document       func() (string, error) // documentHash, "" without a poll; nil until it is read
	reading        chan struct{}          // taken by the stream that reads
	view           atomic.Pointer[scheduler.View]
	weight         int // its size as counted by the cache
}

func newCachedPoll(id string) *cachedPoll {
	return &cachedPoll{WithGroup: poll.WithGroup{ID: id}, reading: make(chan struct{}, 1)}
}

func (c *cachedPoll) fill(p poll.WithGroup) {
	c.Poll, c.Group = p.Poll, p.Group
	c.document = sync.OnceValues(func() (string, error) {
		if p.Poll == nil {
			return "", nil
		}
		return documentHash(*p.Poll)
	})
}

// documentHash covers all that a poll's own document contributes to its answer.
func documentHash(p poll.Poll) (string, error) {
	text, err := json.Marshal(answerPoll(scheduler.View{Poll: p}))
	if err != nil {
		return "", err
	}
	original := ""
	if p.Sync.Rescheduled != nil {
		original = p.Sync.Rescheduled.FromSlotID
	}
	return hash(fmt.Appendf(text, "%q%q%v", p.WinningSlotID, original, p.Votes)), nil
}

// lock waits until no other stream reads. One of several callers reads, and the
// others find the result; after an error the next one tries again.
func (c *cachedPoll) lock(ctx context.Context) (unlock func(), err error) {
	select {
	case c.reading <- struct{}{}:
		return func() { <-c.reading }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// load reads the poll and its group once.
func (c *cachedPoll) load(ctx context.Context, reader store.Reader) (read bool, err error) {
	unlock, err := c.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	if c.document != nil {
		return false, nil
	}
	polls, err := poll.LoadWithGroups(ctx, reader, []string{c.ID})
	if err != nil {
		return false, err
	}
	c.fill(polls[0])
	return true, nil
}

// whole returns the loaded poll with its slots and votes, which it reads once.
func (c *cachedPoll) whole(ctx context.Context, s *scheduler.Service) (scheduler.View, error) {
	unlock, err := c.lock(ctx)
	if err != nil {
		return scheduler.View{}, err
	}
	defer unlock()
	if view := c.view.Load(); view != nil {
		return *view, nil
	}
	view, err := s.WholeView(ctx, *c.Poll, c.Group)
	if err == nil {
		c.view.Store(&view)
	}
	return view, err
}

// size is roughly the number of values in memory.
func (c *cachedPoll) size() int {
	size := 1
	if c.Poll != nil {
		size += len(c.Poll.ParticipantIDs) + len(c.Poll.PendingInvites)
	}
	if c.Group != nil {
		size += len(c.Group.MemberIDs)
	}
	if view := c.view.Load(); view != nil {
		size += len(view.Slots)
		for _, vote := range view.Votes {
			size += 1 + len(vote.Choices)
		}
	}
	return size
}

// The limits of a pollCache: polls, and values in all of them (some 10 MB).
const (
	maxCached     = 256
	maxCachedSize = 100_000
)

// pollCache keeps the polls that were read last. Its zero value is ready.
type pollCache struct {
	byID   map[string]*cachedPoll
	oldest []string // first
	size   int
}

func (c *pollCache) put(p *cachedPoll) {
	c.remove(p.ID)
	if c.byID == nil {
		c.byID = map[string]*cachedPoll{}
	}
	c.byID[p.ID] = p
	c.oldest = append(c.oldest, p.ID)
	c.weigh(p)
}

// weigh counts a poll again that has grown, and drops the oldest polls beyond the
// limits, but never the newest.
func (c *pollCache) weigh(p *cachedPoll) {
	if c.byID[p.ID] != p {
		return
	}
	size := p.size()
	c.size += size - p.weight
	p.weight = size
	for len(c.oldest) > 1 && (len(c.oldest) > maxCached || c.size > maxCachedSize) {
		c.remove(c.oldest[0])
	}
}

func (c *pollCache) remove(id string) {
	p, cached := c.byID[id]
	if !cached {
		return
	}
	delete(c.byID, id)
	c.oldest = slices.DeleteFunc(c.oldest, func(other string) bool { return other == id })
	c.size -= p.weight
}
