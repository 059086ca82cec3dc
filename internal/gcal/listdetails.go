package gcal

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"google.golang.org/api/googleapi"

	"questscheduler/internal/fault"
)

// WideMaskVersion numbers the parameters of ListDetails, as MaskVersion does those of List.
const WideMaskVersion = 2

// wideFields is the mask of ListDetails.
const wideFields googleapi.Field = "nextPageToken,nextSyncToken,accessRole,timeZone," +
	"items(id,etag,status,updated,start,end,recurrence,recurringEventId,extendedProperties/private,iCalUID,summary,description,location,originalStartTime,visibility,transparency,eventType," +
	"attendees(self,responseStatus),organizer(email,self))"

// wideSize is how many events a page of ListDetails has, at most.
const wideSize = 250

// ListDetails is List with Details for each event, on smaller pages.
func (c *Client) ListDetails(ctx context.Context, ref Ref, syncToken, pageToken string) (Page, error) {
	var page Page
	err := c.authorised(ctx, opList, ref.Account, func(ctx context.Context, client *http.Client) error {
		query := url.Values{
			"fields": {string(wideFields)}, "singleEvents": {"false"}, "maxResults": {strconv.Itoa(min(wideSize, c.options.PageSize))},
		}
		if syncToken != "" {
			query.Set("syncToken", syncToken)
		}
		if pageToken != "" {
			query.Set("pageToken", pageToken)
		}
		return c.fetch(ctx, client, ref, "", query, func(body io.Reader) error {
			answer, err := notNull(readListed(body))
			if err == nil {
				page = answer.page()
			}
			return err
		})
	})
	if syncToken != "" && (err == nil && page.Nameless || rejectsToken(err)) {
		return Page{}, &fault.Error{Kind: fault.Conflict, Code: CodeSyncTokenExpired, Message: sayFullSync, Err: cmp.Or(err, errNameless)}
	}
	for i := range page.Events {
		page.Events[i].Details = &Details{}
	}
	return page, err
}
