package gcal

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/recurrence"
)

// Instance reads the instance of a series that has a start by the series' rule, wherever
// it was moved to; a cancelled one too (EventState is Gone). NotFound: the series has no
// instance then, or the account sees no such series; with CodeGone it was deleted.
func (c *Client) Instance(ctx context.Context, ref Ref, seriesID string, original recurrence.Moment) (Event, error) {
	query := url.Values{
		"fields": {pageFields + "(" + string(detailFields) + ")"}, "maxAttendees": {ownEntryOnly}, "showDeleted": {"true"}, "maxResults": {"10"},
		"originalStart": {writeOriginal(original)},
	}
	nameless := false
	for range mostPages {
		page, err := c.instances(ctx, ref, seriesID, query)
		if err != nil {
			return Event{}, err
		}
		for _, event := range page.Events {
			if event.ID != "" && sameStart(event.Details.Original, original) {
				return event, nil
			}
		}
		nameless = nameless || page.Nameless // it may be the one
		switch {
		case page.NextPage != "":
			query.Set("pageToken", page.NextPage) // also of an empty page
		case nameless:
			return Event{}, fault.New(fault.Unavailable, sayLater)
		default:
			return Event{}, fault.New(fault.NotFound, sayNotThere)
		}
	}
	return Event{}, fault.New(fault.Unavailable, sayLater)
}

// instances reads a page of a series' instances.
func (c *Client) instances(ctx context.Context, ref Ref, seriesID string, query url.Values) (page Page, err error) {
	err = c.authorised(ctx, opInstances, ref.Account, func(ctx context.Context, client *http.Client) error {
		return c.fetch(ctx, client, address{ref, "/" + url.PathEscape(seriesID) + "/instances", query}, func(body io.Reader) error {
			answer, err := notNull(readListed(body))
			if err == nil {
				page = answer.page(WithDetails)
			}
			return err
		})
	})
	return page, err
}

// sameStart compares original starts, of which the zone they are shown in is no part.
func sameStart(a, b recurrence.Moment) bool {
	return !a.IsZero() && a.Date == b.Date && a.Time.Equal(b.Time)
}

// writeOriginal formats an original start as Google's answers show it.
func writeOriginal(m recurrence.Moment) string {
	if m.AllDay() {
		return m.Date
	}
	zone, err := time.LoadLocation(m.Zone)
	if err != nil || m.Zone == "Local" {
		zone = time.UTC // the instant is the same
	}
	return m.Time.In(zone).Format(time.RFC3339)
}
