package gcal

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"google.golang.org/api/googleapi"

	"questscheduler/internal/fault"
)

// MaskVersion numbers the parameters of listings below. A sync token is good
// only for the parameters it was got with: whoever changes one of them counts
// this up, and stored tokens of another version are dropped, which takes the
// way of a 410.
const MaskVersion = 1

// listFields is the fields mask of listings: the union of what the consumers
// of calendar changes ask for, and nothing that decides nothing.
const listFields googleapi.Field = "nextPageToken,nextSyncToken,accessRole,timeZone," +
	"items(id,etag,status,updated,start,end,recurrence,recurringEventId,extendedProperties/private)"

// Page is one page of a listing.
type Page struct {
	// Events are in the order in which Google gave them. A page may be empty
	// and still have a next one.
	Events []Event
	// NextPage continues the listing; "" on the last page.
	NextPage string
	// NextSync is where the next listing goes on; given on the last page
	// alone, and to be stored when every page has been applied.
	NextSync string
	// Writable tells that the account writes to or owns the calendar. Where it
	// does not, an absence proves nothing.
	Writable bool
	// Nameless tells that an event of the page has no id that can be read: it may
	// be any of the calendar's, so that no other is known to be absent.
	Nameless bool
}

// List reads a page of what changed since syncToken, deletions included; with
// "" it reads everything but deletions. A further page is read with the same
// syncToken and the pageToken of the page before. Conflict with
// CodeSyncTokenExpired: nothing can be read from the token, read everything.
//
// Series come as one event and not as their instances. The listing's
// parameters are the same for ever (MaskVersion), as sync tokens need it.
func (c *Client) List(ctx context.Context, ref Ref, syncToken, pageToken string) (Page, error) {
	var page Page
	err := c.authorised(ctx, opList, ref.Account, func(ctx context.Context, client *http.Client) error {
		answer, err := given(c.fetchPage(ctx, client, ref, syncToken, pageToken))
		if err == nil {
			page = answer.page()
		}
		return err
	})
	if syncToken != "" && (err == nil && page.Nameless || rejectsToken(err)) {
		return Page{}, &fault.Error{Kind: fault.Conflict, Code: CodeSyncTokenExpired, Message: sayFullSync, Err: cmp.Or(err, errNameless)}
	}
	return page, err
}

// rejectsToken tells an answer to a listing from a sync token that Google does not
// accept at all; to one that expired it answers 410. A 400 that complains of
// something else is also the answer to the listing without the token.
func rejectsToken(err error) bool {
	rejected, answered := errors.AsType[answer](err)
	return answered && rejected.op == opList && rejected.status == http.StatusBadRequest
}

// errNameless is why nothing can be read from a token either: with it, whatever
// changed in that event would be passed over. A full listing has each event fetched
// that it does not name.
var errNameless = errors.New("google events.list: an event of the page has no id that can be read")

// page reads what a page means.
func (l *listed) page() Page {
	page := Page{
		Events:   make([]Event, 0, len(l.Items)),
		NextPage: l.NextPage, NextSync: l.NextSync, Writable: writable(l.Role),
	}
	for _, shown := range l.Items {
		if shown == nil { // a null in the list is no event
			continue
		}
		page.Events = append(page.Events, shown.event(l.Zone))
		page.Nameless = page.Nameless || shown.malformed && shown.ID == ""
	}
	return page
}
