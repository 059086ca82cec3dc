package google

import "maps"

// revives says whether a write is meant to bring a deleted event back: it
// names a status of a live one. Every other write to it is forbidden.
func revives(body map[string]any) bool {
	return body["status"] == "confirmed" || body["status"] == "tentative"
}

// revive is a deleted event as it was before, for a write to change: the
// organiser may bring back their own, a guest the copy that they removed while
// the event lives and still invites them. What was moved away is forbidden for
// good, and so is an instance while its series is deleted: no instance lives
// without its series.
func (c *change) revive(gone *event) (*event, error) {
	if gone.Moved {
		return nil, errForbidden
	}
	live := *gone
	live.Cancelled = false
	if !gone.isCopy() {
		if gone.Series == "" {
			return &live, nil
		}
		if master := c.event(gone.Calendar, gone.Series); master == nil || master.Cancelled {
			return nil, errForbidden
		}
		return &live, nil
	}
	organised := c.find(gone.Organizer, gone.ID)
	if organised == nil || organised.Cancelled || find(organised.attendees(), gone.Calendar) == nil {
		return nil, errForbidden
	}
	live.Fields = maps.Clone(gone.Fields)
	return &live, live.takeShared(organised)
}

// undelete stores what a write made of a revived event. The organiser's is a
// new invitation to everyone on it.
func (c *change) undelete(revived, after *event) error {
	if after.isCopy() {
		return c.save(revived, after)
	}
	return c.save(nil, after)
}
