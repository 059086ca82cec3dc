package memoryqueue_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"questscheduler/internal/queue"
	"questscheduler/internal/test/memoryqueue"
)

// world is a queue that is stepped by hand, with a clock and draws of its own.
type world struct {
	*memoryqueue.Queue
	t   *testing.T
	now time.Time
}

func newWorld(t *testing.T, draw func(n int) int) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)}
	var err error
	w.Queue, err = memoryqueue.New(memoryqueue.Options{
		Kinds: []string{"sync", "announce"}, Now: func() time.Time { return w.now }, Rand: draw,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// always draws the same number, cut to what is allowed.
func always(drawn int) func(n int) int {
	return func(n int) int { return min(drawn, n-1) }
}

func (w *world) enqueue(name string, after time.Duration) (created bool) {
	w.t.Helper()
	created, err := w.Enqueue(w.t.Context(), queue.Task{Kind: "sync", Name: name, NotBefore: w.now.Add(after)})
	if err != nil {
		w.t.Fatal(err)
	}
	return created
}

// due lists the names of what is due.
func (w *world) due() []string {
	names := []string{}
	for _, pending := range w.Due(w.now) {
		names = append(names, pending.Name)
	}
	return names
}

func (w *world) wantDue(want ...string) {
	w.t.Helper()
	if got := w.due(); fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("due is %v, want %v", got, want)
	}
}

// take begins a run of the first task that is due.
func (w *world) take() *memoryqueue.Run {
	w.t.Helper()
	due := w.Due(w.now)
	if len(due) == 0 {
		w.t.Fatal("nothing is due")
	}
	run, ok := w.Take(due[0].ID)
	if !ok {
		w.t.Fatal("what is due could not be taken")
	}
	return run
}

var done = queue.Verdict{Outcome: queue.Done}

func TestDue_LongestWaitingFirstThenByArrival(t *testing.T) {
	t.Parallel()
	w := newWorld(t, always(0))
	for _, task := range []struct {
		name  string
		after time.Duration
	}{{"third", time.Second}, {"first", 0}, {"fourth", time.Second}, {"second", 0}} {
		w.enqueue(task.name, task.after)
	}
	w.wantDue("first", "second")
	w.now = w.now.Add(time.Second)
	w.wantDue("first", "second", "third", "fourth")
	w.take().Settle(done)
	w.take().Settle(done)
	if next, ok := w.Next(); !ok || !next.Equal(w.now) {
		t.Errorf("next is %v, %v; want now", next, ok)
	}
	w.take().Settle(done)
	w.take().Settle(done)
	if next, ok := w.Next(); ok {
		t.Errorf("next is %v in an empty queue", next)
	}
}

func TestTake_OnlyWhatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, always(0))
	w.enqueue("n", time.Hour)
	if _, ok := w.Take("7"); ok {
		t.Error("took a task that is not there")
	}
	run, ok := w.Take("1")
	if !ok || run.Attempt != 1 {
		t.Fatalf("took %+v, %v; want its first attempt, though it is not due", run, ok)
	}
	if _, ok := w.Take("1"); ok {
		t.Error("took a task that runs")
	}
}

func TestNames_FreedAtOnceLaterOrNever(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, c := range []struct {
		name   string
		draw   func(n int) int
		freeAt time.Duration
		never  bool
	}{
		{"at once", always(0), 0, false},
		{"later, by the last minute drawn", always(1), 2 * time.Minute, false},
		{"never", always(2), 0, true},
		{"an hour later where nothing is drawn", nil, memoryqueue.NameKept, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.draw)
			w.enqueue("n", 0)
			run := w.take()
			if w.enqueue("n", 0) {
				t.Error("the name was free while its task ran")
			}
			run.Settle(done)
			ended := w.now
			if c.freeAt > 0 {
				w.now = ended.Add(c.freeAt - 1)
				if w.enqueue("n", 0) {
					t.Error("the name was free too early")
				}
			}
			w.now = ended.Add(c.freeAt)
			if c.never {
				w.now = ended.Add(365 * day)
			}
			if got := w.enqueue("n", 0); got == c.never {
				t.Errorf("the name is free: %v, want %v", got, !c.never)
			}
		})
	}
}

func TestNames_ThoseThatAreFreeAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for i := range 5000 {
		w.now = w.now.Add(memoryqueue.NameKept / 100)
		if !w.enqueue(fmt.Sprint(i), 0) {
			t.Fatalf("name %d was taken", i)
		}
		w.take().Settle(done)
	}
	if got := memoryqueue.NamesTaken(w.Queue); got > 2048 {
		t.Errorf("%d names are remembered, of which 100 are taken", got)
	}
}

func TestCrash_RunningTaskIsDueAgain_VerdictIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, always(0))
	w.enqueue("n", 0)
	dead := w.take()
	w.now = w.now.Add(time.Minute)
	w.Crash()
	w.wantDue("n")
	if dead.Settle(done) {
		t.Error("a dead process settled its task")
	}
	again := w.take()
	if again.Attempt != 2 {
		t.Errorf("attempt %d, want 2", again.Attempt)
	}
	if dead.Settle(done) || dead.Lose() {
		t.Error("a dead process settled the run of another")
	}
	if !again.Settle(done) {
		t.Error("the living process could not settle its run")
	}
	w.wantDue()
}

