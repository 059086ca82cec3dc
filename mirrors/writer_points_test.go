package mirrors_test

import (
	"context"

	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/queue"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
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

func at2[T any](p *points, do func() (T, error)) (T, error) {
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
	_, err := at2(s.points, func() (any, error) { return nil, s.Store.Run(ctx, fn) })
	return err
}

type queuePoints struct {
	queue.Queue
	points *points
}

func (q *queuePoints) Enqueue(ctx context.Context, task queue.Task) (bool, error) {
	return at2(q.points, func() (bool, error) { return q.Queue.Enqueue(ctx, task) })
}

// googlePoints are the calls that have effects; those that read pass through.
type googlePoints struct {
	mirrors.Google
	points *points
	// before and after, if set, run once beside the next insert or patch.
	before, after func()
}

func (g *googlePoints) InsertContent(ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string) (gcal.Event, error) {
	return at2(g.points, func() (gcal.Event, error) {
		defer g.beside()()
		return g.Google.InsertContent(ctx, ref, id, content, private)
	})
}

func (g *googlePoints) PatchContent(ctx context.Context, ref gcal.Ref, id, etag string, content gcal.Content) (gcal.Event, error) {
	return at2(g.points, func() (gcal.Event, error) {
		defer g.beside()()
		return g.Google.PatchContent(ctx, ref, id, etag, content)
	})
}

// beside runs before, and returns after.
func (g *googlePoints) beside() func() {
	before, after := g.before, g.after
	g.before, g.after = nil, nil
	if before != nil {
		before()
	}
	if after == nil {
		return func() {}
	}
	return after
}

func (g *googlePoints) DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (bool, error) {
	return at2(g.points, func() (bool, error) { return g.Google.DeleteQuietly(ctx, ref, id, etag) })
}

func (g *googlePoints) InsertCalendar(ctx context.Context, account string, calendar gcal.NewCalendar) (string, error) {
	return at2(g.points, func() (string, error) { return g.Google.InsertCalendar(ctx, account, calendar) })
}

func (g *googlePoints) Get(ctx context.Context, ref gcal.Ref, id string) (gcal.Event, error) {
	return at2(g.points, func() (gcal.Event, error) { return g.Google.Get(ctx, ref, id) })
}

func (g *googlePoints) Instance(ctx context.Context, ref gcal.Ref, series string, original recurrence.Moment) (gcal.Event, error) {
	return at2(g.points, func() (gcal.Event, error) { return g.Google.Instance(ctx, ref, series, original) })
}
