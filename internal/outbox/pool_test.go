package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
)

// inPool runs a test in a bubble of fake time, with a pool over a stage of a process that has
// its store to itself. It is stopped at the end.
func inPool(t *testing.T, change func(kind *outbox.Kind), test func(s *stage, pool *outbox.Pool)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, change)
		s.Now, s.Meter, s.Alone = time.Now, nil, true
		pool := outbox.NewPool(s.Outbox)
		test(s, pool)
		s.must(pool.Stop(context.Background()))
	})
}

// pass lets time go by, and what becomes due run as far as it can.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// ids are the entries that a handler was called for, in order.
type ids struct {
	mu  sync.Mutex
	all []string
}

func (r *ids) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, id)
}

func (r *ids) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

func TestPool_AWake_RunsWhenItIsDue(t *testing.T) {
	t.Parallel()
	inPool(t, nil, func(s *stage, pool *outbox.Pool) {
		var at []time.Duration
		began := time.Now()
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			at = append(at, time.Since(began))
			return outbox.Done()
		}
		s.must(pool.Start(s.Context()))
		for i, due := range []time.Duration{0, 10 * time.Second, 50 * time.Second} {
			id := fmt.Sprint(i)
			s.record(id, "one", began.Add(due))
			s.Soon(s.Context(), "job", id, began.Add(due))
		}
		pass(time.Minute)
		if fmt.Sprint(at) != "[0s 10s 50s]" || !pool.Idle() {
			s.Errorf("it ran at %v", at)
		}
	})
}

// Everything that woke nobody is found: at the start, and every minute.
func TestPool_LostWakes_AreFoundByTheDrain(t *testing.T) {
	t.Parallel()
	inPool(t, nil, func(s *stage, pool *outbox.Pool) {
		var done ids
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			done.add(item.ID)
			return outbox.Done()
		}
		s.record("before the start", "one", time.Now())
		s.must(pool.Start(s.Context()))
		synctest.Wait()
		if got := done.list(); !slices.Equal(got, []string{"before the start"}) {
			s.Fatalf("at the start it ran %q", got)
		}
		s.record("without a wake", "one", time.Now())
		pass(time.Minute)
		synctest.Wait()
		if got := done.list(); len(got) != 2 {
			s.Errorf("after a minute it ran %q", got)
		}
	})
}

// A backlog is drained page by page as it is worked off, in bounded memory.
func TestPool_AHundredThousandDue_AreDoneWithoutAMinuteBetween(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("large numbers")
	}
	left := &backlog{left: 100_000}
	inPool(t, func(k *outbox.Kind) { k.Workers, k.Unclaimed, k.Due = 20, true, left.due }, func(s *stage, pool *outbox.Pool) {
		most := 0
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			held := outbox.Held(pool, "job")
			left.mu.Lock()
			defer left.mu.Unlock()
			left.note(item.ID)
			most = max(most, held)
			return outbox.Done()
		}
		s.must(pool.Start(s.Context()))
		pass(30 * time.Second) // no drain of a minute came yet
		synctest.Wait()
		if len(left.done) != left.left {
			s.Errorf("%d of %d ran before the next drain", len(left.done), left.left)
		}
		if most > outbox.MostWaiting+20 {
			s.Errorf("%d were held at once", most)
		}
	})
}

// backlog is much work that is due, without a store that would take long to be asked.
type backlog struct {
	mu   sync.Mutex
	left int
	from int // all before it are done
	done map[string]bool
}

// note notes what is done; the caller holds mu.
func (b *backlog) note(id string) {
	if b.done == nil {
		b.done = map[string]bool{}
	}
	b.done[id] = true
}

// due is Kind.Due.
func (b *backlog) due(context.Context, store.Reader, time.Time) iter.Seq2[store.Document, error] {
	return func(yield func(store.Document, error) bool) {
		b.mu.Lock()
		for b.done[fmt.Sprint(b.from)] {
			b.from++
		}
		var page []string
		for i := b.from; i < b.left && len(page) <= outbox.DrainMost; i++ {
			if !b.done[fmt.Sprint(i)] {
				page = append(page, fmt.Sprint(i))
			}
		}
		b.mu.Unlock()
		for _, id := range page {
			if !yield(store.Document{Path: jobPath(id)}, nil) {
				return
			}
		}
	}
}

