package google

import (
	"slices"
	"time"
)

// change gathers what one request does to the world; nothing of it is true
// until it is committed whole. The server's lock is held while it lives.
type change struct {
	world   *world
	now     time.Time
	record  record
	version int64
	grace   time.Duration // how long a stopped channel receives pushes
	// touched are the calendars whose events change, each once, in order.
	touched []string
}

// change lets fn gather a change, adds the pushes that it causes and commits
// it. On an error of either nothing has changed.
func (s *Server) change(fn func(*change) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &change{world: &s.world, now: s.clock.Now(), version: s.world.version, grace: s.stopGrace()}
	if err := fn(c); err != nil {
		return err
	}
	c.pushTouched()
	if c.empty() {
		return nil
	}
	if err := s.commit(c.record); err != nil {
		return err
	}
	if len(c.record.Pushes)+len(c.record.Channels) > 0 { // a channel that was stopped frees its pushes
		s.outbox.wake()
	}
	return nil
}

func (c *change) empty() bool {
	return c.record.beside() && len(c.record.Pushes)+len(c.record.Delivered) == 0
}

// event is the newest version, one of this change included; nil where the
// calendar has none.
func (c *change) event(calendarID, id string) *event {
	for _, e := range c.record.Events {
		if e.Calendar == calendarID && e.ID == id {
			return e
		}
	}
	if cal := c.world.calendars[calendarID]; cal != nil {
		return cal.events[id]
	}
	return nil
}

// find is event, or an instance of a series.
func (c *change) find(calendarID, id string) *event {
	if e := c.event(calendarID, id); e != nil {
		return e
	}
	if cal := c.world.calendars[calendarID]; cal != nil {
		return cal.find(id)
	}
	return nil
}

// put makes e the event's newest version. e belongs to the change from here
// on.
func (c *change) put(e *event) {
	c.version++
	e.Version = c.version
	e.Updated = c.now.UTC().Truncate(time.Millisecond)
	if c.event(e.Calendar, e.ID) == nil {
		if e.Created.IsZero() { // else it was moved here
			e.Created = e.Updated
		}
		e.Ordinal = c.nextOrdinal(e.Calendar)
	}
	at := slices.IndexFunc(c.record.Events, func(old *event) bool {
		return old.Calendar == e.Calendar && old.ID == e.ID
	})
	if at >= 0 {
		// The versions of a record must come in growing order.
		c.record.Events = slices.Delete(c.record.Events, at, at+1)
	}
	c.record.Events = append(c.record.Events, e)
	if !slices.Contains(c.touched, e.Calendar) {
		c.touched = append(c.touched, e.Calendar)
	}
}

func (c *change) nextOrdinal(calendarID string) int {
	next := len(c.world.calendars[calendarID].order)
	for _, e := range c.record.Events {
		if e.Calendar == calendarID && e.Ordinal >= next {
			next = e.Ordinal + 1
		}
	}
	return next
}

// pushTouched adds a push for each live channel of each changed calendar, if the
// user who made the channel may still read the calendar.
func (c *change) pushTouched() {
	for _, id := range c.touched {
		cal := c.world.calendars[id]
		for _, channelID := range cal.watchers {
			if ch := c.world.channels[channelID]; ch.pushesAt(c.now, c.grace) && cal.role(ch.User).mayRead() {
				c.push(ch, "exists")
			}
		}
	}
}

// push adds one push. Numbers grow from 1, the sync message, with gaps.
func (c *change) push(ch *channel, state string) {
	number := int64(1)
	if state != "sync" {
		number = ch.LastNumber + 1 + ch.LastNumber%3
	}
	c.record.Pushes = append(c.record.Pushes, &push{
		ID:      c.world.lastPush + int64(len(c.record.Pushes)) + 1,
		Channel: ch.ID,
		State:   state,
		Number:  number,
	})
}
