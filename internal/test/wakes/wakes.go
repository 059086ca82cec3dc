// Package wakes is an outbox's waker for tests, which keeps the wakes in memory. The test runs
// them.
//
// A test lists what is due (Due, Next), takes it (Take) and settles its run (Run.Settle). It
// injects what real wakers do: they forget (Run.Drop, Lose), repeat (Duplicate), are late
// (Delay), hand a run out again whose process died (Run.Lose, Crash), and hold a name longer
// than its task lasts. Nothing starts a goroutine, reads a clock but Options.Now, or draws from
// anything but Options.Rand, so that one seed gives one history.
//
// By default it is the waker of several processes, as Cloud Tasks: each wake is a task, which
// outlives the process, and a name is refused while it is taken. With Options.Alone it is that
// of one process, as outbox.Pool: an entry waits once, and all is forgotten when the process
// dies.
package wakes

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Options are what a waker is made with.
type Options struct {
	Now func() time.Time
	// Rand draws an integer from 0 to n-1 for each named task that ends: whether its name is
	// freed at once, within a day or never. It must not call the waker. nil: a name is freed
	// after NameKept.
	Rand func(n int) int
	// Alone: the waker of a single process.
	Alone bool
}

// NameKept is how long the name of an ended task stays taken where Options has no Rand.
const NameKept = time.Hour

// Waker is an outbox.Waker. It is safe for concurrent use.
type Waker struct {
	with Options

	mu     sync.Mutex
	tasks  map[string]*task // by id
	lastID int
	names  map[[2]string]name // by kind and name
	refuse error
}

type task struct {
	id, kind, entry, name string
	// number orders tasks that are due at the same time by their arrival.
	number  int
	due     time.Time
	running bool
	// runs counts its runs, so that each has a number.
	runs int
	// unanswered counts those in a row for which the store did not answer.
	unanswered int
	// again is a wake during a run, where the process is alone; zero: none.
	again time.Time
	// extra marks a Duplicate, which holds no name.
	extra bool
}

// name is a taken one.
type name struct {
	ended  bool
	freeAt time.Time // zero: never
}

// New makes a waker to which nobody woke anything.
func New(options Options) *Waker {
	return &Waker{with: options, tasks: map[string]*task{}, names: map[[2]string]name{}}
}

// Refuse has every later wake fail with an error; nil: none does.
func (w *Waker) Refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuse = err
}

// Wake implements outbox.Waker.
func (w *Waker) Wake(_ context.Context, kind, id, named string, at time.Time) error {
	now := w.with.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return w.refuse
	}
	if at.Before(now) {
		at = now
	}
	if w.with.Alone {
		w.wakeAlone(kind, id, at)
		return nil
	}
	if named != "" {
		taken, is := w.names[[2]string{kind, named}]
		if is && (!taken.ended || taken.freeAt.IsZero() || now.Before(taken.freeAt)) {
			return nil
		}
		w.names[[2]string{kind, named}] = name{}
	}
	w.add(kind, id, named, at)
	return nil
}

// wakeAlone has an entry wait once; the caller holds mu.
func (w *Waker) wakeAlone(kind, id string, at time.Time) {
	for _, t := range w.tasks {
		switch {
		case t.kind != kind || t.entry != id || t.extra:
		case !t.running:
			if at.Before(t.due) {
				t.due = at
			}
			return
		default:
			if t.again.IsZero() || at.Before(t.again) {
				t.again = at
			}
			return
		}
	}
	w.add(kind, id, "", at)
}

func (w *Waker) add(kind, entry, named string, due time.Time) *task {
	w.lastID++
	t := &task{id: strconv.Itoa(w.lastID), number: w.lastID, kind: kind, entry: entry, name: named, due: due}
	w.tasks[t.id] = t
	return t
}

// Pending is a wake that waits.
type Pending struct {
	// ID names it for Take, Duplicate and Delay.
	ID string
	// Kind and Entry are the entry's.
	Kind, Entry string
	Name        string
	Due         time.Time
}

// Due lists the wakes that are due at a time, longest waiting first.
func (w *Waker) Due(now time.Time) (due []Pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.waiting() {
		if !t.due.After(now) {
			due = append(due, Pending{ID: t.id, Kind: t.kind, Entry: t.entry, Name: t.name, Due: t.due})
		}
	}
	return due
}

// Next is when the first wake is due; false: none waits.
func (w *Waker) Next() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if waiting := w.waiting(); len(waiting) > 0 {
		return waiting[0].due, true
	}
	return time.Time{}, false
}

// Waiting counts the wakes of a kind that wait or run; "": of all.
func (w *Waker) Waiting(kind string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.tasks {
		if kind == "" || t.kind == kind {
			n++
		}
	}
	return n
}

// waiting lists the tasks that do not run, those due first first; the caller holds mu.
func (w *Waker) waiting() (found []*task) {
	for _, t := range w.tasks {
		if !t.running {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *task) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.number, b.number)) })
	return found
}

// Duplicate delivers a wake a second time, under its own ID, which is due at once and may run
// concurrently. It returns the ID; false: there is no such wake.
func (w *Waker) Duplicate(id string) (string, bool) {
	now := w.with.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tasks[id]
	if t == nil {
		return "", false
	}
	extra := w.add(t.kind, t.entry, "", now)
	extra.extra = true
	return extra.id, true
}

// Delay makes a waiting wake due no earlier than a time; false: there is no such wake, or it
// does not wait.
func (w *Waker) Delay(id string, until time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tasks[id]
	if t == nil || t.running {
		return false
	}
	if until.After(t.due) {
		t.due = until
	}
	return true
}

// Forget loses all wakes that wait, and returns how many: the drain has to find their entries.
func (w *Waker) Forget() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.waiting()
	for _, t := range waiting {
		delete(w.tasks, t.id)
	}
	return len(waiting)
}

// Crash is the death of the process that runs the entries. A waker of a single process
// forgets everything; otherwise running tasks are due again at once.
func (w *Waker) Crash() {
	now := w.with.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.with.Alone {
		clear(w.tasks)
		return
	}
	for _, t := range w.tasks {
		if t.running {
			t.running, t.due = false, now
		}
	}
}
