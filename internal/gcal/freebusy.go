package gcal

import (
	"context"
	"time"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/fault"
	"questscheduler/internal/refusal"
)

// MaxFreeBusy is the most calendars that one call of FreeBusy takes, MaxFreeBusyRange the
// longest time; Google documents the first and refuses more than the second.
const (
	MaxFreeBusy      = 50
	MaxFreeBusyRange = 90 * 24 * time.Hour
)

// Interval is a span of time; its end is exclusive.
type Interval struct{ Start, End time.Time }

// FreeBusy is when a calendar is busy.
type FreeBusy struct {
	// Busy is in Google's order, without what the events are.
	Busy []Interval
	// Err is set if this calendar could not be read, which says nothing of its being free:
	// NotFound if the account sees no such calendar, Unavailable if Google did not answer
	// for it, else Provider.
	Err error
}

// FreeBusy asks when calendars are busy between two times, in one call for at most
// MaxFreeBusy calendars and MaxFreeBusyRange. The answer has an entry for each of them, under the id given. It
// needs a scope that people grant with the feature: without it the error is Forbidden with
// CodeScopeMissing.
func (c *Client) FreeBusy(ctx context.Context, account string, calendars []string, from, to time.Time) (map[string]FreeBusy, error) {
	if len(calendars) > MaxFreeBusy || !from.Before(to) || to.Sub(from) > MaxFreeBusyRange {
		return nil, fault.New(fault.Invalid, "free and busy times are of at most 50 calendars and 90 days, and the start is before the end")
	}
	request := &calendar.FreeBusyRequest{
		TimeMin: from.UTC().Format(time.RFC3339), TimeMax: to.UTC().Format(time.RFC3339), CalendarExpansionMax: MaxFreeBusy,
	}
	for _, id := range calendars {
		request.Items = append(request.Items, &calendar.FreeBusyRequestItem{Id: id})
	}
	found := make(map[string]FreeBusy, len(calendars))
	err := c.call(ctx, opFreeBusy, account, func(ctx context.Context, service *calendar.Service) error {
		answer, err := notNull(service.Freebusy.Query(request).Fields("calendars").Context(ctx).Do())
		if err != nil {
			return err
		}
		for _, id := range calendars {
			found[id] = readBusy(answer.Calendars, id)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// readBusy reads what an answer says of one calendar; all of it or nothing.
func readBusy(calendars map[string]calendar.FreeBusyCalendar, id string) FreeBusy {
	shown, there := calendars[id]
	if !there {
		return FreeBusy{Err: fault.New(fault.Unavailable, sayLater)}
	}
	if len(shown.Errors) > 0 {
		return FreeBusy{Err: calendarError(shown.Errors[0])}
	}
	var busy []Interval
	for _, period := range shown.Busy {
		if period == nil {
			return FreeBusy{Err: fault.New(fault.Unavailable, sayLater)}
		}
		start, startErr := time.Parse(time.RFC3339Nano, period.Start)
		end, endErr := time.Parse(time.RFC3339Nano, period.End)
		if startErr != nil || endErr != nil || end.Before(start) {
			return FreeBusy{Err: fault.New(fault.Unavailable, sayLater)}
		}
		busy = append(busy, Interval{Start: start.UTC(), End: end.UTC()})
	}
	return FreeBusy{Busy: busy}
}

// calendarError gives the error of one calendar the kind that the same answer to a whole
// call has.
func calendarError(said *calendar.Error) error {
	answer := refusal.Answer{Call: opFreeBusy.call()}
	if said != nil {
		answer.Reasons = refusal.Clean(said.Reason)
	}
	if len(answer.Reasons) == 0 {
		return fault.Wrap(fault.Unavailable, answer, sayLater)
	}
	return busyTable.Error(answer)
}
