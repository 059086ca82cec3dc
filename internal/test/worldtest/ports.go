package worldtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/rules"
)

// ports counts the calls that leave the program, each at two points: before it
// has an effect, and after. Anything may be made to happen at a point.
type ports struct {
	world *World
	hooks map[string][]func()
	// passed names the points passed since calm.
	passed []string
	// at is the point (counted from 1) where do runs.
	at int
	do func()
	// dead is set from the program's death until its caller learns of it: on the way
	// there, a part of the program that recovers from a panic makes no further call.
	dead *crashed
	// failures are the errors that calls end with, by point: "before", without
	// an effect, or "after" it.
	failures map[string][]error
}

// crashed is the panic by which a caller learns of the program's death.
type crashed struct{ point string }

// calm forgets hooks, counts and planned crashes.
func (p *ports) calm() { *p = ports{world: p.world} }

// pass is called at each point. What is under way at once gives up the baton
// there.
func (p *ports) pass(point string) {
	p.passed = append(p.passed, point)
	if p.at == len(p.passed) {
		p.do()
	}
	if hooks := p.hooks[point]; len(hooks) > 0 {
		p.hooks[point] = hooks[1:]
		hooks[0]()
	}
	p.world.halt(halt{point: point})
}

// On has do run once, at the next point of that name: "before" or "after",
// and the call: store.run, store.read, wake, or a method of the
// Calendar API such as events.insert. Several for one point run one at each.
func (w *World) On(point string, do func()) {
	if w.ports.hooks == nil {
		w.ports.hooks = map[string][]func(){}
	}
	w.ports.hooks[point] = append(w.ports.hooks[point], do)
}

// Crash has the program die at the next point of that name.
func (w *World) Crash(point string) { w.On(point, func() { w.die(point) }) }

// Fail has the next call end with an error at the point of that name: before,
// it has no effect; after, it has, and nobody hears of it.
func (w *World) Fail(point string, err error) {
	if w.ports.failures == nil {
		w.ports.failures = map[string][]error{}
	}
	w.ports.failures[point] = append(w.ports.failures[point], err)
}

// failure is the error planned for a point, used up.
func (p *ports) failure(point string) error {
	planned := p.failures[point]
	if len(planned) == 0 {
		return nil
	}
	p.failures[point] = planned[1:]
	return planned[0]
}

// MostPoints bounds loops over the points at which something may happen: a subtest
// that -run or -failfast leaves out never says that it came to the last. No flow
// passes as many.
const MostPoints = 1000

// At has do run at the nth point from here on.
func (w *World) At(n int, do func()) {
	w.ports.calm()
	w.ports.at, w.ports.do = n, do
}

// CrashAt has the program die at the nth point from here on.
func (w *World) CrashAt(n int) {
	w.At(n, func() { w.die(w.ports.passed[n-1]) })
}

// FailAt has the nth point from here on be one where a call ends with an error.
func (w *World) FailAt(n int, err error) {
	w.At(n, func() { w.Fail(w.ports.passed[n-1], err) })
}

// Struck reports whether the point of At, CrashAt or FailAt was reached.
func (w *World) Struck() bool { return w.ports.at > 0 && len(w.ports.passed) >= w.ports.at }

// Calm forgets what On, At, Fail, Crash and CrashAt planned and was not met.
func (w *World) Calm() { w.ports.calm() }

// Survives runs what may kill the program and reports whether it lived, and where
// it died if not. The program is not restarted.
func (w *World) Survives(do func()) (lived bool, point string) {
	defer func() {
		switch death := recover().(type) {
		case nil:
		case crashed:
			w.ports.dead = nil
			lived, point = false, death.point
		default:
			panic(death)
		}
	}()
	do()
	return true, ""
}

// Points names the points that do passes.
func (w *World) Points(do func()) []string {
	from := len(w.ports.passed)
	do()
	return slices.Clone(w.ports.passed[from:])
}

func through[T any](p *ports, call string, do func() (T, error)) (T, error) {
	var nothing T
	p.world.refuseKilled(call)
	before, after := "before "+call, "after "+call
	p.pass(before)
	if err := p.failure(before); err != nil {
		return nothing, err
	}
	result, err := do()
	p.pass(after)
	if failure := p.failure(after); failure != nil {
		return nothing, failure
	}
	return result, err
}

// storePort is the store as the program sees it.
type storePort struct {
	store.Store
	ports *ports
}

func (s *storePort) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	_, err := inTime(ctx, s.ports, "store.run", func() (any, error) { return nil, s.Store.Run(ctx, fn) })
	return err
}

func (s *storePort) Get(ctx context.Context, path store.Path) (store.Document, error) {
	return inTime(ctx, s.ports, "store.read", func() (store.Document, error) { return s.Store.Get(ctx, path) })
}

func (s *storePort) GetAll(ctx context.Context, paths []store.Path) ([]store.Document, error) {
	return inTime(ctx, s.ports, "store.read", func() ([]store.Document, error) { return s.Store.GetAll(ctx, paths) })
}