// More wakes than a pool holds are left to a drain, which comes as soon as the list is empty.
func TestPool_MoreWakesThanItHolds_AreAllDone(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Workers = 1 }, func(s *stage, pool *outbox.Pool) {
		var runs atomic.Int64
		hold := make(chan struct{})
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			<-hold
			runs.Add(1)
			return outbox.Done()
		}
		s.must(pool.Start(s.Context()))
		const n = 3 * outbox.MostWaiting
		for i := range n {
			id := fmt.Sprintf("j%05d", i)
			s.record(id, "one", time.Now())
			s.Soon(s.Context(), "job", id, time.Now())
		}
		if held := outbox.Held(pool, "job"); held > outbox.MostWaiting+1 {
			s.Errorf("it holds %d", held)
		}
		close(hold)
		pass(10 * time.Second)
		synctest.Wait()
		if runs.Load() != n {
			s.Errorf("%d of %d ran", runs.Load(), n)
		}
	})
}

// What fails is due later; what an unclaimed kind leaves due is not tried in a circle.
func TestPool_AFullPageThatFails_WaitsForTheNextMinute(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Unclaimed = true }, func(s *stage, pool *outbox.Pool) {
		for i := range outbox.DrainMost + 10 {
			s.record(fmt.Sprintf("j%05d", i), "one", time.Now())
		}
		var runs atomic.Int64
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			runs.Add(1)
			return outbox.Failed(errRefused)
		}
		s.must(pool.Start(s.Context()))
		pass(50 * time.Second)
		synctest.Wait()
		if runs.Load() != outbox.DrainMost {
			s.Errorf("%d runs in a minute", runs.Load())
		}
	})
}

func TestPool_Kinds_HoldUpNoOther(t *testing.T) {
	t.Parallel()
	inPool(t, nil, func(s *stage, pool *outbox.Pool) {
		var done ids
		s.answer = func(ctx context.Context, _ outbox.Item) outbox.Result {
			<-ctx.Done() // each call hangs until its time-out
			return outbox.Failed(ctx.Err())
		}
		s.Add(outbox.Kind{Name: "other", Unclaimed: true, Handle: func(_ context.Context, item outbox.Item) outbox.Result {
			done.add(item.ID)
			return outbox.Done()
		}})
		s.must(pool.Start(s.Context()))
		for i := range 100 {
			s.record(fmt.Sprint(i), "one", time.Now())
			s.Soon(s.Context(), "job", fmt.Sprint(i), time.Now())
		}
		s.Soon(s.Context(), "other", "a", time.Now())
		pass(time.Second)
		if got := done.list(); len(got) != 1 {
			s.Errorf("the other kind ran %q", got)
		}
	})
}

// What an account is refused for its quota makes no other account wait.
func TestPool_AnAccountsBacklog_HoldsUpNoOther(t *testing.T) {
	t.Parallel()
	account := func(doc store.Document) string { return store.Fields(doc.Data).String("owner") }
	inPool(t, func(k *outbox.Kind) { k.Account, k.Workers = account, 2 }, func(s *stage, pool *outbox.Pool) {
		var mu sync.Mutex
		calls, anas := 0, false
		began := time.Now()
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			mu.Lock()
			defer mu.Unlock()
			if account(item.Document) == "ana" {
				anas = true
				return outbox.Done()
			}
			calls++
			if calls > 10 {
				return outbox.Failed(fault.New(fault.Exhausted, "later"))
			}
			return outbox.Done()
		}
		for i := range 400 {
			s.recordOf("gm", fmt.Sprintf("gm%03d", i), began.Add(-time.Hour))
		}
		s.recordOf("ana", "ana", began)
		s.must(pool.Start(s.Context()))
		pass(time.Second)
		mu.Lock()
		defer mu.Unlock()
		if !anas {
			s.Error("ana waits behind gm's backlog")
		}
		if calls > 12 {
			s.Errorf("gm is refused %d times", calls)
		}
	})
}

