package gcal

import (
	"context"
	"errors"
	"io"
	"net/http"

	"questscheduler/fault"
	"questscheduler/internal/refusal"
)

// Page is one page of a listing.
type Page struct {
	// Events are in Google's order. A page may be empty and still have a next one.
	Events []Event
	// NextPage continues the listing; "" on the last page.
	NextPage string
	// NextSync is the next sync token, on the last page only. Store it once every page
	// has been applied.
	NextSync string
	// Writable reports whether the account may write to the calendar. If not, an absence
	// proves nothing.
	Writable bool
	// TimeZone is the calendar's IANA zone.
	TimeZone string
	// Nameless marks a page with an event whose id cannot be read: it may be any event of
	// the calendar, so no other is known to be absent or unchanged.
	Nameless bool
}

// List reads a page of the changes since syncToken, deletions included; with "" it lists
// everything but deletions. Further pages take the same mask and syncToken, and the previous
// page's pageToken. Conflict with CodeSyncTokenExpired: run a full sync, as after the token
// of another mask. A series is one event.
func (c *Client) List(ctx context.Context, ref Ref, mask Mask, syncToken, pageToken string) (Page, error) {
	var page Page
	err := c.authorised(ctx, opList, ref.Account, func(ctx context.Context, client *http.Client) error {
		query := mask.query(c.options.PageSize)
		for name, token := range map[string]string{"syncToken": syncToken, "pageToken": pageToken} {
			if token != "" {
				query.Set(name, token)
			}
		}
		return c.fetch(ctx, client, address{ref: ref, query: query}, func(body io.Reader) error {
			answer, err := notNull(readListed(body))
			if err == nil {
				page = answer.page(mask)
			}
			return err
		})
	})
	if syncToken != "" && rejectsToken(err) {
		return Page{}, &fault.Error{Kind: fault.Conflict, Code: CodeSyncTokenExpired, Message: sayFullSync, Err: err}
	}
	return page, err
}

// rejectsToken recognises Google's answer to a sync token that it does not accept at all
// (an expired one gets 410). A 400 with another cause also answers the listing without a
// token.
func rejectsToken(err error) bool {
	rejected, answered := errors.AsType[refusal.Answer](err)
	return answered && rejected.Call == opList.call() && rejected.Status == http.StatusBadRequest
}

func (l *listed) page(mask Mask) Page {
	page := Page{
		Events:   make([]Event, 0, len(l.Items)),
		NextPage: l.NextPage, NextSync: l.NextSync, Writable: writable(l.Role), TimeZone: l.Zone,
	}
	for _, shown := range l.Items {
		if shown == nil { // a null in the list is no event
			continue
		}
		event := shown.event(l.Zone)
		if mask > Times {
			event.Details = shown.details(mask, l.Zone)
		}
		page.Events = append(page.Events, event)
		page.Nameless = page.Nameless || shown.malformed && shown.ID == ""
	}
	return page
}
