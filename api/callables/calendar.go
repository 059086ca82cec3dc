package callables

import (
	"context"

	"questscheduler/internal/gcal"
)

// startAuth gives where the browser goes to link a Google account. It needs no
// other proof of who it is: the address holds a ticket (api/consent.go).
func (s *server) startAuth(ctx context.Context, in call) (any, error) {
	address, err := s.StartLink(ctx, in.known)
	if err != nil {
		return nil, err
	}
	return map[string]any{"authUrl": address}, nil
}

// calendar is a calendar that events can be made in.
type calendar struct {
	ID      string `json:"id"`
	Summary string `json:"summary"`
	Primary bool   `json:"primary"`
}

func (s *server) listCalendars(ctx context.Context, in call) (any, error) {
	entries, err := s.Calendars(ctx, in.person.ID)
	if err != nil {
		return nil, err
	}
	return map[string]any{"items": writable(entries)}, nil
}

func writable(entries []gcal.Entry) []calendar {
	items := []calendar{}
	for _, entry := range entries {
		if entry.Writable {
			items = append(items, calendar{entry.ID, entry.Summary, entry.Primary})
		}
	}
	return items
}

// deleteEvent takes a poll's event out of the calendar. It does not count as a
// command: the app asks for it before it deletes a poll, which is never refused.
func (s *server) deleteEvent(ctx context.Context, in call) (any, error) {
	pollID, err := readPoll(in.data)
	if err != nil {
		return nil, err
	}
	deleted, err := s.Polls.DeleteEvent(ctx, in.person, pollID, in.cause)
	if err != nil {
		return nil, err
	}
	return map[string]any{"deleted": deleted}, nil
}

// summary says that nothing has to be voted on before a poll is finalised: the
// polls that a poll may hold are the app's own, and where it has any, so is this
// function (Options.Upstream).
func (s *server) summary(ctx context.Context, in call) (any, error) {
	pollID, err := readPoll(in.data)
	if err != nil {
		return nil, err
	}
	if _, err := s.Polls.View(ctx, in.person, pollID); err != nil {
		return nil, err
	}
	return map[string]any{"requiredPolls": []any{}}, nil
}

// nothing is for what the app's own functions do beside ours, where there are
// none.
func nothing(context.Context, call) (any, error) { return map[string]any{}, nil }
