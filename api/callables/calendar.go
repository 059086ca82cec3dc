package callables

import (
	"context"
)

// startAuth returns where the browser goes to link a Google account. The address
// holds a ticket that proves who the person is (api/consent.go).
func (s *server) startAuth(ctx context.Context, in call) (any, error) {
	address, err := s.StartLink(ctx, in.known)
	if err != nil {
		return nil, err
	}
	return map[string]any{"authUrl": address}, nil
}

// calendar is a calendar in which events can be made.
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
	items := []calendar{}
	for _, entry := range entries {
		if entry.Writable {
			items = append(items, calendar{entry.ID, entry.Summary, entry.Primary})
		}
	}
	return map[string]any{"items": items}, nil
}

// deleteEvent removes a poll's event from the calendar. It does not count as a
// command: the app calls it before it deletes a poll, which is never refused.
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

// summary answers that no embedded poll must be voted on before a poll is
// finalised: embedded polls are the app's own, and an app that has any has this
// function too (Options.Upstream).
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

// nothing answers functions of the app that have no work without it.
func nothing(context.Context, call) (any, error) { return map[string]any{}, nil }
