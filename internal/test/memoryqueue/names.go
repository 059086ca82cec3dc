package memoryqueue

import (
	"time"

	"questscheduler/internal/queue"
)

// names knows which names are taken. Its users hold the queue's mutex.
type names struct {
	// rand draws what becomes of a name; nil: it is freed after NameKept.
	rand  func(n int) int
	taken map[nameKey]*taken
	// sweepAt is the size at which names whose time has passed are dropped.
	sweepAt int
}

type nameKey struct{ kind, name string }

type taken struct {
	// ended: the task is over, and the name is free from the time freeAt on;
	// a zero freeAt is never.
	ended  bool
	freeAt time.Time
}

func (t *taken) isFree(now time.Time) bool {
	return t.ended && !t.freeAt.IsZero() && !now.Before(t.freeAt)
}

// free reports whether a task of that name may be accepted.
func (n *names) free(handed queue.Task, now time.Time) bool {
	if handed.Name == "" {
		return true
	}
	found := n.taken[nameKey{handed.Kind, handed.Name}]
	if found != nil && !found.isFree(now) {
		return false
	}
	if len(n.taken) >= max(n.sweepAt, 1024) {
		for key, t := range n.taken {
			if t.isFree(now) {
				delete(n.taken, key)
			}
		}
		n.sweepAt = 2 * len(n.taken)
	}
	return true
}

// take marks the task's name as taken.
func (n *names) take(t *task) {
	if t.Name != "" {
		n.taken[nameKey{t.Kind, t.Name}] = &taken{}
	}
}

// end decides when the name of a task that ended well is free again.
func (n *names) end(t *task, now time.Time) {
	if t.Name == "" {
		return
	}
	key := nameKey{t.Kind, t.Name}
	if n.rand == nil {
		n.taken[key] = &taken{ended: true, freeAt: now.Add(NameKept)}
		return
	}
	switch n.rand(3) {
	case 0:
		delete(n.taken, key)
	case 1:
		after := time.Duration(1+n.rand(24*60)) * time.Minute
		n.taken[key] = &taken{ended: true, freeAt: now.Add(after)}
	default:
		n.taken[key] = &taken{ended: true}
	}
}
