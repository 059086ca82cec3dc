package gcal

import (
	"context"

	calendar "google.golang.org/api/calendar/v3"
)

// Access is what a calendar says to an account of itself.
type Access struct {
	// Role is the account's role in the calendar, in Google's words.
	Role string
	// Writable tells that sessions may be put into the calendar; see writable.
	Writable bool
	// TimeZone is the calendar's IANA zone.
	TimeZone string
}

// Access asks a calendar for the account's role and the calendar's zone. It needs
// no other scope than events do. NotFound: there is no such calendar for us.
func (c *Client) Access(ctx context.Context, ref Ref) (Access, error) {
	var access Access
	err := c.call(ctx, opList, ref.Account, func(ctx context.Context, service *calendar.Service) error {
		answer, err := given(service.Events.List(ref.Calendar).MaxResults(1).Fields("accessRole,timeZone").Context(ctx).Do())
		if err == nil {
			access = Access{Role: answer.AccessRole, Writable: writable(answer.AccessRole), TimeZone: answer.TimeZone}
		}
		return err
	})
	return access, err
}

// writable tells the access roles with which an account may finalise into a
// calendar and confirm that an event was deleted from it. It is one question: a
// poll must not follow an event whose deletion is never believed. These roles
// write events, and see all of them: to writerWithoutPrivateAccess Google shows
// private events too, with their ids, times and status, and hides no more than
// their details. So an event that is not there for them is not there. A reader
// can be shown less without having lost the calendar, and could not make the
// event in the first place.
func writable(role string) bool {
	return role == "owner" || role == "writer" || role == "writerWithoutPrivateAccess"
}
