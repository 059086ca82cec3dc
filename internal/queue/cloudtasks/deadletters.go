package cloudtasks

import (
	"context"
	"encoding/base64"
	"strconv"
	"time"

	"questscheduler/internal/fault"
	"questscheduler/internal/queue"
	"questscheduler/internal/store"
)

// collection holds the dead letters, since Cloud Tasks drops tasks that it gives up.
// It is closed to clients.
const collection = "deadTasks"

var deadLetters = &store.Query{
	Name: "dead letters by time", Collection: collection,
	Order: []store.Order{{Path: store.Field("at"), Descending: true}},
}

// Queries are the queries of a queue, for opening its store.
var Queries = []*store.Query{deadLetters}

// saveDead stores a dead letter. One that exists was stored by an earlier delivery of
// the same task.
func (q *Queue) saveDead(ctx context.Context, e envelope, attempt int, reason string) error {
	path := store.Doc(collection, e.ref())
	err := q.with.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		old, err := tx.Get(ctx, path)
		if err != nil || old.Exists() {
			return err
		}
		encode := base64.RawURLEncoding.EncodeToString
		return tx.Create(path, map[string]any{
			"kind": e.Kind, "name": encode([]byte(e.Name)), "payload": encode(e.Payload), "reason": reason,
			"id": e.id, "chain": e.chain, "turn": int64(e.turn), "attempt": int64(attempt), "at": store.Instant(q.with.Now()),
		})
	})
	q.forgetDepths()
	return err
}

// letter is a dead letter with its task's envelope.
type letter struct {
	queue.DeadLetter
	task envelope
}

func readLetter(doc store.Document) (letter, error) {
	f := store.Fields(doc.Data)
	name, err := base64.RawURLEncoding.DecodeString(f.String("name"))
	if err != nil {
		return letter{}, fault.Wrap(fault.Internal, err, "a dead letter cannot be read")
	}
	payload, err := base64.RawURLEncoding.DecodeString(f.String("payload"))
	if err != nil {
		return letter{}, fault.Wrap(fault.Internal, err, "a dead letter cannot be read")
	}
	l := letter{DeadLetter: queue.DeadLetter{
		ID: doc.Path.ID(), Kind: f.String("kind"), Name: string(name), Payload: payload,
		Reason: f.String("reason"), Attempt: int(f.Int("attempt")), At: f.Time("at"),
	}}
	l.task = envelope{
		Task: queue.Task{Kind: l.Kind, Name: l.Name, Payload: payload},
		id:   f.String("id"), chain: f.String("chain"), turn: int(f.Int("turn")),
	}
	return l, nil
}

// DeadLetters implements queue.Queue.
func (q *Queue) DeadLetters(ctx context.Context, limit int) ([]queue.DeadLetter, error) {
	letters := []queue.DeadLetter{}
	if limit <= 0 {
		return letters, nil
	}
	docs, err := q.with.Store.Query(ctx, deadLetters.With().First(limit))
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		l, err := readLetter(doc)
		if err != nil {
			return nil, err
		}
		letters = append(letters, l.DeadLetter)
	}
	return letters, nil
}

// Retry implements queue.Queue. The task is enqueued before the document is deleted: a
// process that dies in between leaves a dead letter that the next Retry deletes.
func (q *Queue) Retry(ctx context.Context, id string) error {
	unknown := fault.New(fault.NotFound, "there is no such dead letter; list them again")
	path := store.Doc(collection, id)
	if path.Valid() != nil {
		return unknown
	}
	doc, err := q.with.Store.Get(ctx, path)
	if err != nil {
		return err
	}
	if !doc.Exists() {
		return unknown
	}
	l, err := readLetter(doc)
	if err != nil {
		return err
	}
	next := l.task.successor(0, time.Time{})
	next.since = q.with.Now()
	if _, err := q.create(ctx, next); err != nil {
		return fault.Wrap(fault.KindOf(err), err, "put dead letter "+strconv.Quote(id)+" back")
	}
	err = q.with.Store.Run(ctx, func(_ context.Context, tx store.Tx) error { return tx.Delete(path) })
	q.forgetDepths()
	return err
}
