package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"questscheduler/poll"
	"questscheduler/scheduler"
)

// loadedPoll is a poll that was read once for all streams that show it. Its slots
// and votes are read when the first of them needs them.
type loadedPoll struct {
	poll.WithGroup
	// routed tells that every stream which the poll concerns was told of it.
	routed bool
	// document is documentOf the poll; "" where there is none.
	document func() (string, error)
	turn     chan struct{} // taken by the stream that reads
	view     atomic.Pointer[scheduler.View]
	weight   int // as the cache counts it
}

func newLoadedPoll(p poll.WithGroup, routed bool) *loadedPoll {
	return &loadedPoll{WithGroup: p, routed: routed, turn: make(chan struct{}, 1), document: sync.OnceValues(func() (string, error) {
		if p.Poll == nil {
			return "", nil
		}
		return documentOf(*p.Poll)
	})}
}

// documentOf is a hash of all that the poll's own document decides of how the
// poll is shown.
func documentOf(p poll.Poll) (string, error) {
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

// whole gives the poll with its slots and votes. Of several callers one reads, and
// the others wait for it; after an error the next one tries again.
func (l *loadedPoll) whole(ctx context.Context, s *scheduler.Service) (scheduler.View, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return scheduler.View{}, ctx.Err()
	}
	if view := l.view.Load(); view != nil {
		return *view, nil
	}
	view, err := s.WholeView(ctx, *l.Poll, l.Group)
	if err == nil {
		l.view.Store(&view)
	}
	return view, err
}

// holds tells whether the poll was read with a vote as it is.
func (l *loadedPoll) holds(vote poll.GivenVote) bool {
	view := l.view.Load()
	return view != nil && slices.ContainsFunc(view.Votes, func(v poll.Vote) bool {
		return v.UserID == vote.UserID && v.UpdatedAt.Equal(vote.At)
	})
}

// size is the number of values that the poll keeps in memory, roughly.
func (l *loadedPoll) size() int {
	size := 1
	if l.Poll != nil {
		size += len(l.Poll.ParticipantIDs) + len(l.Poll.PendingInvites)
	}
	if l.Group != nil {
		size += len(l.Group.MemberIDs)
	}
	if view := l.view.Load(); view != nil {
		size += len(view.Slots)
		for _, vote := range view.Votes {
			size += 1 + len(vote.Choices)
		}
	}
	return size
}

// The most that loadedPolls keeps: polls, and values in all of them (some 10 MB).
const (
	mostLoaded      = 256
	mostLoadedSizes = 100_000
)

// loadedPolls keeps the polls that were loaded last. Its zero value is ready.
type loadedPolls struct {
	byID   map[string]*loadedPoll
	oldest []string // first
	size   int
}

func (c *loadedPolls) put(l *loadedPoll) {
	c.remove(l.ID)
	if c.byID == nil {
		c.byID = map[string]*loadedPoll{}
	}
	c.byID[l.ID] = l
	c.oldest = append(c.oldest, l.ID)
	c.weigh(l)
}

// weigh counts a poll anew that has become larger, and drops the oldest that
// there is no more room for. The newest stays, whatever its size.
func (c *loadedPolls) weigh(l *loadedPoll) {
	if c.byID[l.ID] != l {
		return
	}
	size := l.size()
	c.size += size - l.weight
	l.weight = size
	for len(c.oldest) > 1 && (len(c.oldest) > mostLoaded || c.size > mostLoadedSizes) {
		c.remove(c.oldest[0])
	}
}

func (c *loadedPolls) remove(id string) {
	l, kept := c.byID[id]
	if !kept {
		return
	}
	delete(c.byID, id)
	c.oldest = slices.DeleteFunc(c.oldest, func(other string) bool { return other == id })
	c.size -= l.weight
}
