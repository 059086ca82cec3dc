package worldtest

import (
	"context"

	"questscheduler/calendarsync"
	"questscheduler/internal/calendars"
	"questscheduler/internal/gcal"
	"questscheduler/internal/poll"
	"questscheduler/internal/recurrence"
)

// googleCalls are all calls of Google Calendar that the program makes.
type googleCalls interface {
	calendarsync.Google
	calendarsync.EventWriter
	Lists(ctx context.Context, ref gcal.Ref, eventID string) (bool, error)
	Calendars(ctx context.Context, accountID string) ([]gcal.CalendarEntry, error)
	Instance(ctx context.Context, ref gcal.Ref, seriesID string, original recurrence.Moment) (gcal.Event, error)
	InsertContent(ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string) (gcal.Event, error)
	PatchContent(ctx context.Context, ref gcal.Ref, id, etag string, content gcal.Content) (gcal.Event, error)
	DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (deleted bool, err error)
	guestCalls
	InsertCalendar(ctx context.Context, account string, calendar gcal.NewCalendar) (id string, err error)
}

// restrained is Google Calendar as the program calls it. It notes listings of a
// calendar whose quota is used up, and the beginning of each listing: see arrives.
// Calls for a dead account are noted where the program makes them (judgeCall).
type restrained struct {
	googleCalls
	world *World
}

// List implements calendarsync.Google.
func (r *restrained) List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error) {
	r.lists(ref, syncToken, pageToken)
	return r.googleCalls.List(ctx, ref, mask, syncToken, pageToken)
}

func (r *restrained) lists(ref gcal.Ref, syncToken, pageToken string) {
	key := poll.CalendarKey(ref.Account, ref.Calendar)
	calendar := calendars.Decode(r.world.observed.document(calendars.Path(key)))
	alone := r.world.running == nil && !r.world.skewed // a sync run that was overtaken may list once more
	if now := r.world.Clock.Now(); alone && syncToken != "" && calendar.PausedUntil.After(now) {
		r.world.wrong("calendar %s was listed %v before its quota is back", ref.Calendar, calendar.PausedUntil.Sub(now))
	}
	if pageToken == "" {
		r.world.past.listed(key)
	}
}
