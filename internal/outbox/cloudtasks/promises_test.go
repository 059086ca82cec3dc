package cloudtasks_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/internal/outbox"
)

// promise is what the outbox promises with any waker, and its test. The kinds are as change
// leaves them.
type promise struct {
	says   string
	change func(kind *outbox.Kind)
	test   func(b *bench)
}

// wakers are those that a promise is tried with. Each gives what starts and stops it; all is
// over at the end of the test.
var wakers = []struct {
	name string
	open func(b *bench) (start, stop func(context.Context) error)
}{
	{"in a pool", inPool},
	{"by Cloud Tasks", func(b *bench) (start, stop func(context.Context) error) { return byCloudTasks(b, 1) }},
	{"by Cloud Tasks, each attempt twice", func(b *bench) (start, stop func(context.Context) error) { return byCloudTasks(b, 2) }},
}

func inPool(b *bench) (start, stop func(context.Context) error) {
	b.Alone = true
	pool := outbox.NewPool(b.Outbox)
	return pool.Start, pool.Stop
}

// byCloudTasks has Cloud Tasks in memory deliver what is woken, and Cloud Scheduler drain once
// a minute, whether the process is stopped or not.
func byCloudTasks(b *bench, copies int) (start, stop func(context.Context) error) {
	b.tasks = b.cloud.open(b.T, b)
	ended := b.cloud.serve(b.tasks.Deliver, copies)
	scheduler, cancel := context.WithCancel(b.Context())
	var draining sync.WaitGroup
	draining.Go(func() {
		for minute := time.NewTicker(time.Minute); ; {
			select {
			case <-scheduler.Done():
				minute.Stop()
				return
			case <-minute.C:
				if _, err := b.Drain(scheduler); err != nil {
					b.Log.Warn("drain failed", "error", err)
				}
			}
		}
	})
	b.Cleanup(func() {
		cancel()
		ended()
		draining.Wait()
	})
	return b.tasks.Start, b.tasks.Stop
}

func TestWakers_KeepEachPromise(t *testing.T) {
	t.Parallel()
	for _, waker := range wakers {
		for _, p := range promises {
			t.Run(p.says+", "+waker.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, p.change)
					b.start, b.stop = waker.open(b)
					t.Cleanup(func() { // also where the test fails
						if err := b.stop(context.Background()); err != nil {
							t.Error(err)
						}
					})
					p.test(b)
				})
			})
		}
	}
}

var promises = []promise{
	{says: "an entry reaches its handler whole", test: reachesWhole},
	{says: "what was recorded before the start runs after it", test: runsAfterStart},
	{says: "many wakes of an entry run it once", test: runsOnce},
	{says: "one id in two kinds is two entries", test: idsArePerKind},
	{says: "what no wake was made for runs within a minute", test: lostWakes},
	{says: "what cannot be done is refused", test: refuses},
	{says: "a caller who is gone leaves its entry to the drain", test: callerIsGone},
	{says: "an entry runs when it is due and not before", test: runsWhenDue},
	{says: "going on counts no failure", test: goesOn},
	{says: "a failure that names its wait runs again after it", test: waitsAsAsked},
	{says: "other failures wait longer each time", test: backsOff},
	{says: "a result that says nothing is a failure", test: saysNothing},
	{says: "a panic is a failure and no crash", test: panics},
	{says: "what keeps failing needs a person, who may try it again and again", test: needsAPerson},
	{says: "a store that does not answer is asked again soon", test: storeUnanswered},
	{says: "a handler's context ends within the time allowed", test: contextEnds},
	{says: "a kind may take longer", change: timeout(3 * time.Minute), test: contextEndsLater},
	{says: "no kind takes longer than what waits for it", change: timeout(time.Hour), test: contextEndsAtLast},
	{says: "a kind that hangs holds up no other", change: workers(2), test: kindHangs},
	{says: "no more entries of a kind run at once than it has workers", change: workers(2), test: workersAreALimit},
	{says: "a handler that ignores the end of its time loses its worker", change: workers(1), test: ignoresItsEnd},
	{says: "64 callers lose nothing and no entry runs twice at once", change: workers(32), test: manyCallers},
	{says: "a stop waits for what runs and begins nothing more", change: workers(1), test: stopsGracefully},
	{says: "what a stop without patience cancels runs again and counts no failure", test: stopCancels},
}

func workers(n int) func(kind *outbox.Kind) { return func(kind *outbox.Kind) { kind.Workers = n } }

func timeout(d time.Duration) func(kind *outbox.Kind) {
	return func(kind *outbox.Kind) { kind.Timeout = d }
}

// runs are the runs of a test's entries.
type runs struct {
	mu        sync.Mutex
	of        map[string][]time.Duration // by id: when each began, since the test did
	now       map[string]int
	most      int  // at once
	twice     bool // one entry ran twice at once
	testBegan time.Time
}

// count has the handler of the test count its runs.
func (b *bench) count(handle func(ctx context.Context, item outbox.Item) outbox.Result) *runs {
	r := &runs{of: map[string][]time.Duration{}, now: map[string]int{}, testBegan: time.Now()}
	b.answer = func(ctx context.Context, item outbox.Item) outbox.Result {
		id := item.Kind + "/" + item.ID
		r.mu.Lock()
		r.of[id] = append(r.of[id], time.Since(r.testBegan))
		r.now[id]++
		r.twice = r.twice || r.now[id] > 1
		r.most = max(r.most, len(r.now))
		r.mu.Unlock()
		defer r.ended(id)
		return handle(ctx, item)
	}
	return r
}

func (r *runs) ended(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now[id]--
	if r.now[id] == 0 {
		delete(r.now, id)
	}
}

// began is when each run of an entry began.
func (r *runs) began(id string) []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]time.Duration{}, r.of[id]...)
}

// change has an entry due after a while, and wakes it.
func (b *bench) change(kind, id string, after time.Duration) {
	b.Helper()
	b.record(kind, id, after)
	b.Soon(b.Context(), kind, id, time.Now().Add(after))
}
