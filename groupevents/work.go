package groupevents

import (
	"time"

	"questscheduler/internal/ids"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// work is a document of groupWork: planning that a committed change calls for. It is written
// in the transaction of the change and carried out by the outbox. One of two subjects is set.
type work struct {
	ID      string
	GroupID string
	// PollID has the session of a poll compared with the event that its group shares.
	PollID string
	// Sessions has all sessions of the group compared, since sharing was turned on or off.
	Sessions bool
	// Ref names the latest change that the work is for: a run for an earlier one does not end
	// it.
	Ref   string
	Trace string
	Due   time.Time
	// At is how far the work is: a place in the list that it follows; "" is the beginning.
	At string
}

var workDue = store.Select("work for groups' events that is due", "groupWork", "due", store.Where("due", store.LessOrEqual))

func workID(parts ...string) string { return ids.Of(parts...).Hex(16) }

func (s *Service) sessionsWork(groupID, trace string) work {
	return s.newWork(work{ID: workID("sessions", groupID), GroupID: groupID, Sessions: true, Trace: trace})
}

func (s *Service) newWork(w work) work {
	w.Ref, w.Due = s.NewID("wrk"), s.Now()
	return w
}

func (w work) encode() map[string]any {
	return map[string]any{
		"groupId": w.GroupID, "pollId": store.NullIfEmpty(w.PollID), "sessions": w.Sessions,
		"ref": w.Ref, "trace": store.NullIfEmpty(w.Trace), "due": w.Due, "at": store.NullIfEmpty(w.At),
	}
}

func decodeWork(doc store.Document) work {
	f := store.Fields(doc.Data)
	return work{
		ID: doc.Path.ID(), GroupID: f.String("groupId"), PollID: f.String("pollId"), Sessions: f.Bool("sessions"),
		Ref: f.String("ref"), Trace: f.String("trace"), Due: f.Time("due"), At: f.String("at"),
	}
}

// record writes work in the transaction of the change that calls for it. It replaces older
// work of the same subject, which then begins again.
func record(tx store.Tx, w work) error { return tx.Set(poll.GroupWorkPath(w.ID), w.encode()) }
