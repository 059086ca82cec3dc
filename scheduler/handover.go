package scheduler

import (
	"context"

	"questscheduler/internal/calendars"
	"questscheduler/internal/poll"
	"questscheduler/rules"
)

// KindIntent is the kind of the outbox whose documents are intents.
const KindIntent = "intent"

// syncSoon has a calendar synced after the transaction that asks for it committed.
func (s *Service) syncSoon(ctx context.Context, accountID, calendarID string) {
	s.Outbox.Soon(ctx, calendars.SyncKind, poll.CalendarKey(accountID, calendarID), s.Now())
}

// logCommand writes the one line that a person's command has in the log, and counts it.
func (s *Service) logCommand(ctx context.Context, command rules.Command, view View, r request) {
	p := view.Poll
	s.Meter.Count(Commanded{command})
	s.Log.InfoContext(ctx, "poll "+string(command), "poll", p.ID, "event", p.GoogleEventID, "user_id", r.person.ID,
		"status", string(p.Status), "state", string(p.Sync.State), "new", p.Sync.Applied.String(),
		"hint", r.cause.Trigger, "trace", r.cause.Trace)
}

// shown gives the poll as a command left it, and the command its line in the log.
func (s *Service) shown(ctx context.Context, command rules.Command, r request) (View, error) {
	view, err := s.View(ctx, r.person, r.pollID)
	if err == nil {
		s.logCommand(ctx, command, view, r)
	}
	return view, err
}
