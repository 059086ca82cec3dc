package poll

import (
	"context"
	"time"

	"questscheduler/internal/ids"
	"questscheduler/internal/store"
)

// GroupWorkKind is the kind of the outbox whose documents are groupWork.
const GroupWorkKind = "group"

// GroupWorkPath is where work for a group's events is recorded until it is done, by
// package groupevents. Closed to clients.
func GroupWorkPath(id string) store.Path { return store.Doc("groupWork", id) }

// GroupWork is a document of groupWork: planning that a committed change calls for. It is written
// in the transaction of the change and carried out by the outbox. One of three subjects is set.
type GroupWork struct {
	ID      string
	GroupID string
	// PollID has the session of a poll compared with the event that its group shares.
	PollID string
	// Sessions has all sessions of the group compared, since sharing was turned on or off, or
	// people joined or left.
	Sessions bool
	// Cards has the cards of the group's polls compared, since it was given a Discord channel.
	Cards bool
	// Ref names the latest change that the work is for: a run for an earlier one does not end
	// it.
	Ref   string
	Trace string
	Due   time.Time
	// At is how far the work is: a place in the list that it follows; "" is the beginning.
	At string
}

// SessionsWork has all sessions of a group compared. ref names the change that calls for it.
func SessionsWork(groupID, ref, trace string, due time.Time) GroupWork {
	return GroupWork{ID: ids.Of("sessions", groupID).Hex(16), GroupID: groupID, Sessions: true, Ref: ref, Trace: trace, Due: due}
}

// CardsWork has the cards of a group's polls compared. ref names the change that calls for it.
func CardsWork(groupID, ref, trace string, due time.Time) GroupWork {
	return GroupWork{ID: ids.Of("cards", groupID).Hex(16), GroupID: groupID, Cards: true, Ref: ref, Trace: trace, Due: due}
}

// Record writes work in the transaction of the change that calls for it. It replaces older
// work of the same subject, which then begins again.
func (w GroupWork) Record(tx store.Tx) error { return tx.Set(GroupWorkPath(w.ID), EncodeGroupWork(w)) }

// EncodeGroupWork gives the fields of work.
func EncodeGroupWork(w GroupWork) map[string]any {
	return map[string]any{
		"groupId": w.GroupID, "pollId": store.NullIfEmpty(w.PollID), "sessions": w.Sessions, "cards": w.Cards,
		"ref": w.Ref, "trace": store.NullIfEmpty(w.Trace), "due": w.Due, "at": store.NullIfEmpty(w.At),
	}
}

// DecodeGroupWork reads work.
func DecodeGroupWork(doc store.Document) GroupWork {
	f := store.Fields(doc.Data)
	return GroupWork{
		ID: doc.Path.ID(), GroupID: f.String("groupId"), PollID: f.String("pollId"), Sessions: f.Bool("sessions"),
		Cards: f.Bool("cards"), Ref: f.String("ref"), Trace: f.String("trace"), Due: f.Time("due"), At: f.String("at"),
	}
}

// GroupStatePath is where package groupevents keeps the settings of a group, and what its people
// did. Closed to clients.
func GroupStatePath(groupID string) store.Path { return store.Doc("groupEvents", groupID) }

// SharesSessions reports whether a group shares the sessions of its polls.
func SharesSessions(ctx context.Context, reader store.Reader, groupID string) (bool, error) {
	doc, err := reader.Get(ctx, GroupStatePath(groupID))
	return store.Fields(doc.Data).Bool("shareSessions"), err
}

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
