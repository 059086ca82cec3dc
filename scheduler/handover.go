package scheduler

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/rules"
)

// KindIntent is the kind of the outbox whose documents are intents.
const KindIntent = "intent"

// Work is the payload of a task about a document: which.
type Work struct {
	ID    string `json:"id"`
	Trace string `json:"trace,omitempty"`
}

// syncSoon enqueues a sync after the transaction that asks for it committed.
func (s *Service) syncSoon(ctx context.Context, accountID, calendarID string, cause Cause) {
	calendar, ok, err := calendars.Load(ctx, s.Store, accountID, calendarID)
	if err == nil && ok {
		_, err = s.Queue.Enqueue(ctx, calendars.SyncTask(calendar, cause.Trigger, cause.Trace))
	}
	if err != nil {
		s.Log.WarnContext(ctx, "sync left to the drain", "calendar", calendarID, "trace", cause.Trace, "error", err)
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
