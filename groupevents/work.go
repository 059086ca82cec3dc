package groupevents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"questscheduler/internal/poll"
	"questscheduler/internal/store"
)

// work is a document of groupWork, the outbox of this package: planning that a committed
// change calls for. It is written in the transaction of the change and removed when it is
// done. One of two subjects is set.
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
	// Due is when the drain takes it up; a run moves it ahead, so that one that dies is
	// repeated.
	Due      time.Time
	Attempts int64
	// At is how far the work is: a place in the list that it follows; "" is the beginning.
	At string
}

var workDue = store.Select("work for groups' events that is due", "groupWork", "due", store.Where("due", store.LessOrEqual))

func workID(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

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
		"ref": w.Ref, "trace": store.NullIfEmpty(w.Trace), "due": w.Due, "attempts": w.Attempts, "at": store.NullIfEmpty(w.At),
	}
}

func decodeWork(doc store.Document) work {
	f := store.Fields(doc.Data)
	return work{
		ID: doc.Path.ID(), GroupID: f.String("groupId"), PollID: f.String("pollId"), Sessions: f.Bool("sessions"),
		Ref: f.String("ref"), Trace: f.String("trace"), Due: f.Time("due"), Attempts: f.Int("attempts"), At: f.String("at"),
	}
}

// record writes work in the transaction of the change that calls for it. It replaces older
// work of the same subject, which then begins again.
func record(tx store.Tx, w work) error { return tx.Set(poll.GroupWorkPath(w.ID), w.encode()) }

// lease is how long one run may take before the drain has the work repeated.
const lease = 2 * time.Minute

// pause is how long work rests that failed so often.
func pause(attempts int64) time.Duration {
	return min(time.Minute<<min(attempts, 6), time.Hour)
}

// take reads work to carry it out, and moves its Due ahead; ok is false where it is done.
func (s *Service) take(ctx context.Context, id string) (w work, ok bool, err error) {
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, poll.GroupWorkPath(id))
		if ok = err == nil && doc.Exists(); !ok {
			return err
		}
		w = decodeWork(doc)
		w.Attempts++
		w.Due = s.Now().Add(lease)
		return tx.Update(doc.Path, store.Set("attempts", w.Attempts), store.Set("due", w.Due))
	})
	return w, ok, err
}

// settle writes what became of a run, unless the work is for a later change by now. It
// reports whether the work is as the run took it.
func (s *Service) settle(ctx context.Context, w work, write func(tx store.Tx, path store.Path) error) (same bool, err error) {
	path := poll.GroupWorkPath(w.ID)
	err = s.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		doc, err := tx.Get(ctx, path)
		if same = err == nil && doc.Exists() && decodeWork(doc).Ref == w.Ref; !same {
			return err
		}
		return write(tx, path)
	})
	return same, err
}
