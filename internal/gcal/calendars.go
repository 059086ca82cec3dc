package gcal

import (
	"context"

	calendar "google.golang.org/api/calendar/v3"

	"questscheduler/internal/fault"
)

// Entry is a calendar in an account's list.
type Entry struct {
	// ID is the calendar's real id; that of a primary calendar is, as a rule,
	// the account's e-mail address.
	ID      string
	Summary string
	// TimeZone is the calendar's IANA zone.
	TimeZone string
	// Primary tells the account's own calendar, of which there is one.
	Primary bool
	// Writable tells that the account writes to or owns it.
	Writable bool
}

// Calendars lists the calendars that an account sees, all pages. It needs a
// scope that people can decline: without it, Forbidden with CodeScopeMissing,
// and the account itself goes on working.
func (c *Client) Calendars(ctx context.Context, account string) ([]Entry, error) {
	var entries []Entry
	pageToken := ""
	for range mostPages {
		next, err := c.calendarsPage(ctx, account, pageToken, &entries)
		if err != nil || next == "" {
			return entries, err
		}
		pageToken = next
	}
	return nil, fault.New(fault.Unavailable, sayLater) // its pages go round in a circle
}

// mostPages is how many pages of 250 a list of calendars may have.
const mostPages = 100

func (c *Client) calendarsPage(ctx context.Context, account, pageToken string, entries *[]Entry) (next string, err error) {
	err = c.call(ctx, opCalendars, account, func(ctx context.Context, service *calendar.Service) error {
		call := service.CalendarList.List().MaxResults(250).Context(ctx).
			Fields("nextPageToken,items(id,summary,summaryOverride,timeZone,primary,accessRole)")
		if pageToken != "" {
			call.PageToken(pageToken)
		}
		answer, err := given(call.Do())
		if err != nil {
			return err
		}
		for _, item := range answer.Items {
			if item == nil {
				continue
			}
			*entries = append(*entries, decodeEntry(item))
		}
		next = answer.NextPageToken
		return nil
	})
	return next, err
}

func decodeEntry(item *calendar.CalendarListEntry) Entry {
	summary := item.SummaryOverride // the name the account's owner gave it
	if summary == "" {
		summary = item.Summary
	}
	return Entry{
		ID: item.Id, Summary: summary, TimeZone: item.TimeZone,
		Primary: item.Primary, Writable: writable(item.AccessRole),
	}
}
