package metrics

import (
	"context"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	changed "questscheduler/internal/documentchanges" // hints are a label here
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/internal/timers"
	"questscheduler/scheduler"
)

// taskKinds are the kinds of the program's tasks.
var taskKinds = []string{calendars.SyncKind, scheduler.KindIntent, poll.AnnounceKind, calendarsync.SweepKind, timers.Kind, changed.Kind}

// jobs are the jobs of the timers.
var jobs = label{"job", []string{timers.Drain, timers.RenewWatches, timers.PollFallback, timers.Cleanup, timers.Health}}

// outcomeNames are the verdicts as labels are written.
var outcomeNames = map[queue.Outcome]string{
	queue.Done: "done", queue.Retry: "retry", queue.Later: "later", queue.Permanent: "dead",
}

// Handlers gives handlers that count what becomes of each run, and otherwise do
// as those given. A run that panicked is counted by the log.
func (m *Metrics) Handlers(handlers map[string]queue.Handler) map[string]queue.Handler {
	counting := make(map[string]queue.Handler, len(handlers))
	for kind, handle := range handlers {
		counting[kind] = m.handler(label{"kind", taskKinds}.of(kind), handle)
	}
	return counting
}

func (m *Metrics) handler(kind string, handle queue.Handler) queue.Handler {
	return func(ctx context.Context, delivery queue.Delivery) queue.Verdict {
		began := m.now()
		verdict := handle(ctx, delivery)
		m.tasks.WithLabelValues(kind, verdicts.of(outcomeNames[verdict.Outcome])).Inc()
		observe(m.taskSeconds, m.now().Sub(began), kind)
		if kind != calendars.SyncKind { // looks tell of theirs
			m.failed(verdict.Err)
		}
		return verdict
	}
}