// Several wakes of an entry are one run, and one during the run is one more.
func TestPool_WakesOfOneEntry_AreOneRun(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Unclaimed = true }, func(s *stage, pool *outbox.Pool) {
		var runs, now, most atomic.Int64
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			runs.Add(1)
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return outbox.Done()
		}
		s.must(pool.Start(s.Context()))
		for range 10 {
			s.Soon(s.Context(), "job", "a", time.Now())
		}
		pass(500 * time.Millisecond)
		for range 10 {
			s.Soon(s.Context(), "job", "a", time.Now())
		}
		pass(5 * time.Second)
		if runs.Load() != 2 || most.Load() != 1 {
			s.Errorf("%d runs, %d at once", runs.Load(), most.Load())
		}
	})
}

// What a wake during a run is for does not wait until the run wants to go on.
func TestPool_AWakeDuringARunThatIsPutOff_RunsAtOnce(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Unclaimed = true }, func(s *stage, pool *outbox.Pool) {
		began := time.Now()
		var at []time.Duration
		s.answer = func(ctx context.Context, _ outbox.Item) outbox.Result {
			at = append(at, time.Since(began))
			if len(at) > 1 {
				return outbox.Done()
			}
			s.Soon(ctx, "job", "a", time.Now().Add(5*time.Second))
			s.Soon(ctx, "job", "a", time.Now())
			return outbox.Kept(time.Now().Add(50 * time.Second))
		}
		s.must(pool.Start(s.Context()))
		s.Soon(s.Context(), "job", "a", time.Now())
		pass(time.Second)
		if fmt.Sprint(at) != "[0s 0s]" {
			s.Errorf("it ran at %v", at)
		}
	})
}

// An earlier wake takes the place of a later one.
func TestPool_AnEarlierWake_RunsEarlier(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Unclaimed = true }, func(s *stage, pool *outbox.Pool) {
		began := time.Now()
		var at []time.Duration
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			at = append(at, time.Since(began))
			return outbox.Done()
		}
		s.must(pool.Start(s.Context()))
		for _, after := range []time.Duration{50 * time.Second, 20 * time.Second, 40 * time.Second} {
			s.Soon(s.Context(), "job", "a", began.Add(after))
		}
		pass(time.Minute)
		if fmt.Sprint(at) != "[20s]" {
			s.Errorf("it ran at %v", at)
		}
	})
}

func TestPool_RunsOfAKind_AreAtMostItsWorkers(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Workers = 3 }, func(s *stage, pool *outbox.Pool) {
		var now, most atomic.Int64
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return outbox.Done()
		}
		for i := range 20 {
			s.record(fmt.Sprint(i), "one", time.Now())
		}
		s.must(pool.Start(s.Context()))
		pass(8 * time.Second)
		if most.Load() != 3 || !pool.Idle() {
			s.Errorf("%d at once; idle %t", most.Load(), pool.Idle())
		}
	})
}

// Work that is put off and fails runs when it is due again, a poison entry beside healthy ones.
func TestPool_APoisonEntry_HoldsUpNoOther(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Workers = 1 }, func(s *stage, pool *outbox.Pool) {
		var poison, healthy atomic.Int64
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			if item.ID == "poison" {
				poison.Add(1)
				panic("no such slot")
			}
			healthy.Add(1)
			return outbox.Done()
		}
		s.record("poison", "one", time.Now().Add(-time.Hour))
		s.must(pool.Start(s.Context()))
		for i := range 60 {
			id := fmt.Sprint(i)
			s.record(id, "one", time.Now())
			s.Soon(s.Context(), "job", id, time.Now())
			pass(time.Minute)
		}
		if healthy.Load() != 60 || poison.Load() < 5 || poison.Load() > 12 { // at 0 s, 10 s, 30 s, 70 s, … doubling
			s.Errorf("healthy %d, poison %d", healthy.Load(), poison.Load())
		}
		depths, err := s.Depths(s.Context())
		s.must(err)
		if len(depths[0].Failing) != 1 || depths[0].Failing[0].ID != "job:poison" || depths[0].Failing[0].Error != "internal" {
			s.Errorf("the depths are %+v", depths)
		}
	})
}

