package callables

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

// Limits of a finalisation's arguments: Google's, where they are known.
const (
	maxTitle       = 1024
	maxDescription = 8192
	maxAttendees   = 200
	maxEmail       = 320
	maxMinutes     = 31 * 24 * 60
)

// linked is the result of finalising: nulls if no event was asked for.
type linked struct {
	EventID    *string `json:"eventId"`
	CalendarID *string `json:"calendarId"`
}

// finalise chooses a slot of a poll and makes its event. Clients retry by
// themselves after a lost answer, and so do people: the same call again within
// minutes finds what the first one made.
func (s *server) finalise(ctx context.Context, in call) (any, error) {
	pollID, ask, err := readFinalise(in.data)
	if err != nil {
		return nil, err
	}
	ask.Request = requestID(in.person.ID, pollID, ask)
	view, err := s.countedFinalise(ctx, in, pollID, ask)
	if err != nil {
		return nil, err
	}
	var result linked
	if id := view.Poll.GoogleEventID; id != "" {
		result = linked{EventID: &id, CalendarID: &view.Poll.GoogleCalendarID}
	}
	return result, nil
}

// countedFinalise finalises and counts that as a command: once for a call and its
// repeats, which are never refused.
func (s *server) countedFinalise(ctx context.Context, in call, pollID string, ask scheduler.Finalise) (scheduler.View, error) {
	undo, refusal := s.Count(in.person.ID, pollID)
	if refusal != nil {
		underWay, err := s.Polls.InProgress(ctx, in.person, pollID, ask)
		switch {
		case err != nil && !scheduler.Refused(err):
			return scheduler.View{}, err
		case err != nil || !underWay:
			return scheduler.View{}, refusal
		}
		ask.Begin = func() error { return refusal }
		return s.Polls.Finalise(ctx, in.person, pollID, ask, in.cause)
	}
	began := false
	ask.Begin = func() error {
		began = true
		return nil
	}
	view, err := s.Polls.Finalise(ctx, in.person, pollID, ask, in.cause)
	if !began && s.Polls.Repeats(ctx, in.person, pollID, ask, err) {
		undo()
	}
	return view, err
}

func readFinalise(data fields) (pollID string, ask scheduler.Finalise, err error) {
	pollID, err = readPoll(data)
	if err != nil {
		return "", ask, err
	}
	in := arguments{fields: data}
	ask.SlotID = in.id("slotId")
	if in.err == nil && ask.SlotID == "" {
		return "", ask, fault.New(fault.Invalid, "Missing slotId. Choose a time and try again.")
	}
	if in.err == nil && poll.SlotPath(pollID, ask.SlotID).Valid() != nil {
		return "", ask, fault.New(fault.NotFound, "This poll has no such slot. Reload it and choose one of its slots.")
	}
	ask.CalendarID = in.id("calendarId")
	ask.Title = in.text("title", maxTitle)
	ask.Description = in.optionalText("description", maxDescription)
	ask.Duration = in.duration("durationMinutes")
	for _, email := range in.texts("attendees", maxAttendees, maxEmail) {
		email = strings.TrimSpace(email)
		same := func(other string) bool { return strings.EqualFold(other, email) }
		if email != "" && !slices.ContainsFunc(ask.Attendees, same) {
			ask.Attendees = append(ask.Attendees, email)
		}
	}
	ask.CreateEvent = in.bool("createCalendarEvent", true)
	ask.KeepOldEvent = !in.bool("deleteOldEvent", true)
	return pollID, ask, in.err
}

// duration reads minutes and parts of them; 0 if absent.
func (a *arguments) duration(name string) time.Duration {
	minutes := a.number(name)
	if minutes == nil {
		return 0
	}
	seconds := math.Round(*minutes * 60)
	if *minutes > maxMinutes || seconds < 1 { // a Duration of more would overflow
		a.refuse("%s has to be above 0 and at most %d.", name, maxMinutes)
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// readPoll reads the id of the poll that a call is about.
func readPoll(data fields) (string, error) {
	in := arguments{fields: data}
	id := in.id("schedulerId")
	switch {
	case in.err != nil:
		return "", in.err
	case id == "":
		return "", fault.New(fault.Invalid, "Missing schedulerId. Reload the page and try again.")
	case poll.Path(id).Valid() != nil:
		return "", poll.ErrNotFound()
	}
	return id, nil
}

// requestID identifies a finalisation by its caller and all its arguments.
func requestID(uid, pollID string, ask scheduler.Finalise) string {
	text, err := json.Marshal([]any{
		uid, pollID, ask.SlotID, ask.CreateEvent, ask.CalendarID, ask.Title, ask.Description, ask.Duration, ask.Attendees,
		ask.KeepOldEvent,
	})
	if err != nil {
		return "" // cannot happen: strings, numbers and booleans
	}
	return ids.Of(string(text)).Hex(16)
}
