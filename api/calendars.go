package api

import (
	"context"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/scheduler"
)

// Calendars is implemented by calendarsync.Watcher.
type Calendars interface {
	// Confirm applies the held cancellations of polls as meant: it has each of their
	// events fetched again, and returns how many. NotFound for a calendar that is not
	// the person's.
	Confirm(ctx context.Context, person scheduler.Person, key string, pollIDs []string, cause scheduler.Cause) (int, error)
	// Register opens new watch channels for a page of calendars from at on, even where
	// channels live, and begins none after until; next is where to go on. Conflict:
	// Google has no address to push to.
	Register(ctx context.Context, cause scheduler.Cause, at string, until time.Time) (renewed calendarsync.Renewed, next string, err error)
}

func (s *server) calendarRoutes() {
	route(s, "POST /v1/calendars/{key}/confirm-cancellations", "confirm-cancellations", calendarOwner,
		"Confirm that the events of these polls were deleted on purpose; each is checked again", s.confirmCancellations)
}

type confirmCancellations struct {
	Key  string `path:"key" doc:"The calendar's key."`
	Body confirmCancellationsBody
}

type confirmCancellationsBody struct {
	PollIDs []documentID `json:"poll_ids" minItems:"1" maxItems:"500" doc:"The polls that were shown to the person; others stay held."`
}

type confirmAnswer struct {
	Rechecked int `json:"looked_at" doc:"How many events are checked again."`
}

func (s *server) confirmCancellations(ctx context.Context, by caller, in *confirmCancellations) (confirmAnswer, error) {
	count, err := s.Calendars.Confirm(ctx, by.person, in.Key, texts(in.Body.PollIDs), by.cause)
	return confirmAnswer{Rechecked: count}, err
}
