package gcal

import (
	"context"

	calendar "google.golang.org/api/calendar/v3"
)

// Access is a calendar's own description of an account's rights in it.
type Access struct {
	// Role is Google's name for the account's role.
	Role string
	// Writable reports whether the account may create events here; see writable.
	Writable bool
	TimeZone string
}

// Access reads the account's role in a calendar and the calendar's time zone, which takes
// no more than the events scope. NotFound: this account sees no such calendar.
func (c *Client) Access(ctx context.Context, ref Ref) (Access, error) {
	var access Access
	err := c.call(ctx, opList, ref.Account, func(ctx context.Context, service *calendar.Service) error {
		answer, err := notNull(service.Events.List(ref.Calendar).MaxResults(1).Fields("accessRole,timeZone").Context(ctx).Do())
		if err == nil {
			access = Access{Role: answer.AccessRole, Writable: writable(answer.AccessRole), TimeZone: answer.TimeZone}
		}
		return err
	})
	return access, err
}

// writable lists the roles that may finalise into a calendar and confirm deletions in it.
// Both need the same roles, or a poll would follow an event whose deletion is never
// believed. writerWithoutPrivateAccess still sees the id, times and status of private
// events, so an event it does not see does not exist. A reader may be shown less without
// having lost the calendar.
func writable(role string) bool {
	return role == "owner" || role == "writer" || role == "writerWithoutPrivateAccess"
}