// While the store does not answer, a run is repeated less and less often, and nothing is counted.
func TestPool_AStoreThatDoesNotAnswer_IsAskedLessOften(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Unclaimed = true }, func(s *stage, pool *outbox.Pool) {
		began := time.Now()
		var at []time.Duration
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			at = append(at, time.Since(began))
			if len(at) < 5 {
				return outbox.Broken(errors.New("the store does not answer"))
			}
			return outbox.Done()
		}
		s.must(pool.Start(s.Context()))
		s.Soon(s.Context(), "job", "a", time.Now())
		pass(20 * time.Second)
		if fmt.Sprint(at) != "[0s 1s 3s 7s 15s]" {
			s.Errorf("it ran at %v", at)
		}
	})
}

func TestPool_AHandlerThatIgnoresItsContext_LosesItsPlace(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Workers = 1 }, func(s *stage, pool *outbox.Pool) {
		var done ids
		hold := make(chan struct{})
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			if item.ID == "hangs" && len(done.list()) == 0 {
				<-hold
			}
			done.add(item.ID)
			return outbox.Done()
		}
		s.record("hangs", "one", time.Now())
		s.must(pool.Start(s.Context()))
		pass(time.Second)
		s.record("other", "one", time.Now())
		s.Soon(s.Context(), "job", "other", time.Now())
		pass(4 * time.Minute)
		synctest.Wait()
		if got := done.list(); !slices.Contains(got, "other") || !slices.Contains(got, "hangs") {
			s.Errorf("it ran %q", got) // the one that hangs is due still, and runs again
		}
		if !strings.Contains(s.log(), "a run ignores the end of its time") {
			s.Errorf("the log: %s", s.log())
		}
		close(hold)
		synctest.Wait()
	})
}

// A run that was given up ends some time, when others have its worker.
func TestPool_AHandlerThatEndsAfterItLostItsPlace_FreesNoFurtherWorker(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Workers, k.Unclaimed = 1, true }, func(s *stage, pool *outbox.Pool) {
		var now, most atomic.Int64
		hold := make(chan struct{})
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			if item.ID == "hangs" {
				<-hold
				return outbox.Done()
			}
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return outbox.Done()
		}
		s.must(pool.Start(s.Context()))
		s.Soon(s.Context(), "job", "hangs", time.Now())
		pass(2 * time.Minute)
		close(hold)
		pass(time.Second)
		for i := range 4 {
			s.Soon(s.Context(), "job", fmt.Sprint(i), time.Now())
		}
		pass(5 * time.Second)
		if most.Load() != 1 || !pool.Idle() {
			s.Errorf("%d at once; idle %t", most.Load(), pool.Idle())
		}
	})
}

func TestPool_Stop_WaitsForRunsAndBeginsNone(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Workers = 1 }, func(s *stage, pool *outbox.Pool) {
		var done ids
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			time.Sleep(2 * time.Second)
			done.add(item.ID)
			return outbox.Done()
		}
		s.record("a", "one", time.Now().Add(-time.Second))
		s.record("b", "one", time.Now())
		s.must(pool.Start(s.Context()))
		synctest.Wait()
		s.must(pool.Stop(context.Background()))
		if got := done.list(); !slices.Equal(got, []string{"a"}) {
			s.Errorf("it ran %q", got)
		}
		s.must(pool.Wake(s.Context(), "job", "b", "", time.Time{})) // the next start finds it
		s.must(pool.Stop(context.Background()))
		s.must(pool.Start(s.Context()))
		if err := pool.Start(s.Context()); !fault.Is(err, fault.Conflict) {
			s.Errorf("started twice: %v", err)
		}
		pass(3 * time.Second)
		if got := done.list(); !slices.Equal(got, []string{"a", "b"}) {
			s.Errorf("after the start it ran %q", got)
		}
	})
}

