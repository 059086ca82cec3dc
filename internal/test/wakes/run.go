package wakes

import (
	"time"
)

// Run is a run of an entry, begun by Take. It ends by Settle, Lose or Crash, whichever comes
// first.
type Run struct {
	// ID is the wake's; Kind and Entry are the entry's.
	ID, Kind, Entry string

	waker  *Waker
	task   *task
	number int
}

// Take begins a run of a waiting wake, whether it is due or not; false: there is no such wake,
// or it does not wait.
func (w *Waker) Take(id string) (*Run, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tasks[id]
	if t == nil || t.running {
		return nil, false
	}
	t.running, t.again = true, time.Time{}
	t.runs++
	return &Run{ID: id, Kind: t.kind, Entry: t.entry, waker: w, task: t, number: t.runs}, true
}

// maxWait is the longest wait after a store that did not answer.
const maxWait = 10 * time.Minute

// Settle ends the run with what outbox.Run returned, as each waker does: the entry goes on at
// again, or soon where the store did not answer. It returns false, and changes nothing, where
// the run is over.
func (r *Run) Settle(again time.Time, err error) bool {
	return r.end(func(w *Waker, t *task, now time.Time) {
		t.unanswered++
		if err == nil {
			t.unanswered = 0
		} else {
			again = now.Add(min(time.Second<<min(t.unanswered-1, 20), maxWait))
		}
		if !t.again.IsZero() && (again.IsZero() || t.again.Before(again)) {
			again = t.again
		}
		if again.IsZero() {
			w.remove(t, now)
			return
		}
		t.running, t.due = false, again
	})
}

// Lose ends the run without a result, as when a connection breaks after the handler's work: the
// entry is run again at once. It returns false where the run is over.
func (r *Run) Lose() bool {
	return r.end(func(_ *Waker, t *task, now time.Time) { t.running, t.due = false, now })
}

// end does something to a run's task if the run is not over, and ends it.
func (r *Run) end(apply func(w *Waker, t *task, now time.Time)) bool {
	now := r.waker.with.Now()
	r.waker.mu.Lock()
	defer r.waker.mu.Unlock()
	// A task that is gone, does not run, or is in a later run, says that this run is over.
	if r.waker.tasks[r.ID] != r.task || !r.task.running || r.task.runs != r.number {
		return false
	}
	apply(r.waker, r.task, now)
	return true
}

// remove forgets a task that ended, and decides when its name is free again; the caller holds mu.
func (w *Waker) remove(t *task, now time.Time) {
	delete(w.tasks, t.id)
	if t.name == "" || t.extra {
		return
	}
	key := [2]string{t.kind, t.name}
	if w.with.Rand == nil {
		w.names[key] = name{ended: true, freeAt: now.Add(NameKept)}
		return
	}
	switch w.with.Rand(3) {
	case 0:
		delete(w.names, key)
	case 1:
		w.names[key] = name{ended: true, freeAt: now.Add(time.Duration(1+w.with.Rand(24*60)) * time.Minute)}
	default:
		w.names[key] = name{ended: true}
	}
}
