package mirrors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/gcal"
	"questscheduler/internal/meter"
	"questscheduler/internal/mirror"
	"questscheduler/internal/queue"
	"questscheduler/internal/recurrence"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

// WriteKind is the kind of the tasks that write mirrors.
const WriteKind = "mirror"

// Google is what the writer calls: gcal.Client, with a part of each account's quota
// (gcal.Client.Within).
type Google interface {
	Get(ctx context.Context, ref gcal.Ref, id string) (gcal.Event, error)
	Instance(ctx context.Context, ref gcal.Ref, seriesID string, original recurrence.Moment) (gcal.Event, error)
	InsertContent(ctx context.Context, ref gcal.Ref, id string, content gcal.Content, private map[string]string) (gcal.Event, error)
	PatchContent(ctx context.Context, ref gcal.Ref, id, etag string, content gcal.Content) (gcal.Event, error)
	DeleteQuietly(ctx context.Context, ref gcal.Ref, id, etag string) (deleted bool, err error)
	List(ctx context.Context, ref gcal.Ref, mask gcal.Mask, syncToken, pageToken string) (gcal.Page, error)
	Access(ctx context.Context, ref gcal.Ref) (gcal.Access, error)
	Calendars(ctx context.Context, account string) ([]gcal.Entry, error)
	InsertCalendar(ctx context.Context, account string, calendar gcal.NewCalendar) (id string, err error)
}

// Writer brings calendars to what the documents of mirrors want. A mirror's document is
// its own outbox: the writer may die after any call and be repeated from there, and
// several may work on one mirror. Ids of events derive from the document, so that a call
// whose answer was lost is found again; a patch carries the etag that it is based on; and
// an outcome is recorded only for the generation that it is of.
type Writer struct {
	*Service
	// Google makes the writer's calls. Leaving makes the last ones of an account that is
	// being unlinked (accounts.Grants.Leaving).
	Google, Leaving Google
	Meter           meter.Meter

	pauses pauses
}

// Work is the payload of a task of WriteKind: the mirror, and its Due when the task was
// made.
type Work struct {
	ID    string    `json:"id"`
	Due   time.Time `json:"due,omitzero"`
	Trace string    `json:"trace,omitempty"`
}

// WriteTask is the task that writes a mirror when it is due. Its name says what must be
// done and when, so that a mirror that becomes due again gets another task.
func WriteTask(m mirror.Mirror, trace string) queue.Task {
	payload, err := json.Marshal(Work{ID: m.ID, Due: m.Due, Trace: trace})
	if err != nil {
		panic("mirrors: marshal a task: " + err.Error()) // texts and a time of the years 1 to 9999 always marshal
	}
	return queue.Task{
		Kind: WriteKind, Name: m.ID + "/" + strconv.FormatInt(m.Due.UnixMicro(), 10) + "/" + stampOf(m), Payload: payload, NotBefore: m.Due,
	}
}