// What a stop cancels is no failure, and runs at once after the next start.
func TestPool_StopWithoutPatience_CancelsRuns(t *testing.T) {
	t.Parallel()
	inPool(t, nil, func(s *stage, pool *outbox.Pool) {
		var runs atomic.Int64
		s.answer = func(ctx context.Context, _ outbox.Item) outbox.Result {
			if runs.Add(1) == 1 {
				<-ctx.Done()
				return outbox.Failed(ctx.Err())
			}
			return outbox.Done()
		}
		s.record("a", "one", time.Now())
		s.must(pool.Start(s.Context()))
		synctest.Wait()
		impatient, cancel := context.WithCancel(s.Context())
		cancel()
		s.must(pool.Stop(impatient))
		if state := outbox.Fields.Decode(s.document("a")); state.Attempts != 0 || !state.FailedSince.IsZero() {
			s.Errorf("it counts as a failure: %+v", state)
		}
		s.must(pool.Start(s.Context()))
		synctest.Wait()
		if runs.Load() != 2 {
			s.Errorf("%d runs", runs.Load())
		}
	})
}

func TestPool_StopOfAHandlerThatIgnoresIt_SaysSo(t *testing.T) {
	t.Parallel()
	inPool(t, nil, func(s *stage, pool *outbox.Pool) {
		hold := make(chan struct{})
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			<-hold
			return outbox.Done()
		}
		s.record("a", "one", time.Now())
		s.must(pool.Start(s.Context()))
		synctest.Wait()
		impatient, cancel := context.WithTimeout(s.Context(), time.Second)
		defer cancel()
		if err := pool.Stop(impatient); !fault.Is(err, fault.Unavailable) {
			s.Errorf("stop: %v", err)
		}
		close(hold)
		synctest.Wait()
	})
}

func TestPool_StartWithoutAStore_StartsNothing(t *testing.T) {
	t.Parallel()
	inPool(t, nil, func(s *stage, pool *outbox.Pool) {
		whole := s.Store
		s.Store = broken{s.documents}
		if err := pool.Start(s.Context()); !errors.Is(err, errRefused) {
			s.Fatalf("start: %v", err)
		}
		s.Store = whole
		s.must(pool.Start(s.Context()))
	})
}

// The clock of the program is the one that counts: set back, it makes nothing wait that was due
// at once; set ahead, what became due runs.
func TestPool_WhenTheClockIsSet_FollowsIt(t *testing.T) {
	t.Parallel()
	inPool(t, func(k *outbox.Kind) { k.Unclaimed = true }, func(s *stage, pool *outbox.Pool) {
		var offset atomic.Int64
		s.Now = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
		var done ids
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			done.add(item.ID)
			return outbox.Done()
		}
		s.must(pool.Start(s.Context()))
		offset.Store(int64(-6 * time.Hour))
		s.Soon(s.Context(), "job", "set back", s.Now())
		synctest.Wait()
		s.Soon(s.Context(), "job", "soon", s.Now().Add(40*time.Second))
		offset.Store(int64(6 * time.Hour))
		s.must(pool.ClockSet(s.Context()))
		synctest.Wait()
		if got := done.list(); !slices.Equal(got, []string{"set back", "soon"}) {
			s.Errorf("it ran %q", got)
		}
	})
}

// What an earlier process had in memory for a time runs at that time, and not at the next drain.
func TestPool_Start_WakesWhatIsDueSoon(t *testing.T) {
	t.Parallel()
	inPool(t, nil, func(s *stage, pool *outbox.Pool) {
		began := time.Now()
		var at []time.Duration
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			at = append(at, time.Since(began))
			return outbox.Done()
		}
		s.record("a", "one", began.Add(7*time.Second))
		s.must(pool.Start(s.Context()))
		pass(50 * time.Second)
		if fmt.Sprint(at) != "[7s]" {
			s.Errorf("it ran at %v", at)
		}
	})
}

