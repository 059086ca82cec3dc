package poll

import (
	"time"

	"questscheduler/internal/store"
)

// GroupWorkKind is the kind of the outbox whose documents are groupWork.
const GroupWorkKind = "group"

// GroupWorkPath is where work for a group's events is recorded until it is done, by
// package groupevents. Closed to clients.
func GroupWorkPath(id string) store.Path { return store.Doc("groupWork", id) }

// SessionWorkID is the id of the work that follows a poll's transitions.
func SessionWorkID(pollID string) string { return "poll." + pollID }

// SessionWorkUpdates gives the fields, to be merged, that have a poll's session compared with
// the event that its group shares. ref names the transition: work for an earlier one does not
// end it.
func SessionWorkUpdates(pollID, groupID, ref, trace string, now time.Time) []store.Update {
	return []store.Update{
		Set("pollId", pollID), Set("groupId", groupID), Set("ref", ref), Set("trace", store.NullIfEmpty(trace)), Set("due", now),
		Set("attempts", 0),
		Set("failedSince", store.Delete), Set("error", store.Delete),
	}
}
