package outbox

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"questscheduler/fault"
)

const (
	// drainEvery is how often a pool drains what is due.
	drainEvery = time.Minute
	// longestSleep bounds how late a pool notices that the clock was set, or that the machine
	// slept.
	longestSleep = time.Minute
	// overdue is how long after the end of its context a run that ignores it loses its place.
	overdue = 30 * time.Second
	// stopGrace is how long cancelled runs may take to end.
	stopGrace = 5 * time.Second
)

// Pool is a Waker that runs an outbox's work in this process, and drains it at each start and
// every minute. It is the waker of a process that has its store to itself: what it holds is
// in memory, and the documents have all of it.
//
// Each kind has its own workers and its own list of waiting entries, so that hung calls of one
// kind hold up no other. An entry is there once: wakes for one that waits become one, at the
// earlier time, and a wake for one that runs has it run once more. All methods are safe for
// concurrent use.
type Pool struct {
	work *Outbox

	mu sync.Mutex
	// lanes are those of the outbox's kinds, made at the first start.
	lanes   []*lane
	session *session // nil while stopped
}

// session is the time between a start and its stop.
type session struct {
	ctx    context.Context //nolint:containedctx // the runs' context, which Stop cancels
	cancel context.CancelFunc
	// changed holds at most one value: there is something to begin.
	changed chan struct{}
	stop    chan struct{}
	// began counts the loop, the drains and the runs.
	began sync.WaitGroup
}

// NewPool makes the pool of an outbox, as its waker. It is stopped.
func NewPool(work *Outbox) *Pool {
	p := &Pool{work: work}
	work.Waker = p
	return p
}

// Start drains every kind and begins to run what is due, and returns once both are under way.
// Runs have ctx's values, not its end: Stop ends them. Errors: Conflict (it is started
// already), and those of the store, of which nothing is started.
func (p *Pool) Start(ctx context.Context) error {
	s := &session{changed: make(chan struct{}, 1), stop: make(chan struct{})}
	p.mu.Lock()
	if p.session != nil {
		p.mu.Unlock()
		return fault.New(fault.Conflict, "The pool is started already.")
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.lanes = nil
	for _, kind := range p.work.kinds {
		p.lanes = append(p.lanes, newLane(kind, p.work.Workers(kind.Name)))
	}
	p.session = s
	s.began.Add(1) // the loop, which also ends where the drain fails
	p.mu.Unlock()
	if _, err := p.drain(ctx, Soon); err != nil { // an earlier process had what is due soon in memory
		s.began.Done()
		return errors.Join(err, p.Stop(ctx))
	}
	go p.loop(s)
	return nil
}

// Stop begins no further run, waits for those under way until ctx ends, and cancels them: they
// are due again at the next start. Stopping a stopped pool does nothing. Unavailable where a
// handler ignores the end of its context.
func (p *Pool) Stop(ctx context.Context) error {
	p.mu.Lock()
	s := p.session
	p.session = nil
	p.mu.Unlock()
	if s == nil {
		return nil
	}
	close(s.stop)
	defer s.cancel()
	ended := make(chan struct{})
	go func() {
		s.began.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	s.cancel()
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-ended:
		return nil
	case <-grace.C:
		return fault.New(fault.Unavailable, "A handler does not end with its context.")
	}
}

// Wake implements Waker. While the pool is stopped, or holds enough of the kind, it does nothing: a
// drain follows. Unavailable where none does, since the kind is recorded nowhere.
func (p *Pool) Wake(_ context.Context, kind, id, _ string, at time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.work.kind(kind)
	if known == nil {
		return fault.Newf(fault.NotFound, "There is no work of the kind %q.", kind)
	}
	kept := p.session != nil && p.lane(kind).wake(id, at)
	p.session.notify()
	if !kept && known.Due == nil {
		return fault.Newf(fault.Unavailable, "Work of the kind %q is not taken now.", kind)
	}
	return nil
}

// Idle reports whether nothing runs or waits for a time within the next minute.
func (p *Pool) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, lane := range p.lanes {
		if len(lane.known) > 0 {
			return false
		}
	}
	return true
}

