package memoryqueue

import (
	"slices"
	"time"

	"questscheduler/internal/queue"
)

// Pending is a task that waits to be run.
type Pending struct {
	// ID names it for Take, Duplicate and Delay.
	ID   string
	Kind string
	Name string
	// Due is when it may be run.
	Due time.Time
	// Attempt is the attempt that the next run will be, from 1.
	Attempt int
}

// Due lists the tasks that are due at a time, longest waiting first.
func (q *Queue) Due(now time.Time) []Pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	var due []Pending
	for _, t := range q.inState(waiting) {
		if !t.due.After(now) {
			due = append(due, Pending{ID: t.id, Kind: t.Kind, Name: t.Name, Due: t.due, Attempt: t.attempt + 1})
		}
	}
	return due
}

// Next is when the first waiting task is due; false: none waits.
func (q *Queue) Next() (time.Time, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var first time.Time
	found := false
	for _, t := range q.tasks {
		if t.state == waiting && (!found || t.due.Before(first)) {
			first, found = t.due, true
		}
	}
	return first, found
}

// Run is a run of a task, begun by Take. It ends by Settle, Lose or Crash, whichever comes
// first.
type Run struct {
	queue.Delivery
	// ID is the task's.
	ID string

	queue *Queue
	task  *task
	// number is which of the task's runs it is.
	number int
	// since is the task's, as long as this run lasts.
	since time.Time
}

// Take begins a run of a waiting task, whether it is due or not; false: there
// is no such task or it does not wait.
func (q *Queue) Take(id string) (*Run, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.tasks[id]
	if t == nil || t.state != waiting {
		return nil, false
	}
	return q.begin(t), true
}

// begin makes a waiting task run; the caller holds mu.
func (q *Queue) begin(t *task) *Run {
	t.state = running
	t.attempt++
	t.runs++
	return &Run{
		Delivery: queue.Delivery{Kind: t.Kind, Name: t.Name, Payload: slices.Clone(t.Payload), Attempt: t.attempt},
		ID:       t.id, queue: q, task: t, number: t.runs, since: t.since,
	}
}

// Settle ends the run with the handler's verdict. It returns false, and changes nothing,
// where the run is over.
func (r *Run) Settle(verdict queue.Verdict) bool {
	verdict.After = min(max(verdict.After, 0), queue.MaxAhead)
	return r.end(func(now time.Time) { r.queue.settle(r.task, verdict, now) })
}

// Lose ends the run without a verdict, as when a connection breaks after the handler's
// work: the task is due again at once, and the run counts as an attempt. It returns false
// where the run is over.
func (r *Run) Lose() bool {
	return r.end(func(now time.Time) { r.queue.release(r.task, now) })
}

// end does something to a run's task if the run is not over, and ends it.
func (r *Run) end(apply func(now time.Time)) bool {
	now := r.queue.now()
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	// A task that does not run, or is in a later run, says that this run is
	// over: no run outlives what became of its task.
	if r.task.state != running || r.task.runs != r.number {
		return false
	}
	apply(now)
	r.queue.loop.wake()
	return true
}

// settle applies a verdict; the caller holds mu.
func (q *Queue) settle(t *task, verdict queue.Verdict, now time.Time) {
	if t.extra {
		q.remove(t)
		return
	}
	verdict = verdict.Final(t.attempt, now.Sub(t.since), false) // whether Stop cancelled it, the loop has asked
	switch verdict.Outcome {
	case queue.Done:
		q.remove(t)
		q.names.end(t, now)
	case queue.Permanent:
		q.endDead(t, verdict, now)
	case queue.Later:
		t.state, t.due = waiting, now.Add(verdict.After)
		t.attempt--
	default:
		after := verdict.After
		if after == 0 {
			after = queue.Backoff(t.attempt, q.rand)
		}
		t.state, t.due = waiting, now.Add(after)
	}
}

// remove forgets a task that ended; the caller holds mu.
func (q *Queue) remove(t *task) {
	t.state = gone
	delete(q.tasks, t.id)
}

// endDead makes a task a dead letter, which keeps its name; the caller holds mu.
func (q *Queue) endDead(t *task, verdict queue.Verdict, now time.Time) {
	t.state, t.ended, t.reason = dead, now, queue.Reason(verdict.Err)
}

// release makes a running task wait, due at once; the caller holds mu.
func (q *Queue) release(t *task, now time.Time) {
	t.state, t.due = waiting, now
}

// Duplicate delivers a waiting or running task a second time, as an at-least-once queue may:
// the extra task is due at once under its own ID, may run concurrently, holds no name, and
// ends with its run whatever the verdict. It returns the extra task's ID; false: there is
// no such task.
func (q *Queue) Duplicate(id string) (string, bool) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.tasks[id]
	if t == nil || t.state == dead {
		return "", false
	}
	extra := q.add(t.Task, now, now)
	extra.extra = true
	q.loop.wake()
	return extra.id, true
}

// Delay makes a waiting task due no earlier than a time; false: there is no
// such task or it does not wait.
func (q *Queue) Delay(id string, until time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.tasks[id]
	if t == nil || t.state != waiting {
		return false
	}
	t.due = later(t.due, until)
	return true
}

// Crash is the death of the process that ran the tasks: running tasks are due again at
// once, and their runs are over and count as attempts.
func (q *Queue) Crash() {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, t := range q.inState(running) {
		q.release(t, now)
	}
}
