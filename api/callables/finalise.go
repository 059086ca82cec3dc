package callables

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/poll"
	"questscheduler/scheduler"
)

// Limits of what a finalisation is asked with: Google's, where they are known.
const (
	maxTitle       = 1024
	maxDescription = 8192
	maxAttendees   = 200
	maxEmail       = 320
	maxMinutes     = 31 * 24 * 60
)

// linked is what finalising gives: nulls where no event was asked for.
type linked struct {
	EventID    *string `json:"eventId"`
	CalendarID *string `json:"calendarId"`
}

// finalise chooses a slot of a poll, and makes its event. The client tries again
// by itself where an answer was lost, and so do people: the same call again
// within minutes finds what the first one made.
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

// countedFinalise finalises, and counts that as a command: once for a call and its
// repeats, which are never refused.
func (s *server) countedFinalise(ctx context.Context, in call, pollID string, ask scheduler.Finalise) (scheduler.View, error) {
	undo, refusal := s.count(in, pollID)
	if refusal != nil {
		underWay, err := s.Polls.UnderWay(ctx, in.person, pollID, ask)
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

// count is Options.Count.
func (s *server) count(in call, pollID string) (undo func(), err error) {
	if s.Count == nil {
		return func() {}, nil
	}
	return s.Count(in.person.ID, pollID)
}

// readFinalise reads what a finalisation asks for.
func readFinalise(data fields) (pollID string, ask scheduler.Finalise, err error) {
	if pollID, err = readPoll(data); err != nil {
		return "", ask, err
	}
	if ask.SlotID, err = data.id("slotId"); err != nil {
		return "", ask, err
	}
	if ask.SlotID == "" {
		return "", ask, fault.New(fault.Invalid, "Missing slotId. Choose a time and try again.")
	}
	if poll.SlotPath(pollID, ask.SlotID).Valid() != nil {
		return "", ask, fault.New(fault.NotFound, "This poll has no such slot. Reload it and choose one of its slots.")
	}
	if ask.CalendarID, err = data.id("calendarId"); err != nil {
		return "", ask, err
	}
	if err := readEvent(data, &ask); err != nil {
		return "", ask, err
	}
	if ask.CreateEvent, err = data.truth("createCalendarEvent", true); err != nil {
		return "", ask, err
	}
	deleteOld, err := data.truth("deleteOldEvent", true)
	ask.KeepOldEvent = !deleteOld
	return pollID, ask, err
}

// readEvent reads what the event is to be.
func readEvent(data fields, ask *scheduler.Finalise) (err error) {
	if ask.Title, _, err = data.text("title", maxTitle); err != nil {
		return err
	}
	description, given, err := data.text("description", maxDescription)
	if err != nil {
		return err
	}
	if given {
		ask.Description = &description
	}
	if ask.Duration, err = readDuration(data); err != nil {
		return err
	}
	attendees, err := data.texts("attendees", maxAttendees, maxEmail)
	for _, email := range attendees {
		email = strings.TrimSpace(email)
		same := func(other string) bool { return strings.EqualFold(other, email) }
		if email != "" && !slices.ContainsFunc(ask.Attendees, same) {
			ask.Attendees = append(ask.Attendees, email)
		}
	}
	return err
}

// readDuration reads how long the event is to be: minutes, and parts of them.
// Zero where none is given: the slot's.
func readDuration(data fields) (time.Duration, error) {
	minutes, given, err := data.number("durationMinutes")
	if err != nil || !given {
		return 0, err
	}
	duration := time.Duration(math.Round(minutes*60)) * time.Second // NaN and infinities are no numbers there
	if minutes > maxMinutes || duration < time.Second {
		return 0, fault.Newf(fault.Invalid, "durationMinutes has to be above 0 and at most %d.", maxMinutes)
	}
	return duration, nil
}

// readPoll reads which poll a call is about.
func readPoll(data fields) (string, error) {
	id, err := data.id("schedulerId")
	switch {
	case err != nil:
		return "", err
	case id == "":
		return "", fault.New(fault.Invalid, "Missing schedulerId. Reload the page and try again.")
	case poll.Path(id).Valid() != nil:
		return "", poll.ErrNotFound()
	}
	return id, nil
}

// requestID names a finalisation by all that it asks for, and who asks.
func requestID(uid, pollID string, ask scheduler.Finalise) string {
	text, err := json.Marshal([]any{uid, pollID, ask.SlotID, ask.CreateEvent, ask.CalendarID, ask.Title, ask.Description, ask.Duration, ask.Attendees, ask.KeepOldEvent})
	if err != nil {
		return "" // texts, numbers and truths alone: it is none
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