// ClockSet has the pool read the clock now, and drain what became due by it.
func (p *Pool) ClockSet(ctx context.Context) error {
	_, err := p.drain(ctx, 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session.notify()
	return err
}

func (p *Pool) lane(kind string) *lane {
	for _, lane := range p.lanes {
		if lane.kind.Name == kind {
			return lane
		}
	}
	return nil
}

// notify has the loop search for something to begin; a nil session is stopped.
func (s *session) notify() {
	if s == nil {
		return
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// drain wakes what is due, or soon due, and notes the kinds of which more is.
func (p *Pool) drain(ctx context.Context, ahead time.Duration) ([]Woken, error) {
	p.mu.Lock()
	for _, lane := range p.lanes {
		lane.drains()
	}
	p.mu.Unlock()
	woken, err := p.work.drainAhead(ctx, ahead)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, did := range woken {
		if lane := p.lane(did.Kind); lane != nil {
			lane.drained(did)
		}
	}
	p.session.notify()
	return woken, err
}

// loop begins runs as entries become due and workers free, and drains every minute, until stop.
func (p *Pool) loop(s *session) {
	defer s.began.Done()
	drains := time.NewTicker(drainEvery)
	defer drains.Stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, refill := p.begin(s)
		for _, kind := range refill {
			s.began.Go(func() { p.refill(s, kind) })
		}
		timer.Reset(wait)
		select {
		case <-s.stop:
			return
		case <-s.changed:
		case <-timer.C:
		case <-drains.C:
			s.began.Go(func() { p.drainOnce(s) })
		}
	}
}

func (p *Pool) drainOnce(s *session) {
	if _, err := p.drain(s.ctx, 0); err != nil && s.ctx.Err() == nil {
		p.work.Log.WarnContext(s.ctx, "work that is due is left to the next drain", slog.Any("error", err))
	}
}

// refill drains a kind again of which an earlier drain left some, now that its list is empty.
func (p *Pool) refill(s *session, kind *Kind) {
	var did Woken
	var err error
	if kind.drains() {
		did, err = p.work.drain(s.ctx, kind, 0)
	}
	if err != nil && s.ctx.Err() == nil {
		p.work.Log.WarnContext(s.ctx, "a backlog is left to the next drain", slog.String("kind", kind.Name), slog.Any("error", err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if lane := p.lane(kind.Name); lane != nil && p.session == s {
		lane.drained(did)
		lane.refilling = false
	}
	s.notify()
}

// begin begins every due run that has a free worker. It returns how long to wait for the next
// one, and the kinds to drain again.
func (p *Pool) begin(s *session) (wait time.Duration, refill []*Kind) {
	now := p.work.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session != s {
		return longestSleep, nil
	}
	wait = longestSleep
	for _, lane := range p.lanes {
		for entry := lane.take(now); entry != nil; entry = lane.take(now) {
			s.began.Go(func() { p.run(s, lane, entry) })
		}
		if lane.refill() {
			refill = append(refill, lane.kind)
		}
		wait = min(wait, lane.wait(now))
	}
	return wait, refill
}

// run runs an entry. One that does not end with its context loses its worker to others, and is
// left to the drain.
func (p *Pool) run(s *session, lane *lane, entry *entry) {
	watchdog := time.AfterFunc(lane.kind.timeout()+overdue, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if lane.abandon(entry) {
			p.work.GiveUp(lane.kind.Name, entry.id)
			p.work.Log.ErrorContext(s.ctx, "a run ignores the end of its time", "kind", lane.kind.Name, "id", entry.id)
			s.notify()
		}
	})
	defer watchdog.Stop()
	ran := p.work.run(s.ctx, lane.kind, entry.id)
	now := p.work.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	lane.ended(entry, ran, now)
	s.notify()
}