func (s *storePort) Query(ctx context.Context, query store.Bound) ([]store.Document, error) {
	return inTime(ctx, s.ports, "store.read", func() ([]store.Document, error) { return s.Store.Query(ctx, query) })
}

// wakerPort is the waker as the program sees it.
type wakerPort struct {
	outbox.Waker
	ports *ports
}

func (p *wakerPort) Wake(ctx context.Context, kind, id, name string, at time.Time) error {
	_, err := through(p.ports, "wake", func() (any, error) { return nil, p.Waker.Wake(ctx, kind, id, name, at) })
	return err
}

// googlePort is Google Calendar as the program sees it.
type googlePort struct {
	client googleCalls
	ports  *ports
	// leaving is for the last calls of an account that is unlinked.
	leaving bool
}

// ask makes a call of Google, in the name of an account.
func ask[T any](g *googlePort, account, call string, do func() (T, error)) (T, error) {
	return within(g.ports, call, gcal.DefaultTimeout, func() (T, error) {
		defer g.ports.world.judgeCall(g.leaving, account, call)()
		return do()
	})
}

// within is through for a call that its client gives up after a while: of
// several things at once, one that stood longer than that before its effect has
// none, and of one that stood so long after it nobody hears. What On runs may
// hold a call up for longer than any client waits.
func within[T any](p *ports, call string, patience time.Duration, do func() (T, error)) (T, error) {
	began := p.world.Clock.Now()
	late := func() bool { return p.world.running != nil && p.world.Clock.Now().Sub(began) >= patience }
	var nothing T
	result, err := through(p, call, func() (T, error) {
		if late() {
			return nothing, errTimedOut
		}
		return do()
	})
	if err == nil && late() {
		return nothing, errTimedOut
	}
	return result, err
}

var errTimedOut = fault.Wrap(fault.Unavailable, context.DeadlineExceeded, "No answer came in time; the call is retried.")

var (
	_ calendarsync.Google      = (*googlePort)(nil)
	_ calendarsync.EventWriter = (*googlePort)(nil)
)

func (g *googlePort) Insert(ctx context.Context, ref gcal.Ref, event gcal.NewEvent) (gcal.Event, error) {
	return ask(g, ref.Account, "events.insert", func() (gcal.Event, error) { return g.client.Insert(ctx, ref, event) })
}

func (g *googlePort) Get(ctx context.Context, ref gcal.Ref, eventID string) (gcal.Event, error) {
	return ask(g, ref.Account, "events.get", func() (gcal.Event, error) { return g.client.Get(ctx, ref, eventID) })
}

func (g *googlePort) PatchTimes(
	ctx context.Context, ref gcal.Ref, eventID, etag string, to rules.Fingerprint, zone string,
) (gcal.Event, error) {
	return ask(g, ref.Account, "events.patch", func() (gcal.Event, error) {
		return g.ports.world.patched(
			ref, eventID, etag, func() (gcal.Event, error) { return g.client.PatchTimes(ctx, ref, eventID, etag, to, zone) },
		)
	})
}

func (g *googlePort) Delete(ctx context.Context, ref gcal.Ref, eventID string) (bool, error) {
	return ask(g, ref.Account, "events.delete", func() (bool, error) { return g.client.Delete(ctx, ref, eventID) })
}

func (g *googlePort) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	return ask(g, ref.Account, "events.list", func() (gcal.Page, error) {
		g.ports.world.beginsListing(ref, syncToken, pageToken)
		return g.client.List(ctx, ref, mask, syncToken, pageToken)
	})
}

func (g *googlePort) Lists(ctx context.Context, ref gcal.Ref, eventID string) (bool, error) {
	return ask(g, ref.Account, "events.list", func() (bool, error) { return g.client.Lists(ctx, ref, eventID) })
}

func (g *googlePort) Calendars(ctx context.Context, accountID string) ([]gcal.CalendarEntry, error) {
	return ask(g, accountID, "calendarList.list", func() ([]gcal.CalendarEntry, error) { return g.client.Calendars(ctx, accountID) })
}

func (g *googlePort) Access(ctx context.Context, ref gcal.Ref) (gcal.Access, error) {
	return ask(g, ref.Account, "events.list", func() (gcal.Access, error) { return g.client.Access(ctx, ref) })
}

func (g *googlePort) Watch(ctx context.Context, ref gcal.Ref, request gcal.WatchRequest) (gcal.Channel, error) {
	return ask(g, ref.Account, "events.watch", func() (gcal.Channel, error) { return g.client.Watch(ctx, ref, request) })
}

func (g *googlePort) StopWatch(ctx context.Context, accountID, channelID, resourceID string) error {
	_, err := ask(g, accountID, "channels.stop", func() (any, error) {
		return nil, g.client.StopWatch(ctx, accountID, channelID, resourceID)
	})
	return err
}

// String names the point, for failures of tests.
func (c crashed) String() string { return fmt.Sprintf("the program died %s", c.point) }