// What is recorded nowhere has no drain to find it, so a wake that is not kept is refused: by a
// pool that holds enough, and by one that is stopped.
func TestPool_AWakeOfAKindThatIsRecordedNowhere_IsKeptOrRefused(t *testing.T) {
	t.Parallel()
	inPool(t, nil, func(s *stage, pool *outbox.Pool) {
		var runs atomic.Int64
		hold := make(chan struct{})
		s.Add(outbox.Kind{Name: "other", Unclaimed: true, Workers: 1, Handle: func(context.Context, outbox.Item) outbox.Result {
			<-hold
			runs.Add(1)
			return outbox.Done()
		}})
		s.must(pool.Start(s.Context()))
		kept := int64(0)
		for i := range 2 * outbox.MostWaiting {
			if err := pool.Wake(s.Context(), "other", fmt.Sprint(i), "", time.Time{}); err == nil {
				kept++
			} else if !fault.Is(err, fault.Unavailable) {
				s.Fatal(err)
			}
		}
		close(hold)
		pass(time.Second)
		if runs.Load() != kept || kept < outbox.MostWaiting {
			s.Errorf("%d runs of %d that were kept", runs.Load(), kept)
		}
		s.must(pool.Stop(s.Context()))
		if err := pool.Wake(s.Context(), "other", "a", "", time.Time{}); !fault.Is(err, fault.Unavailable) {
			s.Errorf("while it is stopped: %v", err)
		}
		s.must(pool.Wake(s.Context(), "job", "a", "", time.Time{}))
	})
}

// What is due of a kind that does not work stays so: that more wakes came than a pool holds
// has it run no second time.
func TestPool_MoreWakesThanItHolds_OfAKindThatDoesNotWork_AreLeft(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]outbox.Mode{"observes": outbox.Observes, "rests": outbox.Rests} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, now := &counted{n: outbox.DrainMost + 1}, outbox.Works
			inPool(t, func(k *outbox.Kind) {
				k.Unclaimed, k.Workers, k.Due = true, 1, asked.due
				k.Mode = func() outbox.Mode { return now }
			}, func(s *stage, pool *outbox.Pool) {
				changed := make(chan struct{})
				s.answer = func(context.Context, outbox.Item) outbox.Result {
					<-changed
					return outbox.Kept(time.Time{})
				}
				s.must(pool.Start(s.Context()))
				synctest.Wait()
				now = mode
				close(changed)
				pass(time.Second)
				if asked.times() != 1 {
					s.Errorf("asked for what is due %d times", asked.times())
				}
			})
		})
	}
}

// counted is work of which the first n entries are due, however often it was done. It is asked
// a hundred times at most, so that a pool that asks in a circle ends.
type counted struct {
	n     int
	mu    sync.Mutex
	asked int
	// during is called after each entry that was yielded.
	during func(asked, n int)
}

func (c *counted) times() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

// due is Kind.Due.
func (c *counted) due(context.Context, store.Reader, time.Time) iter.Seq2[store.Document, error] {
	return func(yield func(store.Document, error) bool) {
		c.mu.Lock()
		c.asked++
		asked := c.asked
		c.mu.Unlock()
		for i := 0; i < c.n && asked <= 100; i++ {
			if !yield(store.Document{Path: jobPath(fmt.Sprint("due", i))}, nil) {
				return
			}
			if c.during != nil {
				c.during(asked, i+1)
			}
		}
	}
}

// A wake may come too much while a drain reads, which has passed its place by then.
func TestPool_AWakeForgottenDuringADrain_IsFoundBeforeTheNextMinute(t *testing.T) {
	t.Parallel()
	asked := &counted{n: 1}
	inPool(t, func(k *outbox.Kind) { k.Unclaimed, k.Due = true, asked.due }, func(s *stage, pool *outbox.Pool) {
		var runs atomic.Int64
		s.answer = func(context.Context, outbox.Item) outbox.Result {
			runs.Add(1)
			return outbox.Done()
		}
		asked.during = func(asked, _ int) {
			for i := 0; asked == 1 && i < outbox.MostWaiting; i++ { // one is there already
				s.Soon(s.Context(), "job", fmt.Sprint(i), time.Now())
			}
		}
		s.must(pool.Start(s.Context()))
		pass(time.Second)
		if asked.times() != 2 || runs.Load() != outbox.MostWaiting+1 {
			s.Errorf("asked for what is due %d times; %d runs", asked.times(), runs.Load())
		}
	})
}

