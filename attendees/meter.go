package attendees

import (
	"questscheduler/fault"
)

// Events for the meter, counted after the commit or the call.
type (
	// Patched is a change of an event's guests that Google took, with how many addresses
	// were invited and withdrawn.
	Patched struct{ Added, Withdrawn int }
	// Noted is an address of which something was noted that a person did: Theirs,
	// Removed or Declined.
	Noted struct{ State State }
	// Stale is a change that Google refused since the event had changed.
	Stale struct{}
	// Failed is a call for an event that failed.
	Failed struct{ Kind fault.Kind }
)
