package attendees_test

import (
	"context"
	"time"

	"questscheduler/attendees"
	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
)

// points counts the calls that leave the program, each before it has an effect and after,
// and ends the program at one of them.
type points struct {
	passed int
	// at is the point (from 1) where do runs; 0: none.
	at int
	do func() error
}

// died is the panic of a program that ends.
type died struct{}

func (p *points) pass() error {
	if p.passed++; p.passed == p.at {
		return p.do()
	}
	return nil
}

// dieAt has the program end at its nth point from now on.
func (p *points) dieAt(n int) { p.strike(n, func() error { panic(died{}) }) }

// failAt has the call at the nth point from now on go unanswered: before its effect, or
// after it.
func (p *points) failAt(n int) {
	p.strike(n, func() error { return fault.New(fault.Unavailable, "it did not answer") })
}

func (p *points) strike(n int, do func() error) { p.passed, p.at, p.do = 0, n, do }

// reached reports whether the point was passed.
func (p *points) reached() bool { return p.passed >= p.at }

// survives reports whether the program lived through do.
func survives(do func()) (lived bool) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case died:
			lived = false
		default:
			panic(end)
		}
	}()
	do()
	return true
}

func passing[T any](p *points, do func() (T, error)) (T, error) {
	var none T
	if err := p.pass(); err != nil {
		return none, err
	}
	answer, err := do()
	if err := p.pass(); err != nil {
		return none, err
	}
	return answer, err
}

type storePoints struct {
	store.Store
	points *points
}

func (s *storePoints) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	_, err := passing(s.points, func() (any, error) { return nil, s.Store.Run(ctx, fn) })
	return err
}

type queuePoints struct {
	queue.Queue
	points *points
}

func (q *queuePoints) Enqueue(ctx context.Context, task queue.Task) (bool, error) {
	return passing(q.points, func() (bool, error) { return q.Queue.Enqueue(ctx, task) })
}

// beside is what a person does during the next patch: before it has its effect, or after it.
// It happens once, whatever becomes of the program.
// read happens after the next reading of a list.
type beside struct{ before, after, read func() }

// googlePoints are the writer's calls.
type googlePoints struct {
	attendees.Google
	points *points
	*beside
	// hold has Google refuse what the writer asks for some time.
	hold bool
	// deaf has Google answer to patches and leave the guests as they are.
	deaf bool
	// omitted has Google cut lists of guests.
	omitted bool
	// added counts how often each address was added by a patch that took effect, and
	// "removed …" how often it was removed.
	added map[string]int
}

func (g *googlePoints) GuestList(ctx context.Context, ref gcal.Ref, id string) (gcal.GuestList, error) {
	return passing(g.points, func() (gcal.GuestList, error) {
		if g.hold {
			return gcal.GuestList{}, &fault.Error{Kind: fault.RateLimited, RetryAfter: time.Minute}
		}
		list, err := g.Google.GuestList(ctx, ref, id)
		if err == nil && g.omitted {
			list.Event.Details.GuestsOmitted = true
		}
		if read := g.read; read != nil {
			g.read = nil
			read()
		}
		return list, err
	})
}

func (g *googlePoints) PatchGuests(ctx context.Context, ref gcal.Ref, list gcal.GuestList, add, remove []string, notify string) (gcal.Event, error) {
	return passing(g.points, func() (gcal.Event, error) {
		before, after := g.before, g.after
		g.before, g.after = nil, nil
		if before != nil {
			before()
		}
		if g.deaf {
			return list.Event, nil
		}
		event, err := g.Google.PatchGuests(ctx, ref, list, add, remove, notify)
		if err == nil {
			for _, address := range add {
				g.added[address]++
			}
			for _, address := range remove {
				g.added["removed "+address]++
			}
		}
		if after != nil {
			after()
		}
		return event, err
	})
}
