package scheduler

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/internal/queue"
	"questscheduler/rules"
)

// KindIntent is the kind of the tasks that carry out intents.
const KindIntent = "intent"

// Work is the payload of intent and announce tasks: which document to take up.
type Work struct {
	ID    string `json:"id"`
	Trace string `json:"trace,omitempty"`
}

// carryOutSoon hands an intent over after its transaction committed.
func (s *Service) carryOutSoon(ctx context.Context, intent *poll.Intent) {
	if intent == nil {
		return
	}
	name := intent.ID() + "/" + string(intent.Kind) + "/" + strconv.FormatInt(intent.Generation, 10)
	s.enqueue(ctx, KindIntent, name, Work{ID: intent.ID(), Trace: intent.Trace}, intent.Due)
}

// syncSoon has a calendar synced after the transaction that asks for it committed.
func (s *Service) syncSoon(ctx context.Context, accountID, calendarID string) {
	s.Outbox.Soon(ctx, calendars.SyncKind, poll.CalendarKey(accountID, calendarID), s.Now())
}

// handOverTask enqueues a task.
func (s *Service) handOverTask(ctx context.Context, kind, name string, work Work, notBefore time.Time) error {
	payload, err := json.Marshal(work)
	if err == nil {
		_, err = s.Queue.Enqueue(ctx, queue.Task{Kind: kind, Name: name, Payload: payload, NotBefore: notBefore})
	}
	return err
}

// enqueue is handOverTask for what the drain finds too.
func (s *Service) enqueue(ctx context.Context, kind, name string, work Work, notBefore time.Time) {
	if err := s.handOverTask(ctx, kind, name, work, notBefore); err != nil {
		s.Log.WarnContext(ctx, "a task is left to the drain", "kind", kind, "id", work.ID, "trace", work.Trace, "error", err)
	}
}

// logCommand writes the one line that a person's command has in the log, and counts it.
func (s *Service) logCommand(ctx context.Context, command rules.Command, view View, person Person, cause Cause) {
	p := view.Poll
	s.Meter.Count(Commanded{command})
	s.Log.InfoContext(ctx, "poll "+string(command), "poll", p.ID, "event", p.GoogleEventID, "userId", person.ID,
		"status", string(p.Status), "state", string(p.Sync.State), "new", p.Sync.Applied.String(),
		"hint", cause.Trigger, "trace", cause.Trace)
}

// shown gives the poll as a command left it, and the command its line in the log.
func (s *Service) shown(ctx context.Context, command rules.Command, person Person, pollID string, cause Cause) (View, error) {
	view, err := s.View(ctx, person, pollID)
	if err == nil {
		s.logCommand(ctx, command, view, person, cause)
	}
	return view, err
}
