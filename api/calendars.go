package api

import (
	"context"
	"net/http"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/scheduler"
)

// Calendars is what the routes of linked calendars need (calendarsync.Watcher).
type Calendars interface {
	// Confirm takes a person's word that the held cancellations of polls are
	// meant: each of their events is looked at again. It gives how many are.
	// NotFound for a calendar that is not the person's.
	Confirm(ctx context.Context, person scheduler.Person, key string, pollIDs []string, cause scheduler.Cause) (int, error)
	// Register opens new watch channels for a page of calendars, whatever lives
	// there, from where at says, and begins none once it is until; next is where to
	// go on. Conflict where Google has no address to push to.
	Register(ctx context.Context, cause scheduler.Cause, at string, until time.Time) (renewed calendarsync.Renewed, next string, err error)
}

// calendarRoutes are the routes of linked calendars.
func (s *server) calendarRoutes() {
	route(s, operation{
		id: "confirm-cancellations", method: http.MethodPost, path: "/v1/calendars/{key}/confirm-cancellations", tag: "calendars",
		audience: calendarOwner, names: namesCalendar,
		summary: "Confirm that the events of these polls were deleted on purpose; each is looked at again",
	}, s.confirmCancellations)
}

type confirmCancellations struct {
	Key  string `path:"key" doc:"The calendar's key."`
	Body confirmCancellationsBody
}

type confirmCancellationsBody struct {
	PollIDs []documentID `json:"poll_ids" minItems:"1" maxItems:"500" doc:"Those that the person saw; others stay held."`
}

type confirmAnswer struct {
	LookedAt int `json:"looked_at" doc:"How many events are looked at again."`
}

func (s *server) confirmCancellations(ctx context.Context, by caller, in *confirmCancellations) (confirmAnswer, error) {
	count, err := s.Calendars.Confirm(ctx, by.person, in.Key, texts(in.Body.PollIDs), by.cause)
	return confirmAnswer{LookedAt: count}, err
}
