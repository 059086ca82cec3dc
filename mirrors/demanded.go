package mirrors

import (
	"context"
	"reflect"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/gcal"
)

// demanded checks what a request demands of an event before it is changed. Conflict with
// gcal.CodeStale: the calendar shows it otherwise than its person was shown it.
func (e *Events) demanded(ctx context.Context, ownerID, id string, answered gcal.Event, demand func(Shown) error) error {
	if demand == nil {
		return nil
	}
	shown, err := e.Get(ctx, ownerID, id)
	if err == nil {
		err = demand(shown)
	}
	if err == nil && !shows(shown, contentOf(*answered.Details)) {
		err = &fault.Error{
			Kind: fault.Conflict, Code: gcal.CodeStale,
			Message: "The event has just changed in its calendar. Read it again in a moment, and change what it is then.",
		}
	}
	return err
}

// shows reports whether a person was shown an event as it is.
func shows(shown Shown, is gcal.Content) bool {
	was := gcal.Content{
		Summary: shown.Title, Description: shown.Description, Location: shown.Location, Start: is.Start, End: is.End, Recurrence: is.Recurrence,
		Transparency: shown.Transparency, Visibility: shown.Visibility, Status: shown.Status, KeepsReminders: is.KeepsReminders,
	}
	sameTimes := shown.Begins.Equal(is.Start.Instant(time.UTC)) && shown.Ends.Equal(is.End.Instant(time.UTC)) &&
		shown.Start.AllDay() == is.Start.AllDay()
	sameRule := shown.OccurrenceID != "" || slices.Equal(shown.Recurrence, is.Recurrence) // an occurrence is shown with its series' rule
	return sameTimes && sameRule && reflect.DeepEqual(was, is)
}