// stampOf differs for different work on a mirror.
func stampOf(m mirror.Mirror) string {
	sum := fnv.New64a()
	for _, part := range []string{m.Wanted, string(m.State), m.ETag, strconv.FormatInt(m.Generation, 10), strconv.FormatBool(m.Replacing), strconv.FormatInt(m.Attempts, 10)} {
		_, _ = sum.Write([]byte(part + "\x00")) // a hash takes everything
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}

// Handle writes the mirror of a task: the handler of WriteKind. It counts failures in the
// mirror's document, so the queue repeats only what the store refused.
func (w *Writer) Handle(ctx context.Context, delivery queue.Delivery) queue.Verdict {
	var work Work
	if err := json.Unmarshal(delivery.Payload, &work); err != nil || mirror.Path(work.ID).Valid() != nil {
		return queue.Verdict{Outcome: queue.Permanent, Err: errors.New("the task names no mirror")}
	}
	cause := scheduler.Cause{Trigger: WriteKind, Trace: work.Trace}
	left, err := w.write(ctx, work.ID, cause)
	switch {
	case err != nil:
		return queue.Verdict{Err: fmt.Errorf("mirror %s: %w", work.ID, err), After: fault.RetryAfter(err)}
	case left.Due.IsZero() || plan.Next(left) == plan.Nothing:
		return queue.Verdict{Outcome: queue.Done}
	case left.Due.Equal(work.Due): // this clock is behind the one that made the task
		return queue.Verdict{Outcome: queue.Later, After: max(left.Due.Sub(w.Now()), time.Millisecond)}
	case left.Due.Sub(w.Now()) < soon:
		w.enqueueWrites(ctx, []mirror.Mirror{left}, cause)
	}
	return queue.Verdict{Outcome: queue.Done} // the drain takes it up when it is due
}

// soon is how far ahead a mirror may be due for its task to be enqueued at once; the drain
// enqueues later ones.
const soon = 2 * time.Minute

// drainMost is how many mirrors one drain enqueues, and drainRead how many it reads for
// that.
const (
	drainMost = 500
	drainRead = 2000
)

// Drain enqueues mirrors that are due (Service.Drain the planning), those due longest first and at most 500, and
// returns how many. Tasks that are queued already absorb the second.
func (w *Writer) Drain(ctx context.Context, cause scheduler.Cause) (enqueued int, err error) {
	if w.Observing {
		return 0, nil
	}
	now, read := w.Now(), 0
	bucket := "/" + strconv.FormatInt(now.Unix()/int64(redrain/time.Second), 10)
	for m, err := range mirror.Due(ctx, w.Store, now) {
		if read++; err != nil || enqueued == drainMost || read > drainRead {
			return enqueued, err
		}
		if w.pauses.until(m.TargetAccountID, now).After(now) {
			continue // its account rests
		}
		task := WriteTask(m, cause.Trace)
		task.Name += bucket // an ended task may hold the name
		created, err := w.Queue.Enqueue(ctx, task)
		if err != nil {
			return enqueued, err
		}
		if created {
			enqueued++
		}
	}
	return enqueued, nil
}

// redrain is how long a mirror that stays due has one task of the drain.
const redrain = 2 * time.Minute

// maxTurns bounds how many calls one task makes for a mirror that keeps changing.
const maxTurns = 8

// write takes steps for a mirror until nothing is due, and returns it as it then is; the
// zero mirror if it is gone.
func (w *Writer) write(ctx context.Context, id string, cause scheduler.Cause) (mirror.Mirror, error) {
	for range maxTurns {
		now, found, err := w.load(ctx, id, w.Google, cause)
		if err != nil || !found {
			return mirror.Mirror{}, err
		}
		choice := choose(now.facts, w.Now())
		if choice == doNothing {
			return now.Mirror, nil
		}
		if w.Observing {
			return w.observeOnly(ctx, now, choice)
		}
		if err := w.take(ctx, now, choice); err != nil {
			return mirror.Mirror{}, err
		}
	}
	m, _, err := mirror.Load(ctx, w.Store, id)
	if err == nil && !m.Due.IsZero() { // its next step has a task of its own
		m, _, err = w.commit(ctx, m, cause, func(now *mirror.Mirror) outcome { now.Due = store.Instant(w.Now().Add(time.Second)); return outcome{} })
	}
	return m, err
}

// observeOnly says what the writer would do, and moves the mirror's Due so that the name
// of its next task is free.
func (w *Writer) observeOnly(ctx context.Context, now *attempt, choice choice) (mirror.Mirror, error) {
	w.Log.InfoContext(ctx, "mirror not written: observing", "mirror", now.Mirror.ID, "would", choice.String(), "trace", now.cause.Trace)
	m, _, err := w.commit(ctx, now.Mirror, now.cause, func(m *mirror.Mirror) outcome {
		m.Due = store.Instant(w.Now())
		return outcome{mirror.StepWouldPlan, "would " + choice.String()}
	})
	m.Due = time.Time{} // nothing is enqueued
	return m, err
}