// Entries that wait for their time take the places of what is due. A drain has it once they leave.
func TestPool_FullOfWhatIsDueLater_DrainsOnceThereIsRoom(t *testing.T) {
	t.Parallel()
	asked := &counted{n: outbox.DrainMost}
	inPool(t, func(k *outbox.Kind) { k.Unclaimed, k.Due = true, asked.due }, func(s *stage, pool *outbox.Pool) {
		var done ids
		s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
			done.add(item.ID)
			return outbox.Done()
		}
		asked.n = 0
		s.must(pool.Start(s.Context()))
		for i := range outbox.MostWaiting {
			s.Soon(s.Context(), "job", fmt.Sprint(i), time.Now().Add(40*time.Second))
		}
		asked.n = outbox.DrainMost + 1
		s.Soon(s.Context(), "job", "due0", time.Now())
		pass(30 * time.Second)
		if asked.times() != 1 {
			s.Errorf("without room it asked for what is due %d times", asked.times())
		}
		pass(15 * time.Second)
		if !slices.Contains(done.list(), "due0") {
			s.Error("what is due was not found")
		}
	})
}

// Work of which a failure is recorded is due later: the others of a backlog do not wait for it.
func TestPool_ABacklogWithAPoisonEntry_IsDoneWithoutAMinuteBetween(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]outbox.Result{
		"claimed": outbox.Failed(errRefused), "unclaimed": outbox.Postponed(time.Now().Add(100*365*24*time.Hour), errRefused),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			left := &backlog{left: 3 * outbox.DrainMost}
			inPool(t, func(k *outbox.Kind) {
				if name == "unclaimed" {
					k.Unclaimed, k.Due = true, left.due
				}
			}, func(s *stage, pool *outbox.Pool) {
				s.answer = func(_ context.Context, item outbox.Item) outbox.Result {
					left.mu.Lock()
					defer left.mu.Unlock()
					left.note(item.ID)
					if item.ID == "0" {
						return failure
					}
					return outbox.Done()
				}
				for i := 0; name == "claimed" && i < left.left; i++ {
					s.record(fmt.Sprint(i), "one", time.Now().Add(-time.Hour))
				}
				s.must(pool.Start(s.Context()))
				pass(5 * time.Second)
				left.mu.Lock()
				if len(left.done) != left.left {
					s.Errorf("%d of %d ran", len(left.done), left.left)
				}
				left.mu.Unlock()
			})
		})
	}
}

// What fails while a drain is still reading has failed all the same.
func TestPool_AFullPageThatFailsDuringASlowDrain_WaitsForTheNextMinute(t *testing.T) {
	t.Parallel()
	asked := &counted{n: outbox.DrainMost + 1, during: func(_, n int) {
		if n == outbox.DrainMost {
			time.Sleep(time.Second)
		}
	}}
	inPool(t, func(k *outbox.Kind) { k.Unclaimed, k.Due = true, asked.due }, func(s *stage, pool *outbox.Pool) {
		s.answer = func(context.Context, outbox.Item) outbox.Result { return outbox.Failed(errRefused) }
		s.must(pool.Start(s.Context()))
		pass(70 * time.Second)
		if asked.times() != 2 {
			s.Errorf("asked for what is due %d times in a minute and a start", asked.times())
		}
	})
}

// Entries that are due and wait for a time of their own, as a calendar's least time between two
// syncs, are not run in a circle.
func TestPool_AFullPageThatIsPutOff_IsNotRunInACircle(t *testing.T) {
	t.Parallel()
	asked := &counted{n: outbox.DrainMost + 1}
	inPool(t, func(k *outbox.Kind) { k.Unclaimed, k.Due = true, asked.due }, func(s *stage, pool *outbox.Pool) {
		s.answer = func(context.Context, outbox.Item) outbox.Result { return outbox.Kept(time.Now().Add(50 * time.Second)) }
		s.must(pool.Start(s.Context()))
		pass(30 * time.Second)
		if asked.times() > 2 {
			s.Errorf("asked for what is due %d times", asked.times())
		}
	})
}
