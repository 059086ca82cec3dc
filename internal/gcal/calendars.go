package gcal

import (
	"context"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/fault"
)

// CalendarEntry is a calendar in an account's list.
type CalendarEntry struct {
	// ID is the calendar's real id; a primary calendar's is usually the account's e-mail
	// address.
	ID      string
	Summary string
	// Description is the calendar's own; InsertCalendar takes a mark there.
	Description string
	TimeZone    string
	// Primary marks the account's own calendar; there is one.
	Primary bool
	// Writable reports whether the account may write to it.
	Writable bool
	// Hidden reports that the account's owner hid it from their list.
	Hidden bool
}

// Calendars lists all calendars of an account, hidden ones too. It needs a scope that people can decline:
// without it the error is Forbidden with CodeScopeMissing, and other calls still work.
func (c *Client) Calendars(ctx context.Context, account string) ([]CalendarEntry, error) {
	var entries []CalendarEntry
	pageToken := ""
	for range mostPages {
		err := c.call(ctx, opCalendars, account, func(ctx context.Context, service *calendar.Service) error {
			call := service.CalendarList.List().ShowHidden(true).MaxResults(250).Context(ctx).
				Fields("nextPageToken,items(id,summary,summaryOverride,description,timeZone,primary,accessRole,hidden)")
			if pageToken != "" {
				call.PageToken(pageToken)
			}
			answer, err := notNull(call.Do())
			if err != nil {
				return err
			}
			for _, item := range answer.Items {
				if item != nil {
					entries = append(entries, decodeEntry(item))
				}
			}
			pageToken = answer.NextPageToken
			return nil
		})
		if err != nil || pageToken == "" {
			return entries, err
		}
	}
	return nil, fault.New(fault.Unavailable, sayLater) // its pages lead in a circle
}

// mostPages bounds a list whose pages lead in a circle.
const mostPages = 100

func decodeEntry(item *calendar.CalendarListEntry) CalendarEntry {
	summary := item.SummaryOverride // the name the account's owner gave it
	if summary == "" {
		summary = item.Summary
	}
	return CalendarEntry{
		ID: item.Id, Summary: summary, Description: item.Description, TimeZone: item.TimeZone,
		Primary: item.Primary, Writable: writable(item.AccessRole), Hidden: item.Hidden,
	}
}

// NewCalendar is a calendar to be created.
type NewCalendar struct {
	Summary string
	// Description is where a mark goes by which Calendars finds the calendar again.
	Description string
	// TimeZone is an IANA zone; "" is UTC.
	TimeZone string
}

// InsertCalendar creates a calendar in an account and returns its id. Google takes no id for
// it: after Unavailable it may exist, so search Calendars for its mark before another try. It needs a
// scope that people grant with the feature: without it the error is Forbidden with
// CodeScopeMissing.
func (c *Client) InsertCalendar(ctx context.Context, account string, wanted NewCalendar) (id string, err error) {
	err = c.call(ctx, opInsertCalendar, account, func(ctx context.Context, service *calendar.Service) error {
		made, err := notNull(service.Calendars.Insert(&calendar.Calendar{
			Summary: wanted.Summary, Description: wanted.Description, TimeZone: wanted.TimeZone,
		}).Fields("id").Context(ctx).Do())
		if err == nil && made.Id == "" {
			err = errEmptyAnswer
		}
		if err == nil {
			id = made.Id
		}
		return err
	})
	return id, err
}
