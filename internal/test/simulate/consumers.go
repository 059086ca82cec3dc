package main

import (
	"errors"
	"math/rand/v2"

	"questscheduler/internal/gcal"
	"questscheduler/internal/test/worldtest"
)

// consumers are the consumers of calendars beside polls in a world, if it has any. They
// have streams of their own, so that worlds without them are what they would be anyhow.
type consumers struct {
	all []*worldtest.Consumer
	// steady has no faults of its own, and broken fails in this share of attempts.
	steady, broken *worldtest.Consumer
	share          float64
	// draws are for what happens in a step, fails for failures.
	draws, fails *rand.Rand
}

// streamConsumers tells the streams of consumers from those of the world.
const streamConsumers = 0x5eed

// drawConsumers begins the streams of a step, as draw does for those of the world.
func (l *life) drawConsumers(of int) {
	l.consumers.draws = rand.New(rand.NewPCG(l.seed^streamConsumers, uint64(2*of)))
	l.consumers.fails = rand.New(rand.NewPCG(l.seed^streamConsumers, uint64(2*of+1)))
}

// makeConsumers draws whether the world has consumers beside polls.
func (l *life) makeConsumers() []*worldtest.Consumer {
	c := &l.consumers
	if c.draws.IntN(2) == 0 {
		return nil
	}
	c.steady = &worldtest.Consumer{Name: "steady", Reads: gcal.Mask(c.draws.IntN(3))}
	c.broken = &worldtest.Consumer{Name: "broken", Reads: gcal.Mask(c.draws.IntN(3)), Fails: l.breaks}
	c.share = float64(c.draws.IntN(4)) / 4
	c.all = []*worldtest.Consumer{c.steady, c.broken}
	return c.all
}

// breaks fails a share of what the broken consumer does, at times by a panic.
func (l *life) breaks(string) error {
	switch drawn := l.consumers.fails.Float64(); {
	case drawn >= l.consumers.share:
		return nil
	case drawn < l.consumers.share/4:
		panic("the consumer is broken")
	default:
		return errors.New("the consumer is broken")
	}
}

// mayFollow draws whether a consumer changes its interests or breaks otherwise before a
// step.
func (l *life) mayFollow() {
	c := &l.consumers
	if len(c.all) == 0 {
		return
	}
	if c.draws.IntN(8) == 0 {
		c.share = float64(c.draws.IntN(5)) / 4
		l.say("the broken consumer fails in %.0f%% of its attempts", 100*c.share)
	}
	if c.draws.IntN(6) > 0 {
		return
	}
	calendars := append([]string{worldtest.Club}, l.owners...)
	one, calendar := c.all[c.draws.IntN(len(c.all))], calendars[c.draws.IntN(len(calendars))]
	count := c.draws.Int64N(3)
	l.say("consumer %s has %d interests in the calendar of %s", one.Name, count, calendar)
	l.answer(l.w.Follow(one, calendar, count))
}
