package mirrors_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/internal/queue"
	"questscheduler/internal/test/storetest"
	"questscheduler/mirrors"
)

func deliver(task queue.Task) queue.Delivery {
	return queue.Delivery{Kind: task.Kind, Name: task.Name, Payload: task.Payload, Attempt: 1}
}

// newConcurrentWriter is one of several processes.
func (s *stage) newConcurrentWriter() *mirrors.Writer {
	client := s.newClient()
	service := s.service(storetest.Rerun(s.memory), s.queue)
	service.Log = slog.New(slog.DiscardHandler)
	return &mirrors.Writer{Service: service, Google: client, Leaving: client}
}

// Several writers of one mirror, while it changes and a person changes its event, leave one
// event as wanted.
func TestWriter_SeveralAtOnce_LeaveOneEvent(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := newStage(t)
		s.event("e1", "Stand-up")
		var all sync.WaitGroup
		for range 4 {
			writer, m := s.newConcurrentWriter(), s.only()
			all.Go(func() {
				for range 3 {
					writer.Handle(s.ctx, deliver(mirrors.WriteTask(m, "")))
				}
			})
		}
		s.event("e1", "Retrospective")
		s.event("e1", "Planning", func(e *mirror.Event) { e.Start, e.End = at("2026-03-06T09:00:00Z"), at("2026-03-06T10:00:00Z") })
		all.Wait()
		s.run(10 * time.Minute)
		s.each(1)
	}
}

func taskOf(m mirror.Mirror) queue.Task { return mirrors.WriteTask(m, "") }

func enqueued(_ bool, err error) error { return err }
