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

// loadedPoll is a poll that is read once for all streams that show it: first
// itself and its group, then its slots and votes when one of them needs those.
type loadedPoll struct {
	poll.WithGroup // the id alone until it is read
	// document is documentOf the poll, "" where there is none; nil until it is read.
	document func() (string, error)
	turn     chan struct{} // taken by the stream that reads
	view     atomic.Pointer[scheduler.View]
	weight   int // as the cache counts it
}

func newLoadedPoll(id string) *loadedPoll {
	return &loadedPoll{WithGroup: poll.WithGroup{ID: id}, turn: make(chan struct{}, 1)}
}

// fill keeps what was read.
func (l *loadedPoll) fill(p poll.WithGroup) {
	l.Poll, l.Group = p.Poll, p.Group
	l.document = sync.OnceValues(func() (string, error) {
		if p.Poll == nil {
			return "", nil
		}
		return documentOf(*p.Poll)
	})
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

// take waits until no other stream reads. Of several callers one reads, and the
// others find it done; after an error the next one tries again.
func (l *loadedPoll) take(ctx context.Context) (release func(), err error) {
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// load reads the poll and its group, unless that was done.
func (l *loadedPoll) load(ctx context.Context, reader store.Reader) (read bool, err error) {
	release, err := l.take(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	if l.document != nil {
		return false, nil
	}
	polls, err := poll.LoadWithGroups(ctx, reader, []string{l.ID})
	if err != nil {
		return false, err
	}
	l.fill(polls[0])
	return true, nil
}

// whole gives the loaded poll with its slots and votes, which it reads unless that
// was done.
func (l *loadedPoll) whole(ctx context.Context, s *scheduler.Service) (scheduler.View, error) {
	release, err := l.take(ctx)
	if err != nil {
		return scheduler.View{}, err
	}
	defer release()
	if view := l.view.Load(); view != nil {
		return *view, nil
	}
	view, err := s.WholeView(ctx, *l.Poll, l.Group)
	if err == nil {
		l.view.Store(&view)
	}
	return view, err
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