func TestLose_CompletedRun_IsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, always(0))
	w.enqueue("n", 0)
	run := w.take()
	if !run.Lose() || run.Settle(done) {
		t.Error("the answer was lost and arrived")
	}
	w.wantDue("n")
	if again := w.take(); again.Attempt != 2 || !again.Settle(done) {
		t.Errorf("attempt %d, want a second that can be settled", again.Attempt)
	}
	w.wantDue()
}

func TestDuplicate_RunsConcurrently_VerdictIsIgnored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, always(0))
	w.enqueue("n", 0)
	first := w.take()
	if _, ok := w.Duplicate(first.ID); !ok {
		t.Fatal("a running task could not be handed over twice")
	}
	second := w.take()
	if second.Name != "n" || second.ID == first.ID {
		t.Errorf("the duplicate is %+v", second)
	}
	if !second.Settle(queue.Verdict{Outcome: queue.Permanent, Err: errors.New("no")}) {
		t.Error("the duplicate could not be settled")
	}
	if letters, err := w.DeadLetters(t.Context(), 10); err != nil || len(letters) != 0 {
		t.Errorf("the duplicate left %d dead letters, %v", len(letters), err)
	}
	if w.enqueue("n", 0) {
		t.Error("the duplicate freed the name of the first")
	}
	if !first.Settle(done) {
		t.Error("the duplicate ended the run of the first")
	}
	if _, ok := w.Duplicate(first.ID); ok {
		t.Error("a task that ended was handed over again")
	}
}

func TestDelay_OnlyLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, always(0))
	w.enqueue("n", 0)
	id := w.Due(w.now)[0].ID
	if !w.Delay(id, w.now.Add(time.Minute)) || !w.Delay(id, w.now) {
		t.Fatal("a waiting task could not be delayed")
	}
	w.wantDue()
	w.now = w.now.Add(time.Minute)
	w.wantDue("n")
	w.take()
	if w.Delay(id, w.now.Add(time.Minute)) {
		t.Error("a running task was delayed")
	}
}

func TestGiveUp_OnlyWhatFailedOftenAndLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t, always(0))
	began := w.now
	w.enqueue("n", 0)
	attempts := 0
	for {
		next, ok := w.Next()
		if !ok {
			break
		}
		w.now = next
		attempts++
		w.take().Settle(queue.Verdict{Outcome: queue.Retry, Err: errors.New("busy")})
	}
	letters, err := w.DeadLetters(t.Context(), 10)
	if err != nil || len(letters) != 1 || letters[0].Attempt != attempts || letters[0].Reason != "busy" {
		t.Fatalf("dead letters %+v, %v; want one after %d attempts", letters, err, attempts)
	}
	if age := w.now.Sub(began); attempts < queue.GiveUpAttempts || age < queue.GiveUpAge || age > queue.GiveUpAge+queue.BackoffMax {
		t.Errorf("given up after %d attempts and %v", attempts, age)
	}
	if err := w.Retry(t.Context(), letters[0].ID); err != nil {
		t.Fatal(err)
	}
	run := w.take()
	run.Settle(queue.Verdict{Outcome: queue.Retry})
	if next, ok := w.Next(); run.Attempt != 1 || !ok || next.Sub(w.now) > queue.BackoffMin {
		t.Errorf("put back, it is attempt %d and waits until %v; want it to begin anew", run.Attempt, next)
	}
}

// TestOneSeed_OneHistory steps a queue by draws of a seed, faults included.
func TestOneSeed_OneHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		first, second := history(t, seed), history(t, seed)
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("seed %d gave two histories:\n%v\n%v", seed, first, second)
		}
		if other := history(t, seed+1000); reflect.DeepEqual(first, other) {
			t.Errorf("seeds %d and %d gave the same history", seed, seed+1000)
		}
	}
}

// history makes 200 random steps and returns what the queue delivered.
func history(t *testing.T, seed uint64) []string {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, random.IntN)
	var events []string
	var runs []*memoryqueue.Run
	for range 200 {
		w.now = w.now.Add(time.Duration(random.IntN(5000)) * time.Millisecond)
		due := w.Due(w.now)
		switch step := random.IntN(8); {
		case step < 3:
			name := fmt.Sprint(random.IntN(10))
			events = append(events, fmt.Sprint("enqueue ", name, w.enqueue(name, time.Duration(random.IntN(3000))*time.Millisecond)))
		case step < 5 && len(due) > 0:
			run, ok := w.Take(due[random.IntN(len(due))].ID)
			runs = append(runs, run)
			events = append(events, fmt.Sprint("take ", run.ID, run.Name, run.Attempt, ok))
		case step == 5 && len(due) > 0:
			id, ok := w.Duplicate(due[random.IntN(len(due))].ID)
			events = append(events, fmt.Sprint("duplicate ", id, ok))
		case step == 6 && random.IntN(5) == 0:
			w.Crash()
			events = append(events, "crash")
		case len(runs) > 0:
			i := random.IntN(len(runs))
			verdict := queue.Verdict{Outcome: queue.Outcome(random.IntN(4))}
			events = append(events, fmt.Sprint("settle ", runs[i].ID, verdict.Outcome, runs[i].Settle(verdict)))
		}
		depths, err := w.Depths(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, fmt.Sprint(due, depths))
	}
	return events
}
