package api

import (
	"fmt"
	"testing"

	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

func TestPollCache_TooManyOrTooLarge_DropTheOldest(t *testing.T) {
	t.Parallel()
	kept := func(c *pollCache) (count, size int) {
		for _, l := range c.byID {
			size += l.size()
		}
		if len(c.oldest) != len(c.byID) || c.size != size {
			t.Errorf("%d polls of %d are in order, of %d values %d are counted", len(c.oldest), len(c.byID), size, c.size)
		}
		return len(c.byID), size
	}
	var c pollCache
	load := func(i, slots int) {
		l := newCachedPoll(fmt.Sprintf("p%d", i))
		l.fill(poll.WithGroup{Poll: &poll.Poll{}})
		c.put(l)
		l.view.Store(&scheduler.View{Slots: make([]poll.Slot, slots)})
		c.weigh(l)
	}
	for i := range 2 * maxCached {
		load(i, 1)
		load(i, 1) // again
	}
	if count, _ := kept(&c); count != maxCached || c.byID["p0"] != nil {
		t.Errorf("%d polls are kept", count)
	}
	for i := range 20 {
		load(i, maxCachedSize/10)
	}
	if _, size := kept(&c); size > maxCachedSize || c.byID["p19"] == nil {
		t.Errorf("polls of %d values are kept", size)
	}
	load(1, 2*maxCachedSize)
	if count, _ := kept(&c); count != 1 || c.byID["p1"] == nil {
		t.Errorf("%d polls are kept beside one that is too large", count)
	}
}

func TestSentPolls_NoRoom_ForgetTheOldestUnlisted(t *testing.T) {
	t.Parallel()
	s := newSentPolls()
	id := func(i int) string { return fmt.Sprintf("p%03d", i) }
	listed := map[string]bool{}
	for i := range poll.MostConcerning {
		listed[id(i)] = true
		s.set(id(i), sentPoll{})
	}
	s.list(listed)
	for i := range 3 * maxSent {
		s.set(id(poll.MostConcerning+i), sentPoll{})
	}
	others := s.list(listed)
	if len(s.polls) != maxSent || len(s.oldest) != maxSent || len(others) != maxSent-len(listed) {
		t.Fatalf("%d polls are remembered, %d beside those listed", len(s.polls), len(others))
	}
	if others[0] != id(poll.MostConcerning+3*maxSent-len(others)) {
		t.Errorf("the oldest that is remembered is %s", others[0])
	}
}
